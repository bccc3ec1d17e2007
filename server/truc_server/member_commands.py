"""Commands of `truc-server` about who may come in: the address to give out, invites, and the list of members.

They write to the server's database beside it: what they change holds from the next login on, without a restart.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from truc_protocol.keys import fingerprint
from truc_server.command_line import (
    Failure,
    SettingsFailure,
    data_option,
    data_root,
    failures,
    load_settings,
    settings_option,
)
from truc_server.folder import used_folder
from truc_server.identity import check_in_force, read_identity
from truc_server.links import address, is_local
from truc_server.settings import Settings

if TYPE_CHECKING:
    from truc_server.store import Store

_FINGERPRINT: Final = re.compile(r"[A-Z2-7]{26}")
_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
_MOST_USES: Final = 10_000
_MOST_DAYS: Final = 3_650
_DAYS: Final = 7


@click.command()
@settings_option
@data_option
@click.option("--public-host", help="Name or address that players use.")
@click.option("--uses", type=click.IntRange(1, _MOST_USES), help="How many keys become members by it [1].")
@click.option("--days", type=click.IntRange(1, _MOST_DAYS), help=f"How long it is good [{_DAYS}].")
def invite(file: Path | None, uses: int | None, days: int | None, **flags: object) -> None:
    """Print the address of the server, with its fingerprint, to give to players.

    On a server with access.members = "invite" the address has a fresh invite in it, with which a key becomes a member.
    """
    settings = load_settings(file, flags)
    if settings.access.members != "invite" and (uses or days):
        raise SettingsFailure(
            'an invite needs access.members = "invite"; here access.members ='
            f' "{settings.access.members}", and nobody is asked for one'
        )
    with failures():
        identity = read_identity(used_folder(data_root(settings)))
        check_in_force(identity)
        code = _issue(settings, uses or 1, days or _DAYS) if settings.access.members == "invite" else None
    click.echo(address(settings, settings.listen.port, identity, code))
    if is_local(settings):
        click.echo("listen.public_host is not set: this address works on this machine only", err=True)


def _issue(settings: Settings, uses: int, days: int) -> str:
    # Slow to import, and needed for closed servers alone.
    from truc_server.members import issue

    with _store(settings) as store:
        return issue(store, uses=uses, days=days)


@click.group()
def members() -> None:
    """List, add and remove the members of a closed server, also while it runs."""


@members.command("list")
@settings_option
@data_option
def list_members(file: Path | None, **flags: object) -> None:
    """Print the fingerprint of every member, and since when."""
    with failures(), _store(load_settings(file, flags)) as store:
        for member in store.members():
            since = datetime.fromtimestamp(member.since_ms / 1000, UTC)
            click.echo(f"{member.fingerprint}  since {since:%Y-%m-%d}")


@members.command("add")
@settings_option
@data_option
@click.argument("key")
def add_member(file: Path | None, key: str, **flags: object) -> None:
    """Admit KEY: its fingerprint, as the player's client shows it, or the key itself in 64 hexadecimal digits."""
    # Slow to import.
    from truc_server.house import now_ms
    from truc_server.store import Member

    settings, who = load_settings(file, flags), _fingerprint(key)
    with failures(), _store(settings) as store:
        is_new = store.admit(Member(who, now_ms()))
    click.echo(f"{who} is a member {'now' if is_new else 'already'}")
    if settings.access.members == "anyone":
        click.echo('access.members = "anyone": everybody may log in, members or not', err=True)


@members.command("remove")
@settings_option
@data_option
@click.argument("key")
def remove_member(file: Path | None, key: str, **flags: object) -> None:
    """End the membership of KEY; whoever is connected with it stays until they leave."""
    who = _fingerprint(key)
    with failures(), _store(load_settings(file, flags)) as store:
        was_member = store.expel(who)
    if not was_member:
        raise Failure(f"{who} is no member")
    click.echo(f"{who} is no member any more")


def _fingerprint(key: str) -> str:
    if _KEY.fullmatch(key):
        return fingerprint(bytes.fromhex(key))
    if _FINGERPRINT.fullmatch(key.upper()):
        return key.upper()
    raise click.BadParameter(
        f"expected a fingerprint of 26 characters or a key of 64 hexadecimal digits, got {key!r}"
    )


@contextmanager
def _store(settings: Settings) -> Iterator["Store"]:
    """Open the database of a server that has run; nothing is claimed, so that it may go on running."""
    # Slow to import.
    from truc_server.store import open_store

    folder = used_folder(data_root(settings))
    store = open_store(settings.store.url or f"sqlite:///{folder.database}")
    try:
        yield store
    finally:
        store.close()
