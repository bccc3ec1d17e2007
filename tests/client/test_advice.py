"""What a player is advised: by sharp, in a thread, from what the player sees."""

from math import inf
from types import SimpleNamespace

from client.faked import turn
from rules.played import dealt, options

from truc_bots import Effort
from truc_terminal.styles import sharp_advice

QUICK = Effort(32, inf)
OWN = "2e 3c 11b"


def table(match, seat: int | None = 0) -> SimpleNamespace:
    return SimpleNamespace(match=SimpleNamespace(ledger=SimpleNamespace(match=match)), seat=seat)


async def test_options_of_the_turn_are_compared() -> None:
    match = dealt("truco-argentino", OWN, "5o 7o 4c")
    asked = turn("dance", *options(match, 0))
    advice = await sharp_advice(table(match), asked, QUICK)
    assert advice.turn is asked
    assert [choice in asked.options[1:] for choice, _ in advice.compared] == [True, True]


async def test_same_turn_is_advised_the_same_whatever_others_hold() -> None:
    told = []
    for others in ("5o 7o 4c", "5o 7o 4c", "1e 1b 7e"):
        match = dealt("truco-argentino", OWN, others)
        told.append((await sharp_advice(table(match), turn(*options(match, 0)), QUICK)).compared)
    assert told[0] == told[1] == told[2]


async def test_who_has_no_seat_and_a_guest_are_not_advised() -> None:
    match = dealt("truco-argentino", OWN, "5o 7o 4c")
    for at in (table(match, None), table(None), SimpleNamespace(match=None, seat=0)):
        assert (await sharp_advice(at, turn(*options(match, 0)), QUICK)).compared == ()
