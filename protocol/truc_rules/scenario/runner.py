"""The scenario runner: played hands in the move notation, with what must come of them.

`python -m truc_rules.scenario PATH...` runs files and folders, names every line that does not hold, and ends with
`N passed, N failed`. A line that cannot be read is a failure, never skipped.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from truc_rules.cards import CARDS_EACH, Card
from truc_rules.errors import IllegalActionError, RulesError
from truc_rules.match import apply, awaits_deal, deal, is_hand_over, next_hand
from truc_rules.positions.events import Event, HandDrawn, HandWon, PointsScored, TrickTied, TrickWon
from truc_rules.positions.match import Match
from truc_rules.scenario.checks import ASSERTIONS, SIGN, ScenarioState, read_action, try_move
from truc_rules.scenario.setup import DEALS, SETUP, read_cards, set_up
from truc_rules.scenario.text import (
    Scenario,
    ScenarioError,
    ScenarioLine,
    arguments,
    is_digits,
    read_number,
    read_text,
    scenarios,
)
from truc_rules.seats import Seat

NOTHING_GIVEN: Mapping[Seat, tuple[Card, ...]] = MappingProxyType({})
OPEN = "open"
HERE = Path()
ENDING = ".scenario"
USAGE = """\
python -m truc_rules.scenario PATH...
Run the scenarios of files, and of the files *.scenario in folders. Exit status 0 if all pass, 1 if not, 2 for usage.
"""


def run(scenario: Scenario, folder: Path = HERE) -> None:
    """Play a scenario; the paths of variant files are relative to `folder`.

    Raises:
        ScenarioError: A line does not hold or cannot be read.
    """
    match, lines = set_up(scenario, folder)
    state = ScenarioState(match, NOTHING_GIVEN, (), (0, 0), None, OPEN)
    for line in lines:
        try:
            state = _read(state, line)
        except RulesError as error:  # a move that needs a card that no line has dealt
            raise ScenarioError(line.number, str(error)) from None
    _dealt(state, scenario.title)


def _read(state: ScenarioState, line: ScenarioLine) -> ScenarioState:
    first = line.words[0]
    if first in DEALS:
        return _give(state, line)
    if first in SETUP:
        raise line.error(f"`{first}` before the first move")
    state = _dealt(state, line)
    if first in ASSERTIONS:
        ASSERTIONS[first](state, line)
        return state
    if is_digits(first):
        return _move(state, line)
    raise line.error("a move, an assertion or a deal")


def _give(state: ScenarioState, line: ScenarioLine) -> ScenarioState:
    """Note cards for the next deal; if the hand is over, this begins the next one."""
    if is_hand_over(state.match):
        try:
            match = next_hand(state.match)
        except RulesError:
            raise line.error("a match that is not won") from None
        state = ScenarioState(match, NOTHING_GIVEN, (), (0, 0), None, OPEN)
    return _turn(state, line) if line.words[0] == "turn" else _cards(state, line)


def _turn(state: ScenarioState, line: ScenarioLine) -> ScenarioState:
    variant = state.match.variant
    if not variant.turn_count:
        raise line.error(f"a variant that turns a card up, as {variant.name} does not")
    if state.turn:
        raise line.error("one line `turn` a deal")
    return state._replace(turn=read_cards(line, variant, arguments(line, "turn CARD", variant.turn_count)))


def _cards(state: ScenarioState, line: ScenarioLine) -> ScenarioState:
    match, given = state.match, state.given
    if len(line.words) < len(("deal", "SEAT", "CARD")):
        raise line.error("`deal SEAT CARD...`")
    seat = read_number(line, line.words[1])
    if seat >= match.seats or seat in given:
        raise line.error(f"a seat of 0 to {match.seats - 1}, each once a deal", str(seat))
    cards = read_cards(line, match.variant, line.words[2:])
    return state._replace(given=MappingProxyType({**given, Seat(seat): cards}))


def _dealt(state: ScenarioState, line: ScenarioLine) -> ScenarioState:
    """Deal the cards noted, if the hand waits for cards; the cards of seats without a line stay unknown."""
    match = state.match
    if not awaits_deal(match):
        return state
    each, turned = match.hand.dealt.each, match.variant.turn_count
    if len(state.turn) != turned and not match.hand.dealt.redeals:
        raise line.error("a line `turn CARD` before the first move")
    hands: list[Sequence[Card | None]] = []
    for seat in range(match.seats):
        cards = state.given.get(Seat(seat), (None,) * each)
        # lines of a deal may come before a short deal is chosen, which takes the first card of each
        if not each <= len(cards) <= CARDS_EACH:
            enough = str(each) if each == CARDS_EACH else f"{each} to {CARDS_EACH}"
            raise line.error(f"{enough} cards dealt to seat {seat}", str(len(cards)))
        hands.append(cards[:each])
    try:
        match, events = deal(match, hands, state.turn)
    except RulesError as error:
        raise ScenarioError(line.number, str(error)) from None
    return _after(state._replace(given=NOTHING_GIVEN, turn=()), match, events)


def _after(state: ScenarioState, match: Match, events: Sequence[Event]) -> ScenarioState:
    points, trick, result = list(state.points), state.trick, state.result
    for event in events:
        match event:
            case PointsScored():
                points[event.side] += event.points
            case TrickWon():
                trick = str(event.side)
            case TrickTied():
                trick = "tie"
            case HandWon():
                result = str(event.side)
            case HandDrawn():
                result = "draw"
            case _:
                pass
    return state._replace(match=match, points=(points[0], points[1]), trick=trick, result=result)


def _move(state: ScenarioState, line: ScenarioLine) -> ScenarioState:
    seat, *move = line.words
    if not move:
        raise line.error("`SEAT MOVE`")
    try:
        if move[0] == SIGN:
            try_move(state, line, seat, move)
            return state
        match, events = apply(state.match, read_action(state, line, seat, move))
    except IllegalActionError as error:
        reason = f"{error.code}: {error}{_undealt(state.match, Seat(int(seat)))}"
        raise line.error(f"a legal move `{line.text}`", reason) from None
    return _after(state, match, events)


def _undealt(match: Match, seat: Seat) -> str:
    """Say that the cards of a seat are unknown, which may be why its move was refused."""
    cards = match.hand.dealt.cards
    return (
        f"; its cards are unknown without a line `deal {seat} CARD...`"
        if seat < len(cards) and None in cards[seat]
        else ""
    )


def failures(path: Path) -> Iterator[str | None]:
    """Run every scenario of a file; yield None for one that passes, else what failed and where."""
    try:
        found = scenarios(read_text(path))
    except ScenarioError as error:
        yield f"{path}:{error.number}: {error}"
    except (OSError, UnicodeDecodeError) as error:
        yield f"{path}:1: expected a readable file in UTF-8, got {error}"
    else:
        yield from (_failure(path, scenario) for scenario in found)


def _failure(path: Path, scenario: Scenario) -> str | None:
    try:
        run(scenario, path.parent)
    except ScenarioError as error:
        return f"{path}:{error.number}: {error}"
    return None


def files(path: Path) -> tuple[Path, ...]:
    """Return the file itself, or every scenario file below the folder."""
    return tuple(sorted(path.rglob(f"*{ENDING}"))) if path.is_dir() else (path,)


def _results(path: Path) -> Iterator[str | None]:
    found = files(path)
    if not found:
        yield f"{path}: expected files that end in {ENDING}, got none"
    for file in found:
        yield from failures(file)


def main(arguments: Sequence[str]) -> int:
    """Run the scenarios of files and folders; return the exit code."""
    if {"-h", "--help"} & {*arguments}:
        sys.stdout.write(USAGE)
        return 0
    if not arguments:
        sys.stderr.write(f"expected files or folders: {USAGE}")
        return 2
    results = [result for argument in arguments for result in _results(Path(argument))]
    failed = [result for result in results if result is not None]
    for failure in failed:
        sys.stdout.write(f"{failure}\n")
    sys.stdout.write(f"{len(results) - len(failed)} passed, {len(failed)} failed\n")
    return 1 if failed else 0
