"""Requests about ratings: who is best in a game, and how one player stands.

Both read the store, page by page, as fast as pages are read for one network. Invariant: only what is durable is told.
"""

from functools import partial
from typing import Final, assert_never

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Leaderboard, Profile, Standing
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import Peer, Player, RefusedError
from truc_server.requests.means import Means
from truc_server.settings.abilities import STANDINGS_PAGE
from truc_server.storage import RankedRating as Stored
from truc_server.storage.ratings import Skill
from truc_server.table_data.options import played, wrong_seats

_MOST: Final = 1_000_000_000  # places that may be left out: no database has to count further


async def take(
    means: Means, lobby: Lobby, peer: Peer, player: Player, message: Leaderboard | Profile
) -> None:
    """Answer a request about ratings.

    Raises:
        RefusedError: There is no such game or number of seats, or no tag could look like that.
    """
    match message:
        case Leaderboard():
            await _show_board(means, lobby, peer, message)
        case Profile():
            await _show_profile(means, lobby, peer, player, message)
        case _:
            assert_never(message)


async def _show_board(means: Means, lobby: Lobby, peer: Peer, message: Leaderboard) -> None:
    variant = played(lobby.catalogue, message.variant)
    if message.seats not in variant.players:
        raise wrong_seats(variant, message.seats)
    await means.pace.wait_page(peer.network)
    page = partial(
        means.store.leaderboard,
        message.variant,
        message.seats,
        first=min(message.first, _MOST),
        limit=STANDINGS_PAGE + 1,
    )
    found = await trio.to_thread.run_sync(page)
    more = len(found) > STANDINGS_PAGE
    peer.ok(message, standings=_shown(lobby, found[:STANDINGS_PAGE]), more=more)


async def _show_profile(means: Means, lobby: Lobby, peer: Peer, player: Player, message: Profile) -> None:
    tag = message.player or player.tag
    if not tag.isprintable():  # not every database takes it
        raise RefusedError(Code.BAD_MESSAGE, "player: expected the tag of a player", field="player")
    await means.pace.wait_page(peer.network)
    found = await trio.to_thread.run_sync(means.store.profile, tag)
    peer.ok(message, standings=_shown(lobby, found))


def _shown(lobby: Lobby, found: tuple[Stored, ...]) -> tuple[Standing, ...]:
    bots = frozenset(lobby.calls.tags)
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
