"""The lines before the first move: they make the match that a scenario begins with."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from truc_rules.cards import Card
from truc_rules.errors import RulesError, nearest_hint
from truc_rules.match import new_match
from truc_rules.positions.match import Match, Score
from truc_rules.scenario.text import (
    Scenario,
    ScenarioError,
    ScenarioLine,
    arguments,
    is_digits,
    read_number,
    read_text,
)
from truc_rules.seats import Seat
from truc_rules.variants.house import variant_from_toml
from truc_rules.variants.options import with_options
from truc_rules.variants.presets import preset, presets
from truc_rules.variants.variant import Variant

VARIANT_FILE = ".toml"
SETUP = ("variant", "seats", "dealer", "rule")
DEALS = ("deal", "turn")


class PreparedMatch(NamedTuple):
    """A match and the lines that are left of its scenario."""

    match: Match
    lines: tuple[ScenarioLine, ...]


def set_up(scenario: Scenario, folder: Path) -> PreparedMatch:
    """Make the match of a scenario; deals and assertions before the first move stay in its lines.

    The paths of variant files are relative to `folder`.

    Raises:
        ScenarioError: A line cannot be read, or the variant, an option or the score does not exist.
    """
    lines = scenario.lines
    moves = (place for place, line in enumerate(lines) if is_digits(line.words[0]))
    before = lines[: next(moves, len(lines))]
    score = next((line for line in before if line.words[0] == "score"), None)
    head = tuple(line for line in before if line.words[0] in SETUP or line is score)
    variant = _variant(scenario.title, head, folder)
    match = _match(head, variant)
    return PreparedMatch(match, tuple(line for line in lines if line not in head))


def _only(head: Sequence[ScenarioLine], word: str) -> ScenarioLine | None:
    found = [line for line in head if line.words[0] == word]
    if len(found) > 1:
        raise found[1].error(f"one line `{word}`")
    return found[0] if found else None


def _variant(title: ScenarioLine, head: Sequence[ScenarioLine], folder: Path) -> Variant:
    line = _only(head, "variant")
    if line is None:
        raise title.error("a line `variant NAME` or `variant FILE.toml` under the title")
    (name,) = arguments(line, "variant NAME` or `variant FILE.toml", 1)
    variant = _file(line, folder, name) if name.endswith(VARIANT_FILE) else _preset(line, name)
    for rule in head:
        if rule.words[0] == "rule":
            variant = _with_rule(variant, rule)
    return variant


def _preset(line: ScenarioLine, name: str) -> Variant:
    if name in presets():
        return preset(name)
    raise line.error("the name of a preset, or a FILE.toml", f"{name}{nearest_hint(name, presets())}")


def _file(line: ScenarioLine, folder: Path, name: str) -> Variant:
    try:
        return variant_from_toml(read_text(folder / name), name)
    except (OSError, UnicodeDecodeError) as error:
        raise line.error(f"{name} as a readable file in UTF-8", str(error)) from None
    except RulesError as error:
        raise ScenarioError(line.number, str(error)) from None


def _with_rule(variant: Variant, line: ScenarioLine) -> Variant:
    name, value = arguments(line, "rule NAME VALUE", 2)
    try:
        return with_options(variant, {name: read_number(line, value) if is_digits(value) else value})
    except RulesError as error:
        raise ScenarioError(line.number, str(error)) from None


def _match(head: Sequence[ScenarioLine], variant: Variant) -> Match:
    seats = _seats(head, variant)
    dealer = _dealer(head, seats)
    line = _only(head, "score")
    if line is None:
        return new_match(variant, seats=seats, dealer=dealer)
    try:
        return new_match(variant, seats=seats, dealer=dealer, score=read_score(line, variant))
    except RulesError:
        raise line.error(f"a score at which a game to {variant.scoring.target} goes on") from None


def _seats(head: Sequence[ScenarioLine], variant: Variant) -> int:
    line = _only(head, "seats")
    if line is None:
        return variant.players[0]
    (word,) = arguments(line, "seats N", 1)
    if read_number(line, word) not in variant.players:
        raise line.error(f"{' or '.join(map(str, variant.players))} seats for {variant.name}", word)
    return read_number(line, word)


def _dealer(head: Sequence[ScenarioLine], seats: int) -> Seat:
    line = _only(head, "dealer")
    if line is None:
        # then seat 0 is eldest, and leads
        return Seat(seats - 1)
    (word,) = arguments(line, "dealer SEAT", 1)
    if read_number(line, word) >= seats:
        raise line.error(f"a dealer of 0 to {seats - 1}", word)
    return Seat(read_number(line, word))


def read_score(line: ScenarioLine, variant: Variant) -> tuple[Score, Score]:
    """Read `score 9 4`, or `score 2+2 3+1` where points make units."""
    ours, theirs = arguments(line, "score SIDE-0 SIDE-1", 2)
    return _score(line, ours, variant), _score(line, theirs, variant)


def _score(line: ScenarioLine, word: str, variant: Variant) -> Score:
    units, plus, points = word.partition("+")
    if not (plus and variant.scoring.points_per_unit):  # no unit is complete, or the game has no units
        return Score(0, read_number(line, word))
    return Score(read_number(line, units), read_number(line, points))


def read_cards(line: ScenarioLine, variant: Variant, names: Sequence[str]) -> tuple[Card, ...]:
    """Read names of cards of the pack, none of them twice."""
    for place, name in enumerate(names):
        if name not in variant.pack:
            raise line.error(f"cards of the pack of {variant.name}", name)
        if name in names[:place]:
            raise line.error("every card once", f"{name} twice")
    return tuple(Card(variant.pack.index(name)) for name in names)
