"""`truc-server export`: the transcripts of matches that are over, as files that `truc verify` reads.

It only reads, and a server may be running. Invariant: no file is ever replaced, except by one that begins with it.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from truc_commands.files import read_beginning
from truc_protocol.documents import game_of
from truc_protocol.transcript import file_name, write_transcript
from truc_server.commands.command_line import (
    CommandError,
    database_url,
    format_minute,
    server_folder,
    server_options,
)
from truc_server.settings.folder import FolderError, write_new
from truc_server.settings.subjects import is_tag, normal_subject

if TYPE_CHECKING:
    from truc_server.storage import AddPlayer
    from truc_server.storage.archive import Archive, ArchivedMatch


class FileState(StrEnum):
    """What has become of a file: it is new, was there already, has got more records, or has something else in it."""

    WRITTEN = "written"
    KEPT = "kept"
    LONGER = "longer"
    DIFFERS = "differs"


def open_target(folder: Path) -> Path:
    """Return the folder that files go to, made with mode 0700 if it is not there.

    Raises:
        FolderError: It cannot be made, or is no folder.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        raise FolderError(f"expected a folder to write to, {folder} is a file") from error
    except OSError as error:
        raise FolderError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


def export_file(path: Path, content: bytes) -> FileState:
    """Write a file, unless it is there already; one that was cut short is completed."""
    try:
        there = read_beginning(path, len(content) + 1)  # one byte more tells of a file that is longer
    except FileNotFoundError:
        write_new(path, content, 0o600)
        return FileState.WRITTEN
    if there == content:
        return FileState.KEPT
    if not content.startswith(there):
        return FileState.DIFFERS
    # The seats' last signatures may come when the match is over, and this file was written before.
    write_new(path, content, 0o600, replaces=True)
    return FileState.LONGER


_LEAST_DIGITS: Final = 8  # by which a match may be named
_ALL_DIGITS: Final = 64
_DATE: Final = click.DateTime(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"])
_WIDTH: Final = 7  # of a state
_UNREADABLE: Final = "-"  # for the game of a document that this version cannot read


class MatchFilter(NamedTuple):
    """Which matches are asked for; with None and nothing named, all that are over."""

    named: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    variant: str | None
    player: str | None


class ExportedMatch(NamedTuple):
    """A match that was asked for, and what has become of it."""

    state: FileState
    match: "ArchivedMatch"
    variant: str | None
    records: int
    players: "tuple[AddPlayer, ...]"


@click.command()
@server_options
@click.argument("dest", type=click.Path(path_type=Path))
@click.option(
    "--match", "named", multiple=True, metavar="ID", help="Only this match; may be given several times."
)
@click.option("--since", type=_DATE, metavar="DATE", help="Only those that ended on this day or later (UTC).")
@click.option("--until", type=_DATE, metavar="DATE", help="Only those that ended before this day (UTC).")
@click.option("--variant", metavar="NAME", help="Only those of this game.")
@click.option(
    "--player", metavar="WHO", help="Only those that this fingerprint, key or tag of a guest has played."
)
@click.option("--json", "as_json", is_flag=True, help="Print an index: one JSON object a line.")
def export(file: Path | None, dest: Path, *, as_json: bool, data: str | None, **asked: Any) -> None:
    """Write each match that is over to the folder DEST, as a transcript that `truc verify` reads.

    Files that are there already are kept. It may run beside the server.
    """
    wanted = _wanted(**asked)
    # Slow to import.
    from truc_server.storage.archive import open_archive

    with (
        server_folder(file, {"data": data}) as (settings, folder),
        closing(open_archive(database_url(settings, folder))) as archive,
    ):
        target = open_target(dest)
        states = []
        for exported in _export_all(archive, target, wanted):
            click.echo(_facts(exported) if as_json else _line(exported))
            states.append(exported.state)
    click.echo(_summary(states, target), err=True)
    if FileState.DIFFERS in states:
        raise click.exceptions.Exit(1)


def _wanted(*, named: tuple[str, ...], player: str | None, **others: Any) -> MatchFilter:
    if named and (player or any(others.values())):
        raise click.UsageError(
            "--match says which matches: expected no --since, --until, --variant or --player"
        )
    for digits in named:
        if not _LEAST_DIGITS <= len(digits) <= _ALL_DIGITS or set(digits.lower()) - set("0123456789abcdef"):
            raise click.BadParameter(
                f"--match: expected {_LEAST_DIGITS} to 64 hexadecimal digits, got {digits!r}"
            )
    who = None if player is None else normal_subject(player)
    if player is not None and (who is None or not is_tag(who)):
        raise click.BadParameter(
            f"--player: expected a fingerprint, a key or the tag of a guest, got {player!r}"
        )
    return MatchFilter(named, player=who, **others)


def _export_all(archive: "Archive", target: Path, wanted: MatchFilter) -> Iterator[ExportedMatch]:
    for match in _matches(archive, wanted):
        variant = game_of(match.document)
        if wanted.variant not in {None, variant}:
            continue
        # Before the transcript: a match that is deleted in between is not written, and one that is has them.
        players = archive.players_of(match.mid)
        found = archive.transcript(match.mid)
        if found is not None:  # else it was deleted meanwhile
            records = (*found.setup, *found.records)
            state = export_file(target / file_name(match.mid), write_transcript(found.document, records))
            yield ExportedMatch(state, match, variant, len(records), players)


def _matches(archive: "Archive", wanted: MatchFilter) -> "Iterator[ArchivedMatch]":
    if wanted.named:
        yield from [_match(archive, digits.lower()) for digits in wanted.named]
        return
    players = None if wanted.player is None else _ids(archive, wanted.player)
    yield from archive.ended_matches(since_ms=_ms(wanted.since), until_ms=_ms(wanted.until), players=players)


def _match(archive: "Archive", digits: str) -> "ArchivedMatch":
    found = archive.find(digits)
    if not found:
        raise CommandError(f"no match {digits} is kept")
    if len(found) > 1:
        raise CommandError(f"{len(found)} matches begin with {digits}: give more of its digits")
    if found[0].ended_ms is None:
        raise CommandError(f"match {digits} is not over")
    return found[0]


def _ids(archive: "Archive", tag: str) -> tuple[bytes, ...]:
    """Return the ids that the player with this tag has in the database."""
    # Slow to import.
    from truc_server.net.peer import tag_of

    # The tag of a guest is a hash of the id: it can be compared, not turned back.
    return tuple(player for kind, player in archive.all_players() if tag_of(kind, player) == tag)


def _ms(at: datetime | None) -> int | None:
    return None if at is None else int(at.replace(tzinfo=UTC).timestamp() * 1000)


def _line(exported: ExportedMatch) -> str:
    match = exported.match
    ended = format_minute(match.ended_ms or 0)
    game = exported.variant or _UNREADABLE
    return f"{exported.state:{_WIDTH}}  {file_name(match.mid)}  {ended}  {game}  {match.reason}"


def _facts(exported: ExportedMatch) -> str:
    # Slow to import.
    from truc_server.net.peer import tag_of

    match = exported.match
    facts = {
        "state": exported.state,
        "file": file_name(match.mid),
        "match": match.mid.hex(),
        "ended": format_minute(match.ended_ms or 0, "%Y-%m-%dT%H:%M:%SZ"),
        "variant": exported.variant,
        "seats": match.seats,
        "reason": match.reason,
        "records": exported.records,
        "players": [
            {"seat": played.seat, "kind": played.kind, "tag": tag_of(played.kind, played.player)}
            for played in exported.players
        ],
    }
    return json.dumps(facts)


def _summary(states: Sequence[FileState], target: Path) -> str:
    counted = ", ".join(f"{states.count(state)} {state}" for state in FileState if state in states)
    many = f"{len(states)} {'match' if len(states) == 1 else 'matches'}"
    return f"{target}: {many}{f': {counted}' if counted else ''}"
