import io
from pathlib import Path

import pytest
from rich.console import Console

from truc_client import (
    CardsDealt,
    Choice,
    Interrupted,
    MatchStarted,
    RecordSeen,
    TableClosed,
    Waiting,
    YourTurn,
)
from truc_client.board import Board, Laid, after, with_cards
from truc_client.faces import faces_of, short
from truc_client.person import find_choice
from truc_client.screen import Screen

SPANISH = ("1o", "7e", "3b", "2c")
FRENCH = ("As", "Kc")
TURN = YourTurn(
    9,
    8,
    (
        Choice("play 7e", "play", {}),
        Choice("raise 2", "raise", {"stake": 2, "declined": 1}),
        Choice("cut", "cut", {}),
    ),
    True,
    30_000,
)
STATE = {
    "what": "state",
    "phase": "hand",
    "score": [[0, 0, 3], [1, 0, 5]],
    "dealer": 1,
    "stake": 2,
    "tricks": [0],
}


def shown(*happenings, terminal: bool = False, players=("north", "east")) -> str:
    """Return what a screen prints."""
    out = io.StringIO()
    screen = Screen(Console(file=out, force_terminal=terminal, width=100, highlight=False, color_system=None))
    screen.show(MatchStarted(b"m" * 32, "truc-catalan", SPANISH, players, 0, "A", Path("x.truc")))
    for happening in happenings:
        screen.show(happening)
    return out.getvalue()


def seen(*facts) -> RecordSeen:
    return RecordSeen(8, "act", facts)


def test_level_is_said_at_the_start() -> None:
    assert "assurance level A: every player has a key of their own" in shown()


def test_options_are_numbered_with_their_move_lines() -> None:
    told = shown(TURN)
    assert "1. play 7e  [play 7e]" in told
    assert "2. ask for 2 (worth 1 if they decline)  [raise 2]" in told


def test_terminal_shows_suits_as_symbols() -> None:
    assert "play 7†" in shown(TURN, terminal=True)


def test_own_cards_score_and_stake_stand_on_the_table() -> None:
    told = shown(CardsDealt(("7e", "3b", "1o")), seen(STATE), TURN)
    assert "cards   7e  3b  1o" in told
    assert "score   north 3, east 5, games 1" in told
    assert "stake   2" in told


def test_played_card_leaves_the_own_cards() -> None:
    told = shown(CardsDealt(("7e", "3b")), seen({"what": "card_played", "seat": 0, "card": "7e"}), TURN)
    assert "cards   3b" in told
    assert "table   north 7e" in told


def test_commitments_are_shown_at_the_deal_and_ticked_when_opened() -> None:
    committed = {"what": "hands_committed", "digests": [b"\xaa" * 32, b"\xbb" * 32]}
    opened = {"what": "hands_opened", "cards": [["7e"], ["3b"]]}
    told = shown(seen(committed), seen(opened))
    assert "north aaaaaaaa  east bbbbbbbb" in told
    assert "ok north aaaaaaaa: 7e" in told


def test_name_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in shown(players=("\x1b[2Jnorth", "[bold]east"))


def test_markup_in_a_name_is_text() -> None:
    assert "[bold]east" in shown(Waiting((1,), None), players=("north", "[bold]east"))


@pytest.mark.parametrize(
    ("happening", "said"),
    [
        (Waiting((1,), None), "waiting for east"),
        (Interrupted("the connection was lost"), "your seat is kept"),
        (TableClosed("expired"), "the table is closed: expired"),
        (TURN._replace(again=True), "Somebody was faster"),
        (seen({"what": "stake_asked", "seat": 1, "stake": 2}), "east asks for 2"),
        (seen({"what": "deal_voided", "seats": [1]}), "not proven"),
    ],
)
def test_happening_is_told(happening, said) -> None:
    assert said in shown(happening)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", ("play 7e", None)),
        ("play 7e", ("play 7e", None)),
        ("raise   2", ("raise 2", None)),
        ("cut 12", ("cut", 12)),
        ("cut", ("cut", None)),
        ("0", (None, None)),
        ("4", (None, None)),
        ("play 9z", (None, None)),
    ],
)
def test_line_typed_finds_its_option(text, expected) -> None:
    choice, place = find_choice(TURN, text)
    assert (choice and choice.line, place) == expected


def test_board_forgets_the_trick_when_it_is_taken() -> None:
    board = Board(2, 0, laid=(Laid(0, "7e"),))
    assert after(board, {"what": "trick_won", "side": 0, "leader": 0}).laid == ()


def test_other_seats_card_does_not_leave_the_own_cards() -> None:
    board = with_cards(Board(2, 0), ("7e",))
    assert after(board, {"what": "card_played", "seat": 1, "card": "7e"}).cards == ("7e",)


def test_clubs_and_cups_are_told_apart_by_the_pack() -> None:
    faces = [faces_of(pack, is_plain=False) for pack in (SPANISH, FRENCH)]
    assert [face.card("2c") for face in faces] == ["2◡", "2♣"]


def test_digest_is_shown_short() -> None:
    assert short(bytes(range(32))) == "00010203"


def test_text_of_a_server_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in shown(Interrupted("\x1b[2Jgone"), TableClosed("\x1b]0;title\x07"))
