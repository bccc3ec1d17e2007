"""Moves as people read them: the one notation of actions, for files and options, and the figures beside an option.

`move_line` and `parse_move` are inverses of each other. A line is only read here; machines.py says whether the move is
legal. The figures are for a client that does not know the rules.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple, assert_never

from truc_rules.cards import Card, card_named, rank_of
from truc_rules.contests import envido
from truc_rules.errors import CardError, MoveError
from truc_rules.orders import EXTREMES
from truc_rules.positions.actions import CONTEST_CALLS, KINDS, REST, TRUT, Action, ArgShape, Kind
from truc_rules.positions.match import EnvidoAsk, LastPointAsk, Match, Offer, StakeAsk
from truc_rules.seats import Seat
from truc_rules.variants.variant import Variant

GAME = "game"
_ASK_WITH_CARD = len(("CARD", "raise", "STAKE"))
# more than any stake or value has: a line from outside may hold a number of any length
_DIGITS = 6
_KINDS = {str(kind): kind for kind in Kind}
# looked up once: a lookup in an Enum is costly where lines are written for every option
_PLAY, _COVER, _RAISE = Kind.PLAY, Kind.COVER, Kind.RAISE
_ACCEPT, _DECLINE, _CONCEDE, _DEAL = Kind.ACCEPT, Kind.DECLINE, Kind.CONCEDE, Kind.DEAL
_ENVIDOS = CONTEST_CALLS - {Kind.FLOR}

Hints = tuple[tuple[str, int | str], ...]


class DescribedAction(NamedTuple):
    """An action as people are offered it: its line, and the figures that go with it."""

    line: str
    hints: Hints


def move_line(variant: Variant, action: Action) -> str:
    """Write `action` as a line, without its seat."""
    return _line(variant.pack, action.kind, action.cards, action.value)


# a pack of 40 cards has some 150 lines, shows apart, and every one is written over and over
@lru_cache(maxsize=8192)
def _line(pack: tuple[str, ...], kind: Kind, cards: tuple[Card, ...], value: int | str | None) -> str:
    words = [kind, *[pack[card] for card in cards]]
    if value is not None and kind is not _COVER:
        words += [_RAISE, str(value)] if kind is _PLAY else [str(value)]
    return " ".join(words)


def described(match: Match, actions: Iterable[Action]) -> tuple[DescribedAction, ...]:
    """Return each of these legal actions as people are offered it; no figure depends on hidden cards.

    stake: what the hand is worth if it is accepted; points: what an envido is worth if it is accepted; declined: what
    the asking side gets if it is not; loses: what this move gives the other side; cards: how many each seat gets.
    """
    pack, offers = match.variant.pack, match.hand.offers
    offer = offers[-1] if offers else None
    # most options are cards: one played without an ask has no figures, unless it answers an ask
    return tuple(
        [
            _described(pack, kind, cards, value, ())
            if offer is None and kind is _PLAY and value is None
            else _described(pack, kind, cards, value, _hints(match, action, offer))
            for action in actions
            for _, kind, cards, value in (action,)
        ]
    )


@lru_cache(maxsize=8192)
def _described(
    pack: tuple[str, ...], kind: Kind, cards: tuple[Card, ...], value: int | str | None, hints: Hints
) -> DescribedAction:
    """Return an action with its figures: made once for each that differs, as hands offer the same over and over."""
    return DescribedAction(_line(pack, kind, cards, value), hints)


def _hints(match: Match, action: Action, offer: Offer | None) -> Hints:
    kind, value = action.kind, action.value
    if kind is _RAISE or kind is _PLAY:
        return _of_ask(match, value, offer)
    if kind is _ACCEPT or kind is _DECLINE:
        return _of_answer(match, offer, accepts=kind is _ACCEPT)
    if kind is _CONCEDE:
        return (("loses", _conceded(match, action)),)
    if kind in _ENVIDOS:
        called = offer.calls if isinstance(offer, EnvidoAsk) else ()
        return _of_envido(match, (*called, kind))
    return (("cards", 1 if value == 1 else 3),) if kind is _DEAL else ()


def _of_ask(match: Match, asked: int | str | None, offer: Offer | None) -> Hints:
    """Return the figures of an ask, or of a card that accepts the ask it answers."""
    over = offer.stake if type(offer) is StakeAsk else None
    if over is not None and (asked is None or over == REST):
        return (("stake", _shown(over)),)
    if asked is None:
        return ()
    return ("stake", _shown(asked)), ("declined", match.hand.bets.stake if over is None else over)


def _of_answer(match: Match, offer: Offer | None, *, accepts: bool) -> Hints:
    match offer:
        case StakeAsk():
            return (("stake", _shown(offer.stake)),) if accepts else (("loses", match.hand.bets.stake),)
        case LastPointAsk():
            return (("stake", offer.stake),) if accepts else (("loses", offer.decline),)
        case EnvidoAsk():
            worth, declined = _of_envido(match, offer.calls)
            return (worth,) if accepts else (("loses", declined[1]),)
        case _:
            return ()


def _of_envido(match: Match, calls: tuple[Kind, ...]) -> Hints:
    points = envido.worth(calls)
    return _worth(max(envido.accepted_points(match, calls)) if points is None else points, calls)


@cache
def _worth(points: int, calls: tuple[Kind, ...]) -> Hints:
    return ("points", points), ("declined", envido.declined_points(calls))


def _conceded(match: Match, action: Action) -> int | str:
    bets = match.hand.bets
    if bets.locked is not None:
        return _shown(bets.locked)
    return bets.stake + envido.fold_bonus(match, action.seat)


def _shown(stake: int | str) -> int | str:
    return GAME if stake == REST else stake


def parse_move(variant: Variant, seat: Seat, line: str) -> Action:
    """Read a move line of `seat`.

    Raises:
        MoveError: The line is not a move: an unknown word, a card outside the pack, words missing or left over.
    """
    return _parsed(variant.pack, seat, line)


@lru_cache(maxsize=8192)
def _parsed(pack: tuple[str, ...], seat: Seat, line: str) -> Action:
    first, *rest = line.split() or [""]
    kind = _KINDS.get(first)
    if kind is None:
        raise MoveError(f"expected one of {', '.join(Kind)}, got {first!r}")
    return Action(seat, kind, *_args(pack, KINDS[kind], rest, line))


def _args(
    pack: tuple[str, ...], shape: ArgShape, words: Sequence[str], line: str
) -> tuple[tuple[Card, ...], int | str | None]:
    match shape:
        case ArgShape.NONE | ArgShape.CUT:
            _expect(line, words, 0, "no further word")
            return (), None
        case ArgShape.PLAY:
            return _played(pack, words, line)
        case ArgShape.COVER:
            _expect(line, words[1:], 0, "a card or nothing")
            return _cards(pack, words[:1]), None
        case ArgShape.SHOW:
            if not words:
                raise MoveError(f"expected one or more cards, got {line!r}")
            return _cards(pack, words), None
        case (
            ArgShape.STAKE | ArgShape.COUNT | ArgShape.NUMBER | ArgShape.SEAT | ArgShape.SLOT | ArgShape.ORDER
        ):
            _expect(line, words, 1, "one further word")
            return (), _value(pack, shape, words[0])
        case _:
            assert_never(shape)


def _value(pack: tuple[str, ...], shape: ArgShape, word: str) -> int | str:
    if shape is ArgShape.STAKE:
        return _stake(word)
    if shape is not ArgShape.ORDER:
        return _number(word)
    if word in EXTREMES or word in map(rank_of, pack):
        return word
    raise MoveError(f"expected a rank of the pack or {', '.join(EXTREMES)}, got {word!r}")


def _played(
    pack: tuple[str, ...], words: Sequence[str], line: str
) -> tuple[tuple[Card, ...], int | str | None]:
    if len(words) == _ASK_WITH_CARD and words[1] == Kind.RAISE:
        return _cards(pack, words[:1]), _stake(words[2])
    _expect(line, words, 1, "a card, and perhaps `raise` and a stake")
    return _cards(pack, words), None


def _cards(pack: tuple[str, ...], words: Sequence[str]) -> tuple[Card, ...]:
    try:
        return tuple(card_named(pack, word) for word in words)
    except CardError as error:
        raise MoveError(str(error)) from None


def _stake(word: str) -> int | str:
    return word if word in (REST, TRUT) else _number(word)


def _number(word: str) -> int:
    # one spelling for each number, as lines and actions are inverses: int() also reads 07, and other digits
    if len(word) <= _DIGITS and word.isascii() and word.isdigit() and str(int(word)) == word:
        return int(word)
    raise MoveError(f"expected a number of at most {_DIGITS} digits, got {word!r}")


def _expect(line: str, words: Sequence[str], number: int, expected: str) -> None:
    if len(words) != number:
        raise MoveError(f"expected {expected}, got {line!r}")
