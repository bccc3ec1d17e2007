"""The lines before the first move: they make the match that a scenario begins with."""

from collections.abc import Sequence
from typing import NamedTuple

from .cards import Card
from .errors import RulesError
from .match import new_match
from .options import with_options
from .presets import preset
from .scenario_text import Line, Scenario, ScenarioError, number, words
from .seats import Seat
from .table import Match, Score
from .variant import Variant

SETUP = ("variant", "seats", "dealer", "rule")
DEALS = ("deal", "turn")


class Setup(NamedTuple):
    """A match and what is left of its scenario."""

    match: Match
    lines: tuple[Line, ...]


def set_up(scenario: Scenario) -> Setup:
    """Make the match of a scenario; deals and assertions before the first move stay in its lines.

    Raises:
        ScenarioError: A line cannot be read, or the variant, an option or the score does not exist.
    """
    lines = scenario.lines
    moves = (place for place, line in enumerate(lines) if line.words[0].isdecimal())
    before = lines[: next(moves, len(lines))]
    score = next((line for line in before if line.words[0] == "score"), None)
    head = tuple(line for line in before if line.words[0] in SETUP or line is score)
    variant = _variant(scenario.title, head)
    match = _match(scenario.title, head, variant)
    return Setup(match, tuple(line for line in lines if line not in head))


def _only(head: Sequence[Line], word: str) -> Line | None:
    found = [line for line in head if line.words[0] == word]
    if len(found) > 1:
        raise found[1].error(f"one line `{word}`")
    return found[0] if found else None


def _variant(title: Line, head: Sequence[Line]) -> Variant:
    line = _only(head, "variant")
    if line is None:
        raise title.error("a line `variant NAME` under the title")
    (name,) = words(line, "variant NAME", 1)
    try:
        variant = preset(name)
    except RulesError as error:
        raise ScenarioError(line.number, str(error)) from None
    for rule in head:
        if rule.words[0] == "rule":
            variant = _with_rule(variant, rule)
    return variant


def _with_rule(variant: Variant, line: Line) -> Variant:
    name, value = words(line, "rule NAME VALUE", 2)
    try:
        return with_options(variant, {name: int(value) if value.isascii() and value.isdigit() else value})
    except RulesError as error:
        raise ScenarioError(line.number, str(error)) from None


def _match(title: Line, head: Sequence[Line], variant: Variant) -> Match:
    at = title
    seats, dealer, score = variant.players[0], None, None
    if line := _only(head, "seats"):
        at, seats = line, number(line, words(line, "seats N", 1)[0])
    if line := _only(head, "dealer"):
        at, dealer = line, number(line, words(line, "dealer SEAT", 1)[0])
    if line := _only(head, "score"):
        at, score = line, read_score(line)
    try:
        return new_match(
            variant,
            seats=seats,
            dealer=Seat(seats - 1 if dealer is None else dealer),
            score=score or (Score(0, 0), Score(0, 0)),
        )
    except RulesError as error:
        raise ScenarioError(at.number, str(error)) from None


def read_score(line: Line) -> tuple[Score, Score]:
    """Read `score 9 4`, or `score 2+2 3+1` where the score has two units."""
    ours, theirs = words(line, "score SIDE-0 SIDE-1", 2)
    return _score(line, ours), _score(line, theirs)


def _score(line: Line, word: str) -> Score:
    upper, plus, points = word.rpartition("+")
    return Score(number(line, upper) if plus else 0, number(line, points))


def read_cards(line: Line, variant: Variant, names: Sequence[str]) -> tuple[Card, ...]:
    """Read the names of cards of the pack, none of them twice."""
    for place, name in enumerate(names):
        if name not in variant.pack:
            raise line.error(f"cards of the pack of {variant.name}", name)
        if name in names[:place]:
            raise line.error("every card once", f"{name} twice")
    return tuple(Card(variant.pack.index(name)) for name in names)
