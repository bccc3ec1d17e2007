import re
from typing import get_args

import pytest

from truc_protocol.meaning import _WORD_START
from truc_protocol.words import FACTS, MOVES, move_label, move_meaning, shown_name, side_name, tell
from truc_rules import Event, Kind

PLAYERS = ("north", "east", "south", "west")


def test_every_kind_of_move_has_words() -> None:
    assert set(MOVES) == {str(kind) for kind in Kind}


@pytest.mark.parametrize("event", get_args(Event), ids=lambda event: event.__name__)
def test_every_event_is_told(event) -> None:
    what = _WORD_START.sub("_", event.__name__).lower()
    fact = {"what": what, **dict.fromkeys(event._fields, 1), "card": "7e"}
    assert tell(fact, PLAYERS)


def test_every_word_of_a_sentence_is_filled_in() -> None:
    for what, sentence in FACTS.items():
        names = re.findall(r"{(\w+)}", sentence)
        values = {name: [1] if name == "seats" else "7e" if name == "card" else 1 for name in names}
        assert "{" not in tell({"what": what, **values}, PLAYERS)


@pytest.mark.parametrize(
    ("line", "hints", "label"),
    [
        ("play 7e", {}, "play 7e"),
        ("play 7e", {"stake": 2}, "play 7e (the hand is worth 2)"),
        ("play 7e raise 2", {"stake": 2, "declined": 1}, "play 7e and ask for 2 (worth 1 if they decline)"),
        ("raise 3", {"stake": 3, "declined": 2}, "ask for 3 (worth 2 if they decline)"),
        ("raise rest", {}, "ask for the whole game"),
        ("accept", {"stake": "game"}, "accept (the hand is worth the whole game)"),
        ("decline", {"loses": 1}, "decline (they score 1)"),
        ("deal 3", {"cards": 3}, "deal 3 each"),
        ("cut", {}, "cut the pack"),
        ("show 7e 6e", {}, "show 7e 6e"),
    ],
)
def test_move_is_labelled(line, hints, label) -> None:
    assert move_label(line, hints) == label


def test_cards_are_shown_as_the_caller_wants() -> None:
    assert move_label("play 7e", {}, lambda card: f"<{card}>") == "play <7e>"


def test_fact_that_is_shown_otherwise_is_not_told() -> None:
    assert tell({"what": "state"}, PLAYERS) is None


def test_ruling_is_told_as_the_servers_word() -> None:
    fact = {"what": "ruled", "ruling": "move", "seat": 1, "kind": "play"}
    assert (
        tell(fact, PLAYERS) == "the server rules: move play for east (its word that time ran out, not proven)"
    )


def test_ruling_for_nobody_is_for_everybody() -> None:
    assert "for everybody" in tell(
        {"what": "ruled", "ruling": "abandon", "seat": None, "kind": None}, PLAYERS
    )


@pytest.mark.parametrize(
    ("ruling", "told"),
    [("pause", "the match rests, as every player has asked"), ("resume", "the match goes on")],
)
def test_pause_and_resume_are_told_without_blame(ruling, told) -> None:
    assert tell({"what": "ruled", "ruling": ruling, "seat": None, "kind": None}, PLAYERS) == told


def test_void_names_the_silent() -> None:
    assert "north and east stayed silent" in tell({"what": "deal_voided", "seats": [0, 1]}, PLAYERS)


def test_chain_of_the_server_and_of_a_seat_are_told() -> None:
    told = [tell({"what": "rekeyed", "role": role}, PLAYERS) for role in (0, 2)]
    assert told == ["the server starts a new chain", "east starts a new chain"]


def test_side_is_named_by_its_seats() -> None:
    assert side_name(1, PLAYERS) == "east and west"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("north", "north"),
        ("\x1b[31mnorth\x07", "[31mnorth"),
        ("  ", "seat 2"),
        ("", "seat 2"),
        ("x" * 60, "x" * 24),
    ],
)
def test_name_is_shown_without_what_a_terminal_obeys(name, shown) -> None:
    assert shown_name(name, 2) == shown


def test_every_move_is_explained() -> None:
    assert all(move_meaning(kind).endswith(".") for kind in MOVES)
