"""What a server gives out page by page: tables, players, leaderboards, matches played, and the records of a match.

What it gives out here is not checked while it is read: `truc verify` checks a transcript, from the file alone.
Invariants: a transcript is written whole or not at all, and never replaces another file; no list goes on for ever.
"""

from collections import deque
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple, TypeVar

from truc_client.errors import ConnectError
from truc_client.happenings import Fact
from truc_client.home.home import as_home_error, write_new
from truc_client.home.transcripts import path_of
from truc_client.line.line import ServerLine
from truc_client.line.single_connection import Build
from truc_protocol import messages
from truc_protocol.records import Record, body_hash
from truc_protocol.transcript import MAX_FILE, write_transcript
from truc_words import Sentence

T = TypeVar("T")
_FROM_THE_START = -1


class HistoryRecord(NamedTuple):
    """A record as the server gives it out; `means` is the server's word."""

    k: int
    signer: int
    body: bytes
    sig: bytes
    means: tuple[Fact, ...]


def records_of(answer: messages.Ok, first: int) -> tuple[HistoryRecord, ...]:
    """Return the records of a page that begins at a position."""
    return tuple(
        HistoryRecord(k, past.signer, past.body, past.sig, past.means)
        for k, past in enumerate(answer.past or (), max(first, 0))
    )


class HistoryPages:
    """The pages of a match from a position on, fetched one by one; `at` is where the next one begins."""

    def __init__(self, line: ServerLine, match: bytes, first: int) -> None:
        self.at = first
        self._line = line
        self._match = match
        self._has_more = True

    async def read(self) -> messages.Ok | None:
        """Return the next page; None after the last.

        Raises:
            RefusedError: There is no such match, or this player may not read it.
            LostError: The connection was lost meanwhile.
            ConnectError: The server's pages do not advance.
        """
        if not self._has_more:
            return None
        first = self.at
        page = await self._line.request(lambda n: messages.History(id=n, match=self._match, first=first))
        self._has_more = page.more
        self.at = first if page.k is None else page.k
        # only the first page may hold the setup alone
        if page.more and (self.at <= first or (first >= 0 and not page.past)):
            raise ConnectError(Sentence("failures.same_page"))
        return page


class HistoryRecords:
    """The records of a match from a position on, unchecked, as far as they may be read now: `async for` yields each."""

    def __init__(self, line: ServerLine, match: bytes, first: int = 0) -> None:
        self._pages = HistoryPages(line, match, first)
        self._read: deque[HistoryRecord] = deque()

    def __aiter__(self) -> "HistoryRecords":
        return self

    async def __anext__(self) -> HistoryRecord:
        """Return the next record.

        Raises:
            RefusedError: There is no such match, or this player may not read it.
            LostError: The connection was lost meanwhile.
        """
        while not self._read:
            first = self._pages.at
            page = await self._pages.read()
            if page is None:
                raise StopAsyncIteration
            self._read.extend(records_of(page, first))
        return self._read.popleft()


async def fetch_transcript(line: ServerLine, match: bytes, path: Path) -> Path:
    """Write the transcript of a match as the server gives it out, and return its path.

    Raises:
        RefusedError: There is no such match, or this player may not read it.
        LostError: The connection was lost meanwhile.
        ConnectError: What came is not that match.
        HomeError: The file exists already, or cannot be written.
    """
    document: bytes | None = None
    records: list[Record] = []
    size, pages = 0, HistoryPages(line, match, _FROM_THE_START)
    while (page := await pages.read()) is not None:
        document = page.doc if document is None else document
        given = [Record(*record) for record in page.setup or ()]
        given += [Record(past.signer, past.body, past.sig) for past in page.past or ()]
        records += given
        # one for each, as empty ones would never end
        size += sum(1 + len(record.body) + len(record.sig) for record in given)
        if size > MAX_FILE:
            raise ConnectError(Sentence("failures.match_too_long", most=MAX_FILE))
    # the last record of a setup names the match by its hash; all else is for `truc verify` to judge
    if document is None or match not in map(body_hash, records):
        raise ConnectError(Sentence("failures.another_match"))
    with as_home_error("failures.cannot_write", path):
        write_new(path, write_transcript(document, records))
    return path


def free_path(folder: Path, match: bytes) -> Path:
    """Return where a fetched transcript may be written: beside the kept one, if there is one."""
    kept = path_of(folder, match)
    others = (kept.with_name(f"{kept.stem}-fetched-{n}{kept.suffix}") for n in count(1))
    return next(path for path in chain([kept], others) if not path.exists())


async def list_tables(line: ServerLine, variant: str | None) -> tuple[messages.TableState, ...]:
    """Return every public table, or those of one game."""

    def ask(after: str | None) -> Build:
        return lambda n: messages.ListTables(id=n, variant=variant, after=after)

    return await _ascending(line, ask, lambda page: page.tables, lambda state: state.table)


async def list_players(line: ServerLine) -> tuple[messages.PlayerState, ...]:
    """Return every player who is connected."""

    def ask(after: str | None) -> Build:
        return lambda n: messages.ListPlayers(id=n, after=after)

    return await _ascending(line, ask, lambda page: page.players, lambda state: state.player)


async def _ascending(
    line: ServerLine,
    ask: Callable[[str | None], Build],
    items: Callable[[messages.Ok], tuple[T, ...] | None],
    place: Callable[[T], str],
) -> tuple[T, ...]:
    """Return the items of every page; a list whose places do not ascend would never end."""
    found: list[T] = []
    after: str | None = None
    while True:
        page = await line.request(ask(after))
        found += (newest := items(page) or ())
        if not page.more or not newest:
            return tuple(found)
        last = place(newest[-1])
        if after is not None and last <= after:
            raise ConnectError(Sentence("failures.bad_list", last=repr(last), after=repr(after)))
        after = last


async def list_standings(
    line: ServerLine, variant: str, seats: int, *, top: int
) -> tuple[messages.Standing, ...]:
    """Return the best players of a game, at most `top`."""
    found: list[messages.Standing] = []
    while len(found) < top:
        page = await line.request(_standings_from(variant, seats, len(found)))
        found += page.standings or ()
        if not page.more or not page.standings:
            break
    return tuple(found[:top])


async def list_matches(line: ServerLine, *, newest: int | None) -> tuple[messages.PlayedMatch, ...]:
    """Return the matches that one has had a seat in, newest first; at most `newest`."""
    found: dict[bytes, messages.PlayedMatch] = {}
    after: bytes | None = None
    while newest is None or len(found) < newest:
        page = await line.request(_matches_after(after))
        for played in page.matches or ():
            if played.match in found:  # a circular list would never end
                raise ConnectError(Sentence("failures.listed_twice", match=played.match.hex()))
            found[played.match] = played
            after = played.match
        if not page.more or not page.matches:
            break
    return tuple(found.values())[:newest]


def _standings_from(variant: str, seats: int, first: int) -> Build:
    return lambda n: messages.Leaderboard(id=n, variant=variant, seats=seats, first=first)


def _matches_after(after: bytes | None) -> Build:
    return lambda n: messages.ListMatches(id=n, after=after)
