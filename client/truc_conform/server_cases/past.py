"""Cases S2: the list of matches that a player has played; only if the server announces `matches`."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map, RawClient
from truc_conform.server_cases.play import in_hand
from truc_conform.server_visit import (
    ServerCase,
    Visit,
    check_refusal,
    expect,
    expect_ok,
    game_of,
    need,
    play_on,
    server_case,
)
from truc_protocol.errors import Code

_CLAUSE: Final = "views.md#ones-own-matches"


async def _own(client: RawClient, **fields: object) -> list[Map]:
    need(client, "matches")
    reply = await client.ask_patiently({"t": "matches", **fields})
    found: list[Map] = expect_ok(reply, "ok with matches", "matches")["matches"]
    return found


async def _matches(visit: Visit) -> None:
    """A match is listed for those who played it, and for nobody else."""
    loser, winner = await in_hand(visit)
    before = await _own(loser.client)
    await loser.resign()
    await play_on((loser, winner))
    for seat in (loser, winner):
        (match, *others) = await _own(seat.client)
        expect(not others, "only the match played with this key", others)
        known = {"match": seat.ledger.setup.mid, "seat": seat.seat, "variant": game_of(seat.client)}
        told = {name: match.get(name) for name in known}
        expect(told == known, f"{known}", told)
        expect(match.get("reason") and match.get("ended_ms"), "how it ended, and when", match)
    expect(len(before) == 1 and "ended_ms" not in before[0], "no end of a match in play", before)
    strangers = await _own(await visit.player())
    expect(not strangers, "no matches for a player who has played none", strangers)


async def _matches_none(visit: Visit) -> None:
    """A list after a match that one has not played gets no_such_match."""
    client = await visit.player()
    need(client, "matches")
    reply = await client.ask_patiently({"t": "matches", "after": bytes(32)})
    check_refusal(reply, Code.NO_SUCH_MATCH, field="after")


_case: Final = partial(server_case, "S2")

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_matches, _CLAUSE),
    _case(_matches_none, _CLAUSE),
)
