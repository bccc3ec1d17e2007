"""What a player's screen says of seats that are waited for and of those who step in."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from truc_client import MatchStarted, RecordSeen, Substituted, Waiting
from truc_protocol.messages import SeatState, TableState
from truc_terminal.commands.tables import table_line
from truc_terminal.screen.screen import Screen
from truc_words import LANGUAGES

STARTED = MatchStarted(b"m" * 32, "truc-french", ("As", "Kc"), ("north", "east"), 1, "A", Path("x.truc"))
PLAYED = RecordSeen(9, "act", ({"what": "card_played", "seat": 0, "card": "As"},))


def shown(*happenings, lang: str = "en") -> str:
    screen = Screen(Console(file=io.StringIO(), width=200, highlight=False), lang)
    for happening in (STARTED, *happenings):
        screen.show(happening)
    return screen._console.file.getvalue()


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("decision", "waiting for north"),
        ("rekey", "waiting for a new chain of north"),
        ("sub", "waiting for somebody to step in for north"),
    ],
)
def test_what_is_waited_for_is_said(what, said) -> None:
    assert said in shown(Waiting((0,), None, what))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_wait_for_a_substitute_differs_from_that_for_a_decision_in_every_language(lang) -> None:
    assert shown(Waiting((0,), None, "sub"), lang=lang) != shown(Waiting((0,), None), lang=lang)


def test_substitute_is_called_by_its_name_from_then_on() -> None:
    assert "south" in shown(Substituted(0, "south"), PLAYED).splitlines()[-1]


def test_name_of_a_substitute_is_never_markup_or_control() -> None:
    told = shown(Substituted(0, "[bold]so\x1b[2Juth"))
    assert "[bold]so[2Juth plays there from now on" in told


def state(*, vacant: bool) -> TableState:
    seats = (
        SeatState(seat=0, kind="key", name="north", vacant=vacant),
        SeatState(seat=1, kind="key", name="east"),
    )
    return TableState(
        table="K7PQ", variant="truc-french", rules=b"r" * 32, seats=seats, n=2, state="playing", private=False,
        options={}, opts=(), policy="hand",
    )  # fmt: skip


@pytest.mark.parametrize("vacant", [True, False])
def test_table_is_marked_where_a_substitute_is_wanted(vacant) -> None:
    assert table_line(state(vacant=vacant)).endswith("substitute wanted") is vacant
