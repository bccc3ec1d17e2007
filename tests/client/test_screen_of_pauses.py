"""What the screen shows of pauses: who asks, that the match rests, and what to type."""

import re

from client.viewed import screen_of, started
from rows import each_row

from truc_client import RecordSeen
from truc_client.happenings import MatchContinued
from truc_words import LANGUAGES, catalogue

STATE = {"what": "state", "phase": "hand", "score": [[0, 0, 0], [0, 0, 0]]}
RESTS = ({"what": "ruled", "ruling": "pause"}, {**STATE, "paused": True})
GOES_ON = ({"what": "ruled", "ruling": "resume"}, STATE)
CLOSED = ({"what": "hand_closed", "j": 1}, STATE)
AGREE = "To agree, type: pause."
RESUME = "To go on, type: resume."


def asks(seat: int, what: str = "pause") -> tuple:
    return ({"what": f"{what}_asked", "seat": seat}, {**STATE, "paused": what == "resume"})


def shown(*records, seat: int | None = 0, lang: str = "en", before=()) -> str:
    """Return what the screen of a seat prints."""
    screen, out = screen_of(lang)
    screen.show(started("truc-french", seat=seat))
    if before:
        screen.show(MatchContinued(tuple(fact for means in before for fact in means)))
    for k, means in enumerate(records):
        screen.show(RecordSeen(k, "act", means))
    return out.getvalue()


@each_row(
    "records, seat, before, told, hints",
    [
        ((asks(1),), 0, (), "east asks for a pause", (1, 0)),
        ((asks(0),), 0, (), "north asks for a pause", (0, 0)),  # which needs no agreement
        ((asks(0), asks(1)), 0, (), "", (0, 0)),
        ((asks(0), CLOSED, asks(1)), 0, (), "", (1, 0)),  # who asked in an earlier hand may agree in this one
        ((asks(1), RESTS), None, (), "the match rests", (0, 0)),  # to who watches
        ((asks(0), asks(1), RESTS), 0, (), "the match rests, as every player has asked", (0, 1)),
        ((RESTS, asks(1, "resume")), 0, (), "east asks to go on", (0, 2)),
        ((RESTS, asks(0, "resume"), asks(1, "resume"), GOES_ON), 0, (), "", (0, 1)),
        # on coming back
        ((), 0, (asks(1),), "", (1, 0)),
        ((), 0, (asks(1), asks(0)), "", (0, 0)),
        ((), 0, (asks(1), CLOSED), "", (0, 0)),
        ((), 0, (asks(0), asks(1), RESTS), "", (0, 1)),
        ((), 0, (asks(0), asks(1), RESTS, GOES_ON), "", (0, 0)),
    ],
)
def test_asking_and_rest_are_told_with_what_to_type_to_whom_it_helps(records, seat, before, told, hints):
    screen = shown(*records, seat=seat, before=before)
    assert told in screen
    assert (screen.count(AGREE), screen.count(RESUME)) == hints


@each_row("lang", sorted(LANGUAGES))
def test_what_to_type_is_told_in_every_language(lang) -> None:
    told = shown(asks(1), asks(0), RESTS, lang=lang).splitlines()
    typed = catalogue(lang).typed
    for command in ("pause", "resume"):
        assert any(re.search(rf": {typed[command]}\.", line) for line in told)
