"""Commands of `truc-server` about who may come in: the address to give out, invites, and the list of members.

They write to the database beside the running server: what they change holds from the next login on, without a restart.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from truc_protocol.wire.transport import web_link
from truc_server.commands.command_line import (
    CommandError,
    WrongSettingsError,
    address,
    data_root,
    format_minute,
    is_local,
    load_settings,
    read_fingerprint,
    report_failures,
    server_options,
    server_store,
    setting_options,
)
from truc_server.identity.identity import check_in_force, read_public
from truc_server.settings.folder import used_folder
from truc_server.storage import Invite, Member
from truc_server.timing.clock import now_ms

if TYPE_CHECKING:
    from truc_server.storage.sql import Store

_MOST_USES: Final = 10_000
_MOST_DAYS: Final = 3_650
_DAYS: Final = 7
_MARK_CHARS: Final = 8  # of the hash of an invite, by which it is named


@click.command()
@server_options
@setting_options("public_host")
@click.option("--uses", type=click.IntRange(1, _MOST_USES), help="How many keys it makes members [1].")
@click.option("--days", type=click.IntRange(1, _MOST_DAYS), help=f"How long it is good [{_DAYS}].")
def invite(file: Path | None, uses: int | None, days: int | None, **flags: object) -> None:
    """Print the address of the server, with its fingerprint, to give to players; below it the one for browsers.

    On a server with access.members = "invite" the addresses have a fresh invite in them, with which a key becomes a member.
    """
    settings = load_settings(file, flags)
    if settings.access.members != "invite" and (uses or days):
        raise WrongSettingsError(
            'an invite needs access.members = "invite"; here access.members ='
            f' "{settings.access.members}", and nobody is asked for one'
        )
    with report_failures():
        identity = read_public(used_folder(data_root(settings)))
        check_in_force(identity)  # clients that know of the revocation would stop at this address
    code = None
    if settings.access.members == "invite":
        # Slow to import, and needed for closed servers alone.
        from truc_server.lobby.members import issue_invite

        with server_store(file, flags) as (_, store):
            code = issue_invite(store, uses=uses or 1, days=days or _DAYS)
    click.echo(address(settings, settings.listen.port, identity.fingerprint, code))
    if (origin := settings.web.known_origin) is not None:
        click.echo(web_link(origin, invite=code))
    if code is not None:
        click.echo(f"to withdraw it: truc-server invites withdraw {_mark(code)}", err=True)
    if is_local(settings):
        click.echo("listen.public_host is not set: this address works on this machine only", err=True)


def _mark(code: str) -> str:
    # Slow to import.
    from truc_server.lobby.members import invite_hash

    return invite_hash(code).hex()[:_MARK_CHARS]


@click.group()
def invites() -> None:
    """List and withdraw the invites to a closed server, also while it runs."""


@invites.command("list", short_help="Print every invite that is good.")
@server_options
def list_invites(file: Path | None, **flags: object) -> None:
    """Print the mark of every invite that is good, for how many keys it is and until when; nobody can see its code again."""
    with server_store(file, flags) as (_, store):
        for kept in _good_invites(store):
            mark = kept.code_hash.hex()[:_MARK_CHARS]
            click.echo(f"{mark}  for {kept.uses}  until {format_minute(kept.until_ms)}")


@invites.command("withdraw", short_help="Withdraw an invite.")
@server_options
@click.argument("mark")
def withdraw_invite(file: Path | None, mark: str, **flags: object) -> None:
    """Withdraw the invite with this MARK, or the first characters of it; who has come with it stays a member."""
    with server_store(file, flags) as (_, store):
        found = [
            kept for kept in _good_invites(store) if mark and kept.code_hash.hex().startswith(mark.lower())
        ]
        if len(found) != 1:
            what = "more than one invite has" if found else "no good invite has"
            raise CommandError(f"{what} the mark {mark!r}")
        store.withdraw(found[0].code_hash)
    click.echo(f"{found[0].code_hash.hex()[:_MARK_CHARS]} is withdrawn")


def _good_invites(store: "Store") -> tuple[Invite, ...]:
    now = now_ms()
    return tuple(kept for kept in store.invites() if kept.uses > 0 and now < kept.until_ms)


@click.group()
def members() -> None:
    """List, add and remove the members of a closed server, also while it runs."""


@members.command("list")
@server_options
def list_members(file: Path | None, **flags: object) -> None:
    """Print the fingerprint of every member, and since when."""
    with server_store(file, flags) as (_, store):
        for member in store.members():
            since = format_minute(member.since_ms, "%Y-%m-%d")
            click.echo(f"{member.fingerprint}  since {since}")


@members.command("add", short_help="Admit a key.")
@server_options
@click.argument("key")
def add_member(file: Path | None, key: str, **flags: object) -> None:
    """Admit KEY: its fingerprint, as the player's client shows it, or the key itself in 64 hexadecimal digits."""
    who = read_fingerprint(key)
    with server_store(file, flags, "access.members") as (settings, store):
        is_new = store.admit(Member(who, now_ms()))
    click.echo(f"{who} is a member {'now' if is_new else 'already'}")
    if settings.access.members == "anyone":
        click.echo('access.members = "anyone": everybody may log in, members or not', err=True)


@members.command("remove", short_help="End a membership.")
@server_options
@click.argument("key")
def remove_member(file: Path | None, key: str, **flags: object) -> None:
    """End the membership of KEY; whoever is connected with it stays until they leave."""
    who = read_fingerprint(key)
    with server_store(file, flags) as (_, store):
        was_member = store.expel(who)
    if not was_member:
        raise CommandError(f"{who} is no member")
    click.echo(f"{who} is no member any more")
