"""The assertions of scenario files: what must hold of the match at a line. runner.py plays the moves before it."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, get_args

from truc_rules.cards import Card
from truc_rules.errors import IllegalActionError, MoveError, RefusalCode, nearest_hint
from truc_rules.machines import deciders
from truc_rules.match import apply, legal
from truc_rules.moves import move_line, parse_move
from truc_rules.positions.actions import REST, TRUT, Action, Kind
from truc_rules.positions.match import Match
from truc_rules.scenario.setup import read_cards, read_score
from truc_rules.scenario.text import ScenarioError, ScenarioLine, arguments, read_number
from truc_rules.seats import Seat, Side
from truc_rules.shows import owed_shows
from truc_rules.signing import check_sign
from truc_rules.variants.vocabulary import SIGNS

CODES = get_args(RefusalCode)
NOTHING = "-"
SIGN = "sign"
# legal beside everything else: a line would have to list every rank to order, every choice of cards to show
_UNLISTED = (Kind.ORDER, Kind.SHOW)
_LOCKED = MappingProxyType({REST: "game", TRUT: TRUT})


class ScenarioState(NamedTuple):
    """How far a scenario has come."""

    match: Match
    given: Mapping[Seat, tuple[Card, ...]]
    """The cards of the next deal."""
    turn: tuple[Card, ...]
    """The card turned up with the next deal."""
    points: tuple[int, int]
    """What each side has scored in this hand."""
    trick: str | None
    """The result of the newest trick, in the words of a scenario."""
    result: str
    """The result of the newest hand, or in pica-pica of the newest duel."""


def read_action(state: ScenarioState, line: ScenarioLine, seat: str, move: Sequence[str]) -> Action:
    """Read a move.

    Raises:
        ScenarioError: It cannot be read.
    """
    if read_number(line, seat) >= state.match.seats:
        raise line.error(f"a seat of 0 to {state.match.seats - 1}", seat)
    try:
        return parse_move(state.match.variant, Seat(read_number(line, seat)), " ".join(move))
    except MoveError as error:
        raise ScenarioError(line.number, str(error)) from None


def try_move(state: ScenarioState, line: ScenarioLine, seat: str, move: Sequence[str]) -> None:
    """Try a move or a sign, without keeping its result.

    Raises:
        ScenarioError: It cannot be read.
        IllegalActionError: It is refused.
    """
    if move[0] == SIGN:
        (word,) = arguments(ScenarioLine(line.number, tuple(move)), "sign WORD", 1)
        if word not in SIGNS:
            raise line.error("the word of a sign", f"{word}{nearest_hint(word, SIGNS)}")
        check_sign(state.match, Seat(read_number(line, seat)), word)
    else:
        apply(state.match, read_action(state, line, seat, move))


def _check_refused(state: ScenarioState, line: ScenarioLine) -> None:
    if len(line.words) < len(("!", "SEAT", "MOVE")):
        raise line.error("`! SEAT MOVE`, and perhaps an error code")
    *move, last = line.words[2:]
    code = last if move and last in CODES else None
    refused = line.words[2:] if code is None else tuple(move)
    if code is None and move and _is_like_a_code(last):
        raise line.error(f"the code {' or '.join(CODES)}", last)
    try:
        try_move(state, line, line.words[1], refused)
    except IllegalActionError as error:
        if code not in (None, error.code):
            raise line.error(f"the code {code}", f"{error.code}: {error}") from None
        return
    raise line.error("a refusal", f"`{' '.join(line.words[1:])}` taken")


def _is_like_a_code(word: str) -> bool:
    """Tell whether a word is meant as a code: no word of a move has an underscore or is like a code."""
    return "_" in word or bool(nearest_hint(word, CODES))


def _check_options(state: ScenarioState, line: ScenarioLine) -> None:
    if len(line.words) < len(("?", "SEAT", "MOVE")):
        raise line.error("`? SEAT MOVE; MOVE ...`, or `? SEAT -`")
    variant, seat = state.match.variant, read_number(line, line.words[1])
    if seat >= state.match.seats:
        raise line.error(f"a seat of 0 to {state.match.seats - 1}", str(seat))
    listed = " ".join(line.words[2:])
    moves = [] if listed == NOTHING else listed.split(";")
    read = [
        move_line(variant, read_action(state, line, line.words[1], tuple(move.split()))) for move in moves
    ]
    wanted = {*read}
    if len(wanted) < len(read):
        raise line.error("every move once", listed)
    found = {
        move_line(variant, action)
        for action in legal(state.match, Seat(seat))
        if action.kind not in _UNLISTED
    }
    _same(line, "; ".join(sorted(wanted)) or NOTHING, "; ".join(sorted(found)) or NOTHING)


def _same(line: ScenarioLine, expected: object, got: object) -> None:
    if expected != got:
        raise line.error(str(expected), str(got))


def _check_next(state: ScenarioState, line: ScenarioLine) -> None:
    seats = [] if line.words[1:] == (NOTHING,) else [read_number(line, word) for word in line.words[1:]]
    if len(line.words) == 1:
        raise line.error("`next SEAT...`, or `next -`")
    waiting = " ".join(str(seat) for seat in sorted(deciders(state.match)))
    _same(line, f"next {' '.join(map(str, sorted(seats))) or NOTHING}", f"next {waiting or NOTHING}")


def _check_trick(state: ScenarioState, line: ScenarioLine) -> None:
    _same(line, _one_of(line, ("0", "1", "tie")), state.trick or "no trick yet")


def _one_of(line: ScenarioLine, allowed: Sequence[str]) -> str:
    (word,) = arguments(line, f"{line.words[0]} {'|'.join(allowed)}", 1)
    if word not in allowed:
        raise line.error(" or ".join(allowed), word)
    return word


def _check_stake(state: ScenarioState, line: ScenarioLine) -> None:
    bets = state.match.hand.bets
    (word,) = arguments(line, "stake N", 1)
    if word not in _LOCKED.values():
        read_number(line, word)
    _same(line, f"stake {word}", f"stake {bets.stake if bets.locked is None else _LOCKED[bets.locked]}")


def _check_hand(state: ScenarioState, line: ScenarioLine) -> None:
    _same(line, f"hand {_one_of(line, ('0', '1', 'draw', 'open'))}", f"hand {state.result}")


def _check_points(state: ScenarioState, line: ScenarioLine) -> None:
    ours, theirs = arguments(line, "points SIDE-0 SIDE-1", 2)
    _same(
        line,
        f"points {read_number(line, ours)} {read_number(line, theirs)}",
        f"points {state.points[0]} {state.points[1]}",
    )


def _check_score(state: ScenarioState, line: ScenarioLine) -> None:
    variant, score = state.match.variant, state.match.score
    if read_score(line, variant) != score:
        has_units = variant.scoring.points_per_unit > 0
        got = " ".join(f"{side.upper}+{side.points}" if has_units else str(side.points) for side in score)
        raise line.error(line.text, f"score {got}")


def _check_game(state: ScenarioState, line: ScenarioLine) -> None:
    _check_won(line, state.match.game_winner)


def _check_match(state: ScenarioState, line: ScenarioLine) -> None:
    _check_won(line, state.match.winner)


def _check_won(line: ScenarioLine, winner: Side | None) -> None:
    wanted = _one_of(line, ("0", "1", "open"))
    _same(line, f"{line.words[0]} {wanted}", f"{line.words[0]} {'open' if winner is None else winner}")


def _check_shown(state: ScenarioState, line: ScenarioLine) -> None:
    match = state.match
    if match.variant.reveal != "match":
        raise line.error("`rule reveal match` before the first move")
    if len(line.words) < len(("shown", "SEAT", "CARD")):
        raise line.error("`shown SEAT CARD...`, or `shown SEAT -`")
    seat, names = read_number(line, line.words[1]), line.words[2:]
    if seat >= match.seats:
        raise line.error(f"a seat of 0 to {match.seats - 1}", str(seat))
    wanted = [] if names == (NOTHING,) else sorted(read_cards(line, match.variant, names))
    pack = match.variant.pack
    got = " ".join(pack[card] for card in sorted(_shown(match, Seat(seat))))
    _same(line, " ".join(pack[card] for card in wanted) or NOTHING, got or NOTHING)


def _shown(match: Match, seat: Seat) -> set[Card]:
    """Return the cards of `seat` that lie open: played face up, shown by choice, or because the rules say so."""
    dealt, left = match.hand.dealt, match.hand.row.left
    if not dealt.cards:
        return set()
    played = {
        slot for slot in range(dealt.each) if slot not in left[seat] and (seat, slot) not in dealt.covered
    }
    owed = {slot for owner, slots in owed_shows(match) if owner == seat for slot in slots}
    opened = {card for slot in played | owed if (card := dealt.cards[seat][slot]) is not None}
    return opened | {card for owner, card in dealt.shown if owner == seat}


ASSERTIONS: Mapping[str, Callable[[ScenarioState, ScenarioLine], None]] = MappingProxyType(
    {
        "!": _check_refused,
        "?": _check_options,
        "next": _check_next,
        "trick": _check_trick,
        "stake": _check_stake,
        "hand": _check_hand,
        "points": _check_points,
        "score": _check_score,
        "game": _check_game,
        "match": _check_match,
        "shown": _check_shown,
    }
)
