"""`truc keys`: the player's key, and the servers known by theirs."""

import os
from pathlib import Path
from typing import TextIO

import click

from truc_client.address import parse_address
from truc_client.cli.common import FailedError, own_home
from truc_client.errors import ClientError
from truc_client.home import Home, export_seed, has_seed, import_seed, master_seed, player_key, write_seed
from truc_client.store import Store
from truc_protocol.keys import fingerprint


@click.group()
def keys() -> None:
    """Show, keep safe or bring along the key that is you.

    Whoever loses it loses seats and rating; whoever else has it can play as you.
    """


@keys.command("show")
def show_keys() -> None:
    """Show where the key is, and the public key for each server known."""
    home = own_home()
    if not has_seed(home):
        click.echo(f"no key yet; one is made at the first use, in {home.seed}")
        return
    seed = _seed(home)
    click.echo(f"key file  {home.seed}")
    store = Store(home.state)
    try:
        for server, pin in store.pins().items():
            click.echo(
                f"{server}  server {fingerprint(pin.present)}  you {player_key(seed, pin.first).public.hex()}"
            )
    finally:
        store.close()


@keys.command("export")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write to this new file instead of the terminal."
)
def export_key(out: Path | None) -> None:
    """Print the key as text, to keep it safe or carry it to another machine."""
    home = own_home()
    if not has_seed(home):
        raise FailedError(f"there is no key in {home.root} yet")
    text = export_seed(_seed(home))
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
    except OSError as error:
        raise FailedError(f"cannot write {out}: {error.strerror}") from error


@keys.command("import")
@click.argument("file", type=click.File("r"))
def import_key(file: TextIO) -> None:
    """Take a key that `truc keys export` printed, from FILE or - for standard input."""
    home = own_home()
    try:
        write_seed(home, import_seed(file.read()))
    except ClientError as error:
        raise FailedError(str(error)) from error
    click.echo(f"key written to {home.seed}; play from one machine at a time")


@keys.command("forget")
@click.argument("server")
def forget(server: str) -> None:
    """Forget the key of SERVER (host:port), after its host has confirmed that it changed.

    Your own key for a server hangs on the first key seen of it: after this you are somebody new there.
    """
    store = Store(own_home().state)
    try:
        known = store.forget_pin(parse_address(server).server)
    except ClientError as error:
        raise FailedError(str(error)) from error
    finally:
        store.close()
    if not known:
        raise FailedError(f"{server} is not known")


def _seed(home: Home) -> bytes:
    try:
        return master_seed(home)
    except ClientError as error:
        raise FailedError(str(error)) from error
