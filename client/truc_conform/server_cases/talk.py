"""Cases S3: phrases, which a seat says to the whole table beside the game."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map
from truc_conform.raw_seat import Seat
from truc_conform.server_visit import (
    ServerCase,
    UnofferedError,
    Visit,
    check_refusal,
    check_too_soon,
    expect,
    expect_ok,
    need_game,
    refused,
    server_case,
)
from truc_protocol.documents import read_document
from truc_protocol.errors import Code

TALKATIVE: Final = "truco-argentino"
AT_ONCE: Final = 12
_NONSENSE: Final = "no-such-phrase"


async def _talking(visit: Visit) -> tuple[Seat, Seat, str]:
    """Return two players at a table of a game with phrases, and the first of its phrases."""
    client = await visit.player()
    need_game(client, TALKATIVE)
    phrases = read_document((await client.ask({"t": "rules", "variant": TALKATIVE}))["doc"]).phrases
    if not phrases:
        raise UnofferedError(f"{TALKATIVE} on this server has no phrases")
    first, second = await visit.seats(game=TALKATIVE)
    return first, second, phrases[0]


async def _speak(seat: Seat, phrase: str) -> Map:
    return await seat.client.ask({"t": "say", "table": seat.table, "phrase": phrase})


async def _say(visit: Visit) -> None:
    """A phrase goes to everybody at the table, then comes ok."""
    first, second, phrase = await _talking(visit)
    expect_ok(await _speak(first, phrase), "ok to say")
    own = first.client.came("said")
    for said in (*own[:1], await second.client.until("said")):
        came = (said["table"], said["seat"], said["phrase"])
        expect(came == (first.table, first.seat, phrase), "the phrase, and the seat that says it", said)
    expect(own, "the phrase to its speaker too, before ok", first.client.log[-2:])


async def _say_unknown(visit: Visit) -> None:
    """A phrase that the game lacks gets illegal_action."""
    first, _, _ = await _talking(visit)
    check_refusal(await _speak(first, _NONSENSE), Code.ILLEGAL_ACTION)


async def _say_outsider(visit: Visit) -> None:
    """A player without a seat cannot say a phrase."""
    first, _, phrase = await _talking(visit)
    wanted = {"t": "say", "table": first.table, "phrase": phrase}
    await refused(await visit.player(), wanted, Code.NOT_SEATED)


async def _say_flood(visit: Visit) -> None:
    """Too many phrases get rate_limited, with a time to wait."""
    first, _, phrase = await _talking(visit)
    replies = [await _speak(first, phrase) for _ in range(AT_ONCE)]
    errors = [reply for reply in replies if reply["t"] == "error"]
    expect(errors, f"rate_limited to one of {AT_ONCE} phrases at once", replies[-1])
    check_too_soon(errors[0])


_case: Final = partial(server_case, "S3")
_SIGNS: Final = "play.md#signs-and-phrases"

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_say, _SIGNS),
    _case(_say_unknown, _SIGNS),
    _case(_say_outsider, _SIGNS),
    _case(_say_flood, "limits.md#rates"),
)
