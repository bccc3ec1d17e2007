"""What the screen shows of pauses: who asks, that the match rests, and what to type."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from truc_client import MatchStarted, RecordSeen
from truc_client.happenings import Recalled
from truc_terminal.screen.screen import Screen
from truc_words import LANGUAGES

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
    out = io.StringIO()
    screen = Screen(Console(file=out, width=200, color_system=None), lang)
    screen.show(MatchStarted(b"m" * 32, "truc-french", ("As", "Kc"), ("north", "east"), seat, "A", Path("x")))
    if before:
        screen.show(Recalled(tuple(fact for means in before for fact in means)))
    for k, means in enumerate(records):
        screen.show(RecordSeen(k, "act", means))
    return out.getvalue()


def test_asking_of_another_seat_is_told_with_what_to_type() -> None:
    told = shown(asks(1))
    assert "east asks for a pause" in told
    assert AGREE in told


def test_asking_that_was_missed_is_told_on_coming_back_with_what_to_type() -> None:
    assert shown(before=[asks(1)]).count(AGREE) == 1
    assert AGREE not in shown(before=[asks(1), asks(0)])
    assert AGREE not in shown(before=[asks(1), CLOSED])


def test_own_asking_needs_no_agreement() -> None:
    told = shown(asks(0))
    assert "north asks for a pause" in told
    assert AGREE not in told


def test_who_has_asked_is_not_told_to_agree() -> None:
    assert AGREE not in shown(asks(0), asks(1))


def test_who_has_asked_in_an_earlier_hand_is_told_to_agree() -> None:
    assert AGREE in shown(asks(0), CLOSED, asks(1))


def test_who_watches_is_not_told_to_agree() -> None:
    told = shown(asks(1), RESTS, seat=None)
    assert "the match rests" in told
    assert AGREE not in told
    assert RESUME not in told


def test_rest_is_told_with_what_to_type() -> None:
    told = shown(asks(0), asks(1), RESTS)
    assert "the match rests, as every player has asked" in told
    assert told.count(RESUME) == 1


def test_asking_of_another_seat_to_go_on_is_told_with_what_to_type() -> None:
    told = shown(RESTS, asks(1, "resume"))
    assert "east asks to go on" in told
    assert told.count(RESUME) == 2


def test_who_has_asked_to_go_on_is_told_no_more() -> None:
    assert shown(RESTS, asks(0, "resume"), asks(1, "resume"), GOES_ON).count(RESUME) == 1


def test_who_comes_back_to_a_match_that_rests_is_told_so() -> None:
    assert RESUME in shown(before=(asks(0), asks(1), RESTS))


def test_who_comes_back_after_a_pause_is_told_nothing_of_it() -> None:
    assert RESUME not in shown(before=(asks(0), asks(1), RESTS, GOES_ON))


@pytest.mark.parametrize("lang", sorted(LANGUAGES))
def test_what_to_type_is_told_in_every_language(lang) -> None:
    told = shown(asks(1), asks(0), RESTS, lang=lang).splitlines()
    hints = [line for line in told if "pause" in line.split(".")[0] or "resume" in line.split(".")[0]]
    assert any("pause." in line for line in hints)
    assert any("resume." in line for line in hints)
