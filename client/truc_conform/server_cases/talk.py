"""Cases S3: phrases, which a seat says to the whole table beside the game."""

from typing import Final

from truc_conform.expectations import Map, UnofferedError, check_refusal, check_too_soon, expect, expect_ok
from truc_conform.raw_seat import RawSeat
from truc_conform.server_visit import ServerVisit, case
from truc_protocol.documents import read_document
from truc_protocol.errors import Code

TALKATIVE: Final = "truco-argentino"
# Above the 5 that this server allows at once (limits.md, "Rates").
AT_ONCE: Final = 12
_NONSENSE: Final = "no-such-phrase"
_SIGNS: Final = "play.md#signs-and-phrases"


async def _talking(visit: ServerVisit) -> tuple[RawSeat, RawSeat, str]:
    """Return two players at a table of a game with phrases, and the first of its phrases."""
    client = await visit.player()
    client.need_game(TALKATIVE)
    phrases = read_document((await client.ask({"t": "rules", "variant": TALKATIVE}))["doc"]).phrases
    if not phrases:
        raise UnofferedError(f"{TALKATIVE} on this server has no phrases")
    first, second = await visit.seats(game=TALKATIVE)
    return first, second, phrases[0]


async def _speak(seat: RawSeat, phrase: str) -> Map:
    return await seat.client.ask({"t": "say", "table": seat.table, "phrase": phrase})


@case("S3.say", _SIGNS)
async def _say(visit: ServerVisit) -> None:
    """A phrase goes to everybody at the table, then comes ok."""
    first, second, phrase = await _talking(visit)
    expect_ok(await _speak(first, phrase), "ok to say")
    own = first.client.came("said")
    for said in (*own[:1], await second.client.until("said")):
        came = (said["table"], said["seat"], said["phrase"])
        expect(came == (first.table, first.seat, phrase), "the phrase, and the seat that says it", said)
    # play.md, "Signs and phrases": `said` to everybody at the table, then `ok`.
    expect(own, "the phrase to its speaker too, before ok", first.client.log[-2:])


@case("S3.say-unknown", _SIGNS)
async def _say_unknown(visit: ServerVisit) -> None:
    """A phrase that the game lacks gets illegal_action."""
    first, _, _ = await _talking(visit)
    check_refusal(await _speak(first, _NONSENSE), Code.ILLEGAL_ACTION)


@case("S3.say-outsider", _SIGNS)
async def _say_outsider(visit: ServerVisit) -> None:
    """A player without a seat cannot say a phrase."""
    first, _, phrase = await _talking(visit)
    wanted = {"t": "say", "table": first.table, "phrase": phrase}
    await visit.stranger_refused(wanted, Code.NOT_SEATED)


@case("S3.say-flood", "limits.md#rates")
async def _say_flood(visit: ServerVisit) -> None:
    """Too many phrases get rate_limited, with a time to wait."""
    first, _, phrase = await _talking(visit)
    replies = [await _speak(first, phrase) for _ in range(AT_ONCE)]
    errors = [reply for reply in replies if reply["t"] == "error"]
    expect(errors, f"rate_limited to one of {AT_ONCE} phrases at once", replies[-1])
    check_too_soon(errors[0])
