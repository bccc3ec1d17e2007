"""`truc-server key show`: the server's key, how it came to be, and which keys before it are still needed.

Nothing here needs the passphrase. Invariant: a key is called not needed only if the database was read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from truc_protocol.bodies import Table
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.records import Record, parse
from truc_server.commands.command_line import (
    STORED,
    data_option,
    data_root,
    failures,
    load_settings,
    settings_option,
)
from truc_server.identity.identity import PublicIdentity, read_public, unsealed_files
from truc_server.identity.rotation import made_at
from truc_server.settings.folder import Folder, used_folder
from truc_server.settings.settings import Settings

_COLUMN: Final = 13


@click.command(short_help="Print fingerprint, key, and every change of the key.")
@settings_option
@data_option
def show(file: Path | None, **flags: object) -> None:
    """Print fingerprint, key and serial, every change of the key, and whether a running match needs a key before it."""
    settings = load_settings(file, flags, needs=STORED)
    with failures():
        folder = used_folder(data_root(settings))
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
        made = datetime.fromtimestamp(made_at(rotation), UTC)
        yield _line(
            f"change {change.serial}",
            f"{made:%Y-%m-%d}  {fingerprint(change.old)} -> {fingerprint(change.new)}",
        )
    needs = _needs(settings, folder) if identity.rotations else {}
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
    if any(public == rotation.change.old for rotation in identity.rotations):
        return "an earlier key of this server"
    return "somebody else's"


def _needs(settings: Settings, folder: Folder) -> Mapping[bytes | None, int] | None:
    """Return how many running matches were begun under each key; None if the database does not say."""
    # Slow to import.
    from truc_server.storage import open_store
    from truc_server.storage.engine import inspect_server
    from truc_server.storage.inspection import inspect

    url = settings.store.url
    if not url and not folder.database.exists():
        return {}
    found = inspect_server(url) if url else inspect(folder.database)
    if found.problem is not None or found.is_older or found.is_newer or found.revision is None:
        return None
    store = open_store(url or f"sqlite:///{folder.database}")
    try:
        return Counter(_key_of(match.setup[0]) for match in store.running())
    finally:
        store.close()


def _key_of(record: Record) -> bytes | None:
    """Return the identity key a table record was signed with; None if the record is damaged: its match does not go on."""
    try:
        body = parse(record)
    except CheckError:
        return None
    return body.spk if isinstance(body, Table) else None
