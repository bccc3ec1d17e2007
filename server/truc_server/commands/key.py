"""Commands of `truc-server key`: to see the server's keys, change them, give one up in advance, and heed a revocation.

Commands that sign ask for the passphrase if the keys have one; those that only show do without.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final

import click

from truc_protocol.bodies import TableTerms
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import KeyFileError, fingerprint
from truc_protocol.key_files import REVOCATION_LIMIT, revocation_text
from truc_protocol.records import Record, parse
from truc_protocol.wire.handshake import revoke as give_up
from truc_server.commands.command_line import (
    STORE_SETTINGS,
    CommandError,
    data_root,
    database_url,
    format_minute,
    load_settings,
    report_failures,
    server_folder,
    server_options,
)
from truc_server.identity import passphrases
from truc_server.identity.identity import (
    PublicIdentity,
    accept_revocation,
    made_at,
    read_identity,
    read_public,
    unsealed_files,
)
from truc_server.identity.identity import roll as give_new_key
from truc_server.settings.folder import Folder, locked, open_folder, write_new
from truc_server.settings.settings import Settings
from truc_server.storage import StoreError

_COLUMN: Final = 13


@click.command(short_help="Print fingerprint, key, and every change of the key.")
@server_options
def show(file: Path | None, **flags: object) -> None:
    """Print fingerprint, key and serial, every change of the key, and whether a running match needs a key before it."""
    with server_folder(file, flags) as (settings, folder):
        lines = tuple(_lines(settings, folder, read_public(folder)))
    for line in lines:
        click.echo(line)


def _lines(settings: Settings, folder: Folder, identity: PublicIdentity) -> Iterator[str]:
    yield _line("fingerprint", identity.fingerprint)
    yield _line("public key", identity.key.hex())
    yield _line("serial", str(identity.serial))
    yield _line("passphrase", _sealing(folder))
    for rotation in identity.rotations:
        change = rotation.change
        made = format_minute(made_at(rotation) * 1000, "%Y-%m-%d")
        yield _line(
            f"change {change.serial}",
            f"{made}  {fingerprint(change.old)} -> {fingerprint(change.new)}",
        )
    needs = _matches_by_key(settings, folder) if identity.rotations else {}
    for rotation in identity.rotations:
        yield _line("earlier key", _earlier(identity, rotation.change.old, needs))
    for public in sorted(identity.revoked, key=fingerprint):
        yield _line("given up", f"{fingerprint(public)}  {_whose(identity, public)}")


def _line(name: str, text: str) -> str:
    return f"{name:{_COLUMN}}{text}"


def _sealing(folder: Folder) -> str:
    plain = unsealed_files(folder)
    names = ", ".join(str(path.relative_to(folder.root)) for path in plain)
    return f"none for {names}" if plain else "on every key file"


def _earlier(identity: PublicIdentity, public: bytes, needs: Mapping[bytes | None, int] | None) -> str:
    is_there = public in identity.earlier
    found = "" if is_there else "not in the folder, "
    if needs is None:
        why = "the database cannot be read as it is, truc-server check says why"
        return f"{fingerprint(public)}  {found}not known whether a match needs it: {why}"
    count = needs.get(public, 0)
    if count:
        return f"{fingerprint(public)}  {found}{count} running {'match needs' if count == 1 else 'matches need'} it"
    return f"{fingerprint(public)}  {found}no running match needs it{': its file may be deleted' if is_there else ''}"


def _whose(identity: PublicIdentity, public: bytes) -> str:
    if public == identity.key:
        return "this server's present key: it does not start"
    if _was_own(identity, public):
        return "an earlier key of this server"
    return "somebody else's"


def _matches_by_key(settings: Settings, folder: Folder) -> Mapping[bytes | None, int] | None:
    """Return how many running matches were begun under each key; None if the database does not say."""
    # Slow to import.
    from truc_server.storage.archive import open_archive

    if not settings.store.url and not folder.database.exists():
        return {}
    try:
        with closing(open_archive(database_url(settings, folder))) as archive:
            return Counter(_key_of(setup[0]) for setup in archive.setups_under_way())
    except StoreError:
        return None


def _key_of(record: Record) -> bytes | None:
    """Return the identity key a table record was signed with; None if the record is damaged: its match does not go on."""
    try:
        body = parse(record)
    except CheckError:
        return None
    return body.spk if isinstance(body, TableTerms) else None


_STANDARD_STREAM: Final = Path("-")


@click.group()
def key() -> None:
    """Show, change, protect and give up the server's key."""


key.add_command(show)


@key.command(short_help="Give the server a new key, signed by the present one.")
@server_options
def roll(file: Path | None, **flags: object) -> None:
    """Give the server a new key, which the present one signs; the server must be stopped.

    Players' clients follow by themselves and tell their players. Matches that run go on under the key they were begun
    with, so the keys before stay in the data folder.
    """
    with server_folder(file, flags) as (settings, folder):
        read_public(folder)  # what is wrong with the keys is said before anybody is asked for a passphrase
        with locked(folder):
            identity = give_new_key(folder, int(time.time()), passphrases.passphrase_of(settings, folder))
    before = fingerprint(identity.rotations[-1].change.old)
    click.echo(f"{before} -> {identity.fingerprint}, serial {identity.serial}")
    click.echo(
        f"Make a backup of {folder.root} now, and a revocation of the new key: truc-server key revocation FILE",
        err=True,
    )


@key.command(short_help="Write the statement that gives up the key.")
@server_options
@click.argument("out", type=click.Path(path_type=Path, allow_dash=True))
def revocation(file: Path | None, out: Path, **flags: object) -> None:
    """Write to the new file OUT, or with - to standard output, the statement that gives up the server's present key.

    It is made in advance, while you have the key, and kept offline: nothing happens until somebody heeds it.
    """
    with server_folder(file, flags) as (settings, folder):
        read_public(folder)
        identity = read_identity(folder, passphrases.passphrase_of(settings, folder))
        text = revocation_text(give_up(identity.key))
        if out == _STANDARD_STREAM:
            click.echo(text, nl=False)
            return
        try:
            # Whoever has the file can give the key up.
            write_new(out, text.encode("ascii"), 0o600)
        except OSError as error:
            raise CommandError(f"cannot write {out}: {error.strerror}") from error
    click.echo(
        f"{out} gives up the key {identity.fingerprint}. Keep it offline, away from this machine; if the key is stolen,"
        " hand it to your players (truc keys revoke FILE). Whoever has the file can do that."
    )


@key.command(short_help="Heed a revocation, from the next start on.")
@server_options
@click.argument("given", metavar="FILE", type=click.File("rb"))
def revoke(file: Path | None, given: BinaryIO, **flags: object) -> None:
    """Heed the revocation in FILE, or in - for standard input, from the next start on.

    A player's key that was given up is not let in; the server does not start with a key of its own that was.
    """
    settings = load_settings(file, flags, needs=STORE_SETTINGS)
    with report_failures():
        folder = open_folder(data_root(settings))
        try:
            public = accept_revocation(folder, _text(given))
        except KeyFileError as error:
            raise CommandError(f"{given.name}: expected a revocation: {error}") from error
        click.echo(f"{fingerprint(public)} was given up; heeded from the next start on")
        _warn(folder, public)


@key.command(short_help="Seal the key files with a passphrase, or remove it.")
@server_options
@click.option(
    "--new",
    type=click.Path(path_type=Path, allow_dash=True),
    help="File whose first line is the new passphrase, - for standard input [asked at the terminal].",
)
@click.option("--remove", is_flag=True, help="Leave the keys without a passphrase.")
def passphrase(file: Path | None, new: Path | None, remove: bool, **flags: object) -> None:
    """Seal the key files with a passphrase, change it or remove it; the server must be stopped.

    The present one, if there is one, comes from the file of store.passphrase_file, or you are asked for it at the terminal.
    """
    if new is not None and remove:
        raise click.UsageError("expected --new or --remove, got both")
    with server_folder(file, flags) as (settings, folder):
        read_public(folder)
        with locked(folder):
            before = passphrases.sealing_passphrase(settings, folder)
            if remove and before is None:
                raise CommandError(f"the keys in {folder.root} have no passphrase")
            after = None if remove else _new_passphrase(new)
            passphrases.change_passphrase(folder, before, after)
    if after is None:
        click.echo("The keys have no passphrase any more; take store.passphrase_file out of the settings.")
        return
    click.echo(
        "The keys are sealed with the new passphrase. `truc-server run` wants it: store.passphrase_file."
    )
    click.echo(
        "Backups from before hold them as they were; without the passphrase the keys are lost.", err=True
    )


def _new_passphrase(new: Path | None) -> str:
    if new == _STANDARD_STREAM:
        return passphrases.first_line(sys.stdin.buffer, "standard input")
    if new is not None:
        return passphrases.read_passphrase(new)
    if not passphrases.is_at_terminal():
        raise CommandError("the new passphrase: expected --new FILE, or a terminal to ask at")
    answer: str = click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True)
    try:
        return passphrases.checked(answer)
    except ValueError as error:
        raise CommandError(str(error)) from error


def _text(given: BinaryIO) -> str:
    return given.read(REVOCATION_LIMIT + 1).decode("ascii", "replace")  # one more, to see that it is too long


def _warn(folder: Folder, public: bytes) -> None:
    if not folder.identity.exists():
        return
    identity = read_public(folder)
    if public == identity.key:
        click.echo("This is the present key of this server: it does not start with it any more.", err=True)
    elif _was_own(identity, public):
        click.echo("This is an earlier key of this server: matches begun under it do not go on.", err=True)


def _was_own(identity: PublicIdentity, public: bytes) -> bool:
    return any(rotation.change.old == public for rotation in identity.rotations)
