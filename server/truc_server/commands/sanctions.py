"""Commands of `truc-server` against a player: shut out, muted, off the leaderboards; a running server heeds them within seconds.

They write to the database beside the running server. What the settings say is listed too, but is changed only there.
Invariant: matches and their transcripts stay as they are.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import click

from truc_server.admin.audit import AdminLogEntry, Caller, note
from truc_server.commands.command_line import (
    CommandError,
    data_root,
    duration_options,
    format_minute,
    read_fingerprint,
    server_options,
    server_store,
    span_hours,
)
from truc_server.net.sanctions import imposed_now, in_force, setting_naming
from truc_server.settings.folder import used_folder
from truc_server.settings.settings import AccessSettings
from truc_server.settings.subjects import normal_subject
from truc_server.storage import Sanction, SanctionKind
from truc_server.timing.clock import now_ms

_LISTS: Final = ("access.banned", "access.muted")
_WIDTH: Final = 26  # of a fingerprint and the tag of a guest

_Command = TypeVar("_Command", bound=Callable[..., None])


def _on_subject(command: _Command) -> _Command:
    return server_options(click.argument("subject")(command))


def _imposing(kind: SanctionKind, state: str, *, does: str) -> click.Command:
    """Return the command that imposes a sanction."""
    whom = "a fingerprint or key, the tag of a guest, an address or a network"

    @click.command(str(kind), help=f"{does}: {whom}.")
    @_on_subject
    @duration_options
    def impose(file: Path | None, subject: str, days: int | None, hours: int | None, **flags: object) -> None:
        sanction = imposed_now(_subject(subject), kind, span_hours(days, hours))
        with server_store(file, flags) as (_, store):
            store.impose(sanction)
        end = "" if sanction.until_ms is None else f" until {format_minute(sanction.until_ms)}"
        click.echo(f"{sanction.subject} is {state}{end}")

    return impose


def _lifting(kind: SanctionKind, state: str, *, does: str) -> click.Command:
    """Return the command that lifts a sanction."""

    @click.command(f"un{kind}", help=does)
    @_on_subject
    def lift(file: Path | None, subject: str, **flags: object) -> None:
        whom = _subject(subject)
        with server_store(file, flags, *_LISTS) as (settings, store):
            was_imposed = store.lift(whom, kind)
        if not was_imposed:
            named = setting_naming(settings.access, whom, kind)
            hint = "" if named is None else f": it stands in {named}"
            raise CommandError(f"{whom} is not {state} by command{hint}")
        click.echo(f"{whom} is not {state} any more")

    return lift


ban = _imposing(SanctionKind.BAN, "shut out", does="Shut SUBJECT out")
mute = _imposing(SanctionKind.MUTE, "muted", does="Let SUBJECT play but not talk")
unban = _lifting(SanctionKind.BAN, "shut out", does="Let SUBJECT, whom `ban` has shut out, in again.")
unmute = _lifting(SanctionKind.MUTE, "muted", does="Let SUBJECT, whom `mute` has muted, talk again.")


@click.command()
@server_options
def sanctions(file: Path | None, **flags: object) -> None:
    """List who is shut out or muted, by command and by the settings."""
    with server_store(file, flags, *_LISTS) as (settings, store):
        for sanction in in_force(store.sanctions(), now_ms()):
            click.echo(_line(sanction.kind, sanction.subject, _times(sanction)))
    for line in _listed(settings.access):
        click.echo(line)


def _subject(written: str) -> str:
    found = normal_subject(written)
    if found is None:
        raise click.BadParameter(
            f"expected a fingerprint, a key, the tag of a guest, an address or a network, got {written!r}"
        )
    return found


def _listed(access: AccessSettings) -> Iterator[str]:
    yield from (_line("ban", subject, "in access.banned") for subject in access.banned)
    yield from (_line("mute", subject, "in access.muted") for subject in access.muted)


def _line(kind: str, subject: str, rest: str) -> str:
    return f"{kind:4}  {subject:{_WIDTH}}  {rest}"


def _times(sanction: Sanction) -> str:
    since = f"since {format_minute(sanction.since_ms)}"
    return since if sanction.until_ms is None else f"{since}, until {format_minute(sanction.until_ms)}"


@click.command()
@server_options
@click.argument("key")
def unrate(file: Path | None, key: str, **flags: object) -> None:
    """Take KEY off every leaderboard: its fingerprint, as players see it, or the key itself in 64 hexadecimal digits.

    Its matches and their transcripts stay. Whoever plays on with it begins a new rating; to keep them out, ban the key.
    """
    who = read_fingerprint(key)
    with server_store(file, flags) as (settings, store):
        games = store.unrate(who)
        if not games:
            raise CommandError(f"{who} is not rated")
        _note(used_folder(data_root(settings)).admin_log, who, games)
    counted = "1 rating is" if games == 1 else f"{games} ratings are"
    click.echo(f"{who} stands on no leaderboard any more: {counted} gone")


def _note(log: Path, who: str, games: int) -> None:
    caller = Caller(os.getuid(), os.getpid())
    try:
        note(log, AdminLogEntry(caller, "unrate", {"subject": who, "ratings": games}, "ok"))
    except OSError as error:
        click.echo(f"it is done, but cannot be noted in {log}: {error.strerror}", err=True)
