"""Requests about the past: the pages of a match's records, who may have them and how far; matches played; and ratings.

Those who have played may have everything. Others may read a match in play as far as watchers are shown it, and one that
is over if the option `transcript` of its table lets them. Pages of the store are read as fast as one network may. Invariant: only what is durable is sent, and nobody who
watches late learns here what they have not been shown yet.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

import trio

from truc_protocol.bodies import Guest, SeatTaken
from truc_protocol.bodies import TableTerms as TableBody
from truc_protocol.documents import game_of
from truc_protocol.errors import Code
from truc_protocol.messages import (
    History,
    Leaderboard,
    ListMatches,
    PastRecord,
    PlayedMatch,
    Profile,
    Standing,
)
from truc_protocol.records import Record, parse
from truc_protocol.setup import read_opts
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, wrong_field
from truc_server.requests.services import RequestServices
from truc_server.settings.abilities import HISTORY_PAGE, MATCHES_PAGE, STANDINGS_PAGE
from truc_server.spectating.spectator_feed import ShownExtent
from truc_server.storage import AddRecord, OwnMatch, PastMatch
from truc_server.storage import RankedRating as Stored
from truc_server.storage.archive import unpack_means
from truc_server.storage.ratings import Skill
from truc_server.storage.sql import Store
from truc_server.table_data.options import WATCH_LATE, offered_game, wrong_seats
from truc_server.timing.clock import now_ms

_MOST: Final = 1_000_000_000  # places that may be left out: no database has to count further
MAX_BYTES: Final = 60_000  # of an answer, which has one frame of 65,536; what msgpack adds is counted high
_ADDED: Final = 48  # bytes that msgpack adds to a record, at most


class _Page(NamedTuple):
    """Records from a position on; `k` is the position after them."""

    records: tuple[PastRecord, ...]
    k: int
    more: bool


class _Bound(NamedTuple):
    """How far records may be read: those before position `end`, and made until `made_ms`; None for no bound."""

    end: int | None = None
    made_ms: int | None = None


async def show_records(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, request: History
) -> None:
    """Answer with a page of a match's records, and from -1 with its setup."""
    if request.limit == 0 and request.first >= 0:
        raise wrong_field("limit", "at least 1 record, or the setup too")
    await services.pace.wait_page(peer.network)
    # So that whoever has been told of a record finds it.
    await services.journal.wait_durable(services.journal.gate)
    found = await trio.to_thread.run_sync(services.store.past_match, request.match)
    if found is None:
        raise _no_such_match()
    table = lobby.get(found.table)
    bound = _bound(None if table is None else table.feed.extent(request.match), player, found)
    setup = found.setup if request.first < 0 else ()
    document = found.document if request.first < 0 else None
    room = MAX_BYTES - len(document or b"") - _size_of(setup)
    page = await trio.to_thread.run_sync(partial(_page, services.store, request, bound, room=room))
    # It may be deleted in between, and would look like one that has no records.
    is_empty = not page.records and not page.more
    if is_empty and await trio.to_thread.run_sync(services.store.past_match, request.match) is None:
        raise _no_such_match()
    setup_fields = {"doc": document, "setup": setup} if request.first < 0 else {}
    peer.ok(request, past=page.records, k=page.k, more=page.more, **setup_fields)


def _no_such_match() -> RefusedRequestError:
    return wrong_field("match", "the id of a match played here", Code.NO_SUCH_MATCH)


async def show_matches(
    services: RequestServices, peer: Peer, player: LoggedInPlayer, request: ListMatches
) -> None:
    """Answer with a page of the matches that a player has had a seat in."""
    await services.pace.wait_page(peer.network)
    # One more than a page, which tells whether there is another page.
    page = partial(services.store.matches_of, player.id, after=request.after, limit=MATCHES_PAGE + 1)
    found = await trio.to_thread.run_sync(page)
    if found is None:
        own = "one of one's own matches, or one that is not deleted yet"
        raise wrong_field("after", own, Code.NO_SUCH_MATCH)
    more = len(found) > MATCHES_PAGE
    peer.ok(request, matches=tuple(map(_played_match, found[:MATCHES_PAGE])), more=more)


def _played_match(own: OwnMatch) -> PlayedMatch:
    return PlayedMatch(
        match=own.mid,
        seat=own.seat,
        since_ms=own.since_ms,
        variant=game_of(own.document),
        names=tuple(_names(own.setup)),
        reason=own.reason,
        ended_ms=own.ended_ms,
    )


def _names(setup: Iterable[Record]) -> Iterator[str]:
    for record in setup:
        body = parse(record)
        if isinstance(body, SeatTaken | Guest):
            yield body.name.decode()


def _bound(shown: ShownExtent | None, player: LoggedInPlayer, found: PastMatch) -> _Bound:
    """Return how far a player may read the records, if watchers of its table are `shown` it still.

    Raises:
        RefusedError: They may read none.
    """
    if player.id in found.players:
        return _Bound()
    spectators = _spectators(found)
    if not found.is_over or (shown is not None and not shown.is_all):
        if spectators and shown is not None:
            return _Bound(shown.k)
        raise RefusedRequestError(Code.PRIVATE_TABLE, "the match is not over, and nobody may watch it")
    if found.readers == "all" or (found.readers == "watchers" and spectators):
        # Decision 13: a closed table shows nothing more, though its delay is not over for the last records.
        delay_s = spectators - WATCH_LATE
        return _Bound(made_ms=now_ms() - delay_s * 1_000 if delay_s > 0 else None)
    raise RefusedRequestError(Code.PRIVATE_TABLE, "only players who had a seat in the match may read it")


def _spectators(found: PastMatch) -> int:
    body = parse(found.setup[0])
    return read_opts(body.opts).spectators if isinstance(body, TableBody) else 0


def _page(store: Store, request: History, bound: _Bound, *, room: int) -> _Page:
    first = max(0, request.first)
    last = _last(store, request.match, bound)
    if first > last:
        raise wrong_field("from", f"at most {last}, got {first}", Code.BAD_POSITION)
    wanted = HISTORY_PAGE if request.limit is None else min(request.limit, HISTORY_PAGE)
    rows = store.records(request.match, first=first, limit=min(wanted, last - first))
    # At least one, however long it is: whoever reads page by page would else ask for the same one for ever.
    sent = _fitting(rows, room, at_least=0 if request.first < 0 else 1)
    k = first + len(sent)
    return _Page(tuple(map(_past_record, sent)), k, more=k < last)


def _last(store: Store, mid: bytes, bound: _Bound) -> int:
    known = store.record_count(mid)
    last = known if bound.end is None else min(known, bound.end)
    return last if bound.made_ms is None else min(last, store.count_until(mid, bound.made_ms))


def _fitting(rows: tuple[AddRecord, ...], room: int, *, at_least: int) -> tuple[AddRecord, ...]:
    for i, row in enumerate(rows):
        room -= len(row.body) + len(row.sig) + len(row.means) + _ADDED
        if room < 0 and i >= at_least:
            return rows[:i]
    return rows


def _past_record(row: AddRecord) -> PastRecord:
    return PastRecord(signer=row.signer, body=row.body, sig=row.sig, means=unpack_means(row.means))


def _size_of(records: Iterable[Record]) -> int:
    return sum(len(record.body) + len(record.sig) + _ADDED for record in records)


async def show_board(services: RequestServices, lobby: Lobby, peer: Peer, message: Leaderboard) -> None:
    """Answer with a page of the players of a game who are rated, the best first."""
    variant = offered_game(lobby.catalogue, message.variant)
    if message.seats not in variant.players:
        raise wrong_seats(variant, message.seats)
    await services.pace.wait_page(peer.network)
    page = partial(
        services.store.leaderboard,
        message.variant,
        message.seats,
        first=min(message.first, _MOST),
        limit=STANDINGS_PAGE + 1,
    )
    found = await trio.to_thread.run_sync(page)
    more = len(found) > STANDINGS_PAGE
    peer.ok(message, standings=_shown(lobby, found[:STANDINGS_PAGE]), more=more)


async def show_profile(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Profile
) -> None:
    """Answer with the ratings of a player, or one's own."""
    tag = message.player or player.tag
    if not tag.isprintable():  # not every database takes it
        raise wrong_field("player", "the tag of a player")
    await services.pace.wait_page(peer.network)
    found = await trio.to_thread.run_sync(services.store.profile, tag)
    peer.ok(message, standings=_shown(lobby, found))


def _shown(lobby: Lobby, found: tuple[Stored, ...]) -> tuple[Standing, ...]:
    bots = frozenset(lobby.bot_calls.tags)
    return tuple(
        Standing(
            player=rating.tag,
            name=rating.name,
            variant=rating.variant,
            seats=rating.seats,
            rank=rank,
            points=rating.points,
            doubt=Skill(rating.mean, rating.deviation).doubt,
            matches=rating.matches,
            won=rating.won,
            bot=rating.tag in bots,
        )
        for rating, rank in found
    )
