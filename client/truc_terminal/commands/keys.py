"""`truc keys`: the player's key, and the known servers with theirs."""

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO

import click

from truc_client.address import parse_address
from truc_client.errors import system_reason
from truc_client.home.home import (
    Home,
    accept_revocation,
    export_seed,
    has_seed,
    import_seed,
    master_seed,
    player_key,
    revoked_keys,
    write_seed,
)
from truc_client.home.store import HomeStore
from truc_commands.files import MAX_TEXT
from truc_protocol.crypto.keys import KeyFileError, fingerprint
from truc_protocol.key_files import REVOCATION_LIMIT, read_revocation, revocation_text
from truc_protocol.wire.handshake import Pin
from truc_protocol.wire.handshake import revoke as give_up
from truc_terminal.commands.language import lang_option
from truc_terminal.commands.output import FailedError, tell, unusable
from truc_terminal.commands.player import home_as_is, own_home
from truc_terminal.commands.server_lookup import server_meant
from truc_words import Sentence


@click.group()
def keys() -> None:
    """Show, keep safe or bring along the key that is you.

    Whoever loses it loses seats and rating; whoever else has it can play as you.
    """


@keys.command("show", short_help="Show where the key is, and its public keys.")
@lang_option
def show_keys() -> None:
    """Show where the key is, and the public key for each server known."""
    home = home_as_is()
    if not has_seed(home):
        tell(Sentence("commands.no_key_yet", path=home.seed))
        return
    home = own_home()
    seed = master_seed(home)
    tell(Sentence("commands.key_file", path=home.seed))
    with closing(HomeStore(home.state)) as store:
        for server, pin in store.pins().items():
            you = fingerprint(player_key(seed, pin.first).public)
            tell(Sentence("commands.known_server", server=server, key=_server_key(pin), you=you))
    for key in sorted(map(fingerprint, revoked_keys(home))):
        tell(Sentence("commands.given_up", key=key))


def _server_key(pin: Pin) -> str:
    """Return a server's key; if it has changed, also the first one known, on which the player's own key depends."""
    present = fingerprint(pin.present)
    if pin.first == pin.present:
        return present
    return Sentence("commands.first_key", key=present, first=fingerprint(pin.first))


@keys.command("export", short_help="Print the key as text, to keep it or carry it elsewhere.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write to this new file instead of the terminal."
)
@lang_option
def export_key(out: Path | None) -> None:
    """Print the key as text, to keep it safe or carry it to another machine."""
    _hand_over(export_seed(_own_seed(own_home())), out)


class ReadableFile(click.File):
    """A file to read, or - for standard input; why it cannot be read is said in the language spoken."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> IO[Any]:
        """Open a file, or end the command."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            cause = error.__context__
            raise unusable("cannot_read", value, cause) if isinstance(cause, OSError) else error from error


@keys.command("import", short_help="Take a key that `truc keys export` has printed.")
@click.argument("file", type=ReadableFile("r"))
@lang_option
def import_key(file: TextIO) -> None:
    """Take a key that `truc keys export` printed, from FILE or - for standard input."""
    home = own_home()
    write_seed(home, import_seed(file.read(MAX_TEXT)))
    tell(Sentence("commands.key_written", path=home.seed))


@keys.command("forget", short_help="Forget the key of a server, after it has changed.")
@click.argument("server")
@lang_option
def forget(server: str) -> None:
    """Forget the key of SERVER (host:port), after its host has confirmed that it changed.

    Your own key for a server depends on the first key seen of it: if that has changed you are somebody new there.
    """
    with closing(HomeStore(own_home().state)) as store:
        known = store.forget_pin(parse_address(server).server)
    if not known:
        raise FailedError(Sentence("commands.server_unknown", server=server))
    tell(Sentence("commands.server_forgotten", server=server))


@keys.command("revocation", short_help="Print the statement that gives your key for a server up.")
@click.argument("server", required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write to this new file instead of the terminal."
)
@lang_option
def revocation(server: str | None, out: Path | None) -> None:
    """Print the statement that gives up your key for SERVER (host:port).

    It is made in advance and kept offline: if somebody else has your key, hand it to the server's host, who then lets
    nobody in with it. Whoever has the statement can do that, and it cannot be taken back.

    With one server known no SERVER is needed.
    """
    home = own_home()
    seed, where = _own_seed(home), server_meant(server)
    with closing(HomeStore(home.state)) as store:
        pin = store.pin(where.server)
    if pin is None:
        raise FailedError(Sentence("commands.server_unmet", server=server or where.place))
    _hand_over(revocation_text(give_up(player_key(seed, pin.first))), out)


@keys.command("revoke", short_help="Heed the revocation of a server's key.")
@click.argument("file", type=ReadableFile("rb"))
@lang_option
def revoke(file: BinaryIO) -> None:
    """Heed the revocation of a server's key in FILE, or in - for standard input.

    From then on no server is trusted under that key, and no change that it has signed is followed.
    """
    home = own_home()
    with closing(HomeStore(home.state)) as store:
        pins = store.pins()
    # One byte more than there may be, so that a file that goes on is refused instead of cut off.
    text = file.read(REVOCATION_LIMIT + 1).decode("ascii", "replace")
    _check_no_own(home, pins, text)
    public = accept_revocation(home, text)
    known = [server for server, pin in pins.items() if public in (pin.first, pin.present)]
    key = "commands.revoked_known" if known else "commands.revoked"
    tell(Sentence(key, key=fingerprint(public), servers=", ".join(known)))
    if not known:
        tell(Sentence("commands.revoked_unknown"), err=True)


def _check_no_own(home: Home, pins: Mapping[str, Pin], text: str) -> None:
    """Check that a statement does not revoke the player's own key: such a one is for the server's host to heed.

    Raises:
        FailedError: It does.
    """
    if not has_seed(home):
        return
    try:
        public = read_revocation(text)
    except KeyFileError:
        return  # reported when it is to be heeded
    seed = master_seed(home)
    for server, pin in pins.items():
        if player_key(seed, pin.first).public == public:
            own = {"server": server, "key": fingerprint(public)}
            raise FailedError(Sentence("commands.own_revocation", **own))


def _own_seed(home: Home) -> bytes:
    """Return the seed of the player's keys.

    Raises:
        FailedError: There is none yet.
    """
    if not has_seed(home):
        raise FailedError(Sentence("commands.no_key", path=home.root))
    return master_seed(home)


def _hand_over(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        # Nobody else can read it, not even while it is written, and nothing is lost that was there.
        with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
    except OSError as error:
        raise FailedError(Sentence("failures.cannot_write", path=out, reason=system_reason(error))) from error
