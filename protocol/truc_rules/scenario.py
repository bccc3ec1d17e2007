"""The scenario runner: played hands in the move notation, with what must come of them.

`python -m truc_rules.scenario PATH...` runs files and folders, names every line that does not hold, and ends with
`N passed, N failed`. A line that cannot be read is a failure and never skipped.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, get_args

from .actions import Action, Kind
from .cards import Card
from .errors import IllegalActionError, MoveError, Refusal, RulesError
from .events import Event, PointsScored, TrickTied, TrickWon
from .match import apply, awaits_deal, deal, deciders, hand_over, legal, next_hand
from .moves import move_line, parse_move
from .scenario_setup import DEALS, SETUP, read_cards, read_score, set_up
from .scenario_text import Line, Scenario, ScenarioError, number, scenarios, words
from .seats import Seat, Side
from .table import Match
from .variant import CARDS_EACH

CODES = get_args(Refusal)
NOTHING = "-"
_UNLISTED = (Kind.ORDER, Kind.SHOW)


class Stage(NamedTuple):
    """How far a scenario has come."""

    match: Match
    given: Mapping[Seat, tuple[Card, ...]]
    """The cards of the next deal."""
    points: tuple[int, int]
    """What this hand has given."""
    trick: str | None
    """What came of the newest trick, in the words of a scenario."""


def run(scenario: Scenario) -> None:
    """Play a scenario.

    Raises:
        ScenarioError: A line does not hold or cannot be read.
    """
    match, lines = set_up(scenario)
    stage = Stage(match, MappingProxyType({}), (0, 0), None)
    for line in lines:
        stage = _read(stage, line)
    _dealt(stage, scenario.title)


def _read(stage: Stage, line: Line) -> Stage:
    first = line.words[0]
    if first in DEALS:
        return _give(stage, line)
    if first in SETUP:
        raise line.error(f"`{first}` before the first move")
    stage = _dealt(stage, line)
    if first in _ASSERTIONS:
        _ASSERTIONS[first](stage, line)
        return stage
    if first.isascii() and first.isdigit():
        return _move(stage, line)
    raise line.error("a move, an assertion or a deal")


def _give(stage: Stage, line: Line) -> Stage:
    """Note cards for the next deal; after a hand that is over this begins the next hand."""
    match, given, points, trick = stage
    if hand_over(match):
        try:
            match, given, points, trick = next_hand(match), MappingProxyType({}), (0, 0), None
        except RulesError:
            raise line.error("a match that is not won") from None
    if line.words[0] == "turn":
        raise line.error(f"a variant that turns a card up, as {match.variant.name} does not")
    if len(line.words) < len(("deal", "SEAT", "CARD")):
        raise line.error("`deal SEAT CARD...`")
    seat = number(line, line.words[1])
    if seat >= match.seats or seat in given:
        raise line.error(f"a seat of 0 to {match.seats - 1}, each once a deal", str(seat))
    cards = read_cards(line, match.variant, line.words[2:])
    return Stage(match, MappingProxyType({**given, Seat(seat): cards}), points, trick)


def _dealt(stage: Stage, line: Line) -> Stage:
    """Deal the cards noted, if the hand waits for cards; those of seats without a line stay unknown."""
    match = stage.match
    if not awaits_deal(match):
        return stage
    each = match.hand.dealt.each
    hands: list[Sequence[Card | None]] = []
    for seat in range(match.seats):
        cards = stage.given.get(Seat(seat), (None,) * each)
        if not each <= len(cards) <= CARDS_EACH:
            raise line.error(f"{each} to {CARDS_EACH} cards dealt to seat {seat}", str(len(cards)))
        hands.append(cards[:each])
    try:
        match, events = deal(match, hands)
    except RulesError as error:
        raise ScenarioError(line.number, str(error)) from None
    return _after(Stage(match, MappingProxyType({}), stage.points, stage.trick), match, events)


def _after(stage: Stage, match: Match, events: Sequence[Event]) -> Stage:
    points, trick = list(stage.points), stage.trick
    for event in events:
        match event:
            case PointsScored():
                points[event.side] += event.points
            case TrickWon():
                trick = str(event.side)
            case TrickTied():
                trick = "tie"
            case _:
                pass
    return Stage(match, stage.given, (points[0], points[1]), trick)


def _action(stage: Stage, line: Line, seat: str, move: Sequence[str]) -> Action:
    if move[:1] == ("sign",):
        raise line.error(f"a variant with signs, as {stage.match.variant.name} is not")
    try:
        return parse_move(stage.match.variant, Seat(number(line, seat)), " ".join(move))
    except MoveError as error:
        raise ScenarioError(line.number, str(error)) from None


def _move(stage: Stage, line: Line) -> Stage:
    action = _action(stage, line, line.words[0], line.words[1:])
    try:
        match, events = apply(stage.match, action)
    except IllegalActionError as error:
        raise line.error(f"a legal move `{line.text}`", f"{error.code}: {error}") from None
    return _after(stage, match, events)


def _is_refused(stage: Stage, line: Line) -> None:
    if len(line.words) < len(("!", "SEAT", "MOVE")):
        raise line.error("`! SEAT MOVE`, and perhaps an error code")
    *move, last = line.words[2:]
    code = last if move and last in CODES else None
    action = _action(stage, line, line.words[1], line.words[2:] if code is None else tuple(move))
    try:
        apply(stage.match, action)
    except IllegalActionError as error:
        if code not in (None, error.code):
            raise line.error(f"the code {code}", f"{error.code}: {error}") from None
        return
    raise line.error("a refusal", f"`{' '.join(line.words[1:])}` taken")


def _are_options(stage: Stage, line: Line) -> None:
    if len(line.words) < len(("?", "SEAT", "MOVE")):
        raise line.error("`? SEAT MOVE; MOVE ...`, or `? SEAT -`")
    variant, seat = stage.match.variant, number(line, line.words[1])
    listed = " ".join(line.words[2:])
    moves = [] if listed == NOTHING else listed.split(";")
    wanted = {move_line(variant, _action(stage, line, line.words[1], tuple(move.split()))) for move in moves}
    found = {
        move_line(variant, action)
        for action in legal(stage.match, Seat(seat))
        if action.kind not in _UNLISTED
    }
    _same(line, "; ".join(sorted(wanted)) or NOTHING, "; ".join(sorted(found)) or NOTHING)


def _same(line: Line, expected: object, got: object) -> None:
    if expected != got:
        raise line.error(str(expected), str(got))


def _is_next(stage: Stage, line: Line) -> None:
    seats = [] if line.words[1:] == (NOTHING,) else [number(line, word) for word in line.words[1:]]
    if len(line.words) == 1:
        raise line.error("`next SEAT...`, or `next -`")
    waiting = " ".join(str(seat) for seat in sorted(deciders(stage.match)))
    _same(line, f"next {' '.join(map(str, sorted(seats))) or NOTHING}", f"next {waiting or NOTHING}")


def _is_trick(stage: Stage, line: Line) -> None:
    _same(line, _one_of(line, ("0", "1", "tie")), stage.trick or "no trick yet")


def _one_of(line: Line, allowed: Sequence[str]) -> str:
    (word,) = words(line, f"{line.words[0]} {'|'.join(allowed)}", 1)
    if word not in allowed:
        raise line.error(" or ".join(allowed), word)
    return word


def _is_stake(stage: Stage, line: Line) -> None:
    bets = stage.match.hand.bets
    (word,) = words(line, "stake N", 1)
    if word != "game":
        number(line, word)
    _same(line, f"stake {word}", "stake game" if bets.locked else f"stake {bets.stake}")


def _is_hand(stage: Stage, line: Line) -> None:
    wanted = _one_of(line, ("0", "1", "draw", "open"))
    winner = stage.match.hand.winner
    done = "draw" if winner is None else str(winner)
    _same(line, f"hand {wanted}", f"hand {done if hand_over(stage.match) else 'open'}")


def _is_points(stage: Stage, line: Line) -> None:
    ours, theirs = words(line, "points SIDE-0 SIDE-1", 2)
    _same(
        line,
        f"points {number(line, ours)} {number(line, theirs)}",
        f"points {stage.points[0]} {stage.points[1]}",
    )


def _is_score(stage: Stage, line: Line) -> None:
    wanted, score = read_score(line), stage.match.score
    got = " ".join(f"{side.upper}+{side.points}" if side.upper else str(side.points) for side in score)
    if wanted != score:
        raise line.error(line.text, f"score {got}")


def _is_game(stage: Stage, line: Line) -> None:
    _is_won(line, stage.match.game_winner)


def _is_match(stage: Stage, line: Line) -> None:
    _is_won(line, stage.match.winner)


def _is_won(line: Line, winner: Side | None) -> None:
    wanted = _one_of(line, ("0", "1", "open"))
    _same(line, f"{line.words[0]} {wanted}", f"{line.words[0]} {'open' if winner is None else winner}")


def _is_shown(stage: Stage, line: Line) -> None:
    match = stage.match
    if match.variant.reveal != "match":
        raise line.error("`rule reveal match` before the first move")
    if len(line.words) < len(("shown", "SEAT", "CARD")):
        raise line.error("`shown SEAT CARD...`, or `shown SEAT -`")
    seat, names = number(line, line.words[1]), line.words[2:]
    if seat >= match.seats:
        raise line.error(f"a seat of 0 to {match.seats - 1}", str(seat))
    wanted = [] if names == (NOTHING,) else sorted(read_cards(line, match.variant, names))
    pack = match.variant.pack
    got = " ".join(pack[card] for card in sorted(_played(match, Seat(seat))))
    _same(line, " ".join(pack[card] for card in wanted) or NOTHING, got or NOTHING)


def _played(match: Match, seat: Seat) -> tuple[Card, ...]:
    dealt = match.hand.dealt
    if not dealt.cards:
        return ()
    slots = [slot for slot in range(dealt.each) if slot not in dealt.left[seat]]
    return tuple(card for slot in slots if (card := dealt.cards[seat][slot]) is not None)


_ASSERTIONS = MappingProxyType(
    {
        "!": _is_refused,
        "?": _are_options,
        "next": _is_next,
        "trick": _is_trick,
        "stake": _is_stake,
        "hand": _is_hand,
        "points": _is_points,
        "score": _is_score,
        "game": _is_game,
        "match": _is_match,
        "shown": _is_shown,
    }
)


def failures(path: Path) -> Iterator[str | None]:
    """Run every scenario of a file; yield None for one that passes, else what failed and where."""
    try:
        found = scenarios(path.read_text(encoding="utf-8"))
    except ScenarioError as error:
        yield f"{path}:{error.number}: {error}"
    except (OSError, UnicodeDecodeError) as error:
        yield f"{path}:1: expected a readable file in UTF-8, got {error}"
    else:
        yield from (_failure(path, scenario) for scenario in found)


def _failure(path: Path, scenario: Scenario) -> str | None:
    try:
        run(scenario)
    except ScenarioError as error:
        return f"{path}:{error.number}: {error}"
    return None


def files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files themselves and every scenario file below the folders."""
    return tuple(
        file for path in paths for file in (sorted(path.rglob("*.scenario")) if path.is_dir() else (path,))
    )


def main(arguments: Sequence[str]) -> int:
    """Run the scenarios of files and folders; return the exit code."""
    if not arguments:
        sys.stderr.write("expected files or folders: python -m truc_rules.scenario PATH...\n")
        return 2
    results = [
        result for file in files([Path(argument) for argument in arguments]) for result in failures(file)
    ]
    failed = [result for result in results if result is not None]
    for failure in failed:
        sys.stdout.write(f"{failure}\n")
    sys.stdout.write(f"{len(results) - len(failed)} passed, {len(failed)} failed\n")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
