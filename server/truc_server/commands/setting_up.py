"""`truc-server init` sets a server up: data folder, settings file, keys; `truc-server settings` shows what is in force.

Both write the same file, every setting explained. Invariant: nothing that is there is overwritten; if it was killed
half-way, the same command finishes.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from truc_commands.files import path_of
from truc_protocol.wire.transport import LOOPBACK, web_link
from truc_server.commands.command_line import (
    CommandError,
    data_root,
    load_settings,
    new_settings,
    report_failures,
    server_options,
    setting_options,
)
from truc_server.identity.identity import Identity, load_identity
from truc_server.identity.passphrases import passphrase_of
from truc_server.settings.folder import Folder, default_root, locked, open_folder, write_new, write_private
from truc_server.settings.settings import Settings
from truc_server.settings.settings_file import FILE_VARIABLE, settings_text

_WEB_PORT: Final = 7374
_HERE: Final = f"http://localhost:{_WEB_PORT}"
_STEPS: Final = (
    ("check", "says what is wrong, and what to do"),
    ("run", "runs the server"),
    ("invite", "prints the address to give to players"),
    (
        "key revocation /media/usb/revocation.txt",
        "gives the key up, if it is ever stolen: keep the file offline",
    ),
    ("backup /media/usb/truc-backup", "copies everything that the server needs, also while it runs"),
)


@click.command()
@server_options
@setting_options(
    "name", "public_host", "hosts", "port", "tls", "members", "metrics_port", "passphrase_file", "log_format"
)
@click.option(
    "--web",
    "origin",
    metavar="[ORIGIN]",
    is_flag=False,
    flag_value=_HERE,
    help=f"Serve browsers too, at what they type: https://HOST behind your proxy [{_HERE}].",
)
def init(file: Path | None, origin: str | None, **flags: object) -> None:
    """Set a new server up: make the data folder, a settings file with these values, and the keys; nothing is overwritten."""
    if origin == "":  # as of a variable that is not set
        raise click.BadParameter("--web: expected https://HOST or http://HOST, got nothing")
    # The settings file is read from other folders, too.
    if flags["passphrase_file"]:
        flags["passphrase_file"] = str(_absolute(str(flags["passphrase_file"])))
    settings = new_settings(flags, {} if origin is None else _web_settings(origin))
    named = file or os.environ.get(FILE_VARIABLE)
    with report_failures():
        folder = Folder(data_root(settings).absolute())
        path = _absolute(named) if named else folder.settings
        if path.exists():
            raise CommandError(f"{path} is there already: nothing was changed")
        open_folder(folder.root)
        with locked(folder):
            identity = load_identity(folder, passphrase_of(settings, folder))
            # Last, as the file is what says that all is done: without it the same command goes on.
            _write(folder, path, settings)
    for line in _next_steps(folder, path, identity, settings.web.known_origin):
        click.echo(line)


@click.command("settings")
@server_options
def print_settings(file: Path | None, **flags: object) -> None:
    """Print what is in force, from file, environment and flags, as a settings file with every setting explained."""
    click.echo(settings_text(load_settings(file, flags)), nl=False)


def _absolute(path: Path | str) -> Path:
    return path_of(str(path)).absolute()


def _write(folder: Folder, path: Path, settings: Settings) -> None:
    # In its own folder without `data`, so that the folder can be moved.
    if path == folder.settings:
        write_private(path, settings_text(msgspec.structs.replace(settings, data="")).encode())
        return
    # Elsewhere others may have to read it, such as the user whom the server runs as: the umask says who may.
    text = settings_text(msgspec.structs.replace(settings, data=str(folder.root)))
    write_new(path, text.encode(), 0o666)


def _web_settings(origin: str) -> dict[str, object]:
    """Return the settings of a door for browsers: on this machine alone, for the network around it, or behind a proxy."""
    if origin.startswith("https:"):
        return {"web.listen": f"127.0.0.1:{_WEB_PORT}", "web.origin": origin, "web.proxies": ("127.0.0.1",)}
    _, _, place = origin.partition("://")
    host, colon, port = place.rpartition(":")
    is_here = host in LOOPBACK
    there = f"{'127.0.0.1' if is_here else '0.0.0.0'}:{port if colon else 80}"
    return {"web.listen": there, **({} if host == "localhost" else {"web.origin": origin})}


def _next_steps(folder: Folder, path: Path, identity: Identity, origin: str | None) -> Iterator[str]:
    yield f"{path}: the settings, every one explained"
    yield f"{folder.root}: the data folder; the server's key in it has the fingerprint {identity.fingerprint}"
    if origin is not None:
        yield f"{web_link(origin)}: what to open in a browser, once the server runs"
    yield "Next:"
    commands = [f"truc-server {step}{_where(folder, path)}" for step, _ in _STEPS]
    width = max(map(len, commands))
    for command, (_, does) in zip(commands, _STEPS, strict=True):
        yield f"  {command:{width}}  {does}"


def _where(folder: Folder, path: Path) -> str:
    """Return the flags by which another command finds the same server."""
    if path != folder.settings:
        return f" --settings {shlex.quote(str(path))}"
    return "" if folder.root == default_root(os.environ) else f" --data {shlex.quote(str(folder.root))}"
