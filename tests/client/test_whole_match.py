"""A whole match for four at a terminal: what stands on the screen is what stands in the transcript."""

import re
from itertools import pairwise

import pytest
from client.whole_match import COLUMNS, picture, retold, seen
from rows import each_row

from truc_terminal.replay_model.annotating import Annotator

pytestmark = pytest.mark.slow

SUITS = {"o": "◉", "c": "◡", "e": "†", "b": "♣"}
SAID = {
    "card_played": "{name} plays {face}",
    "envido_called": "{name} calls ",
    "envido_accepted": "{name} accepts: ",
    "stake_asked": "{name} asks for ",
    "stake_accepted": "{name} accepts: ",
    "value_said": "{name} says {value}",
    "trick_won": "the trick goes to ",
    "hand_won": "the hand goes to ",
}


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    """Return the match, played once."""
    return seen(tmp_path_factory.mktemp("match"))


def facts(match):
    """Yield the facts of the records that are told, each with the names of who plays."""
    for each in Annotator(match.transcript.read_bytes()).records():
        for fact in each.facts:
            if fact["what"] in SAID:
                yield fact, each.names


def told(fact, names) -> str:
    """Return how a fact begins on the screen."""
    face = re.sub(r"[oceb]$", lambda suit: SUITS[suit[0]], str(fact.get("card")))
    name = names[fact["seat"]] if "seat" in fact else ""
    return SAID[fact["what"]].format(name=name, face=face, value=fact.get("value"))


def test_every_fact_of_the_records_is_told_once_and_in_order(match) -> None:
    expected = [told(*each) for each in facts(match)]
    said = re.compile(r"  (\w+ (plays|calls|accepts:|asks for|says) |the (trick|hand) goes to )")
    lines = [line.strip() for line in match.lines if said.match(line)]
    assert len(lines) == len(expected)
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=True)] == expected


def test_every_line_is_one_that_the_transcript_makes_and_fits_the_terminal(match) -> None:
    expected = retold(match)
    assert max(map(len, expected)) <= COLUMNS
    assert match.lines == expected


def test_envido_is_bet_and_answered_by_person_and_by_bots(match) -> None:
    said = [(fact["what"], names[fact["seat"]]) for fact, names in facts(match) if "envido" in fact["what"]]
    met = {(who, other) for (what, who), (_, other) in pairwise(said) if what == "envido_called"}
    assert {("north", "east"), ("west", "north")} <= met


def test_terminal_is_left_as_it_was(match) -> None:
    assert (match.status, match.is_restored) == (0, True)


@each_row("moment", ["hand", "asked", "over"])
def test_moment_looks_as_it_is_pictured(match, moment) -> None:
    # made anew by `python -m client.whole_match`
    assert match.moments[moment] == picture(moment).read_text()
