"""Move lines: the one notation of actions for people, files and options.

`move_line` and `parse_move` are inverses of each other. A line is only read here; hand.py says whether the move is
legal.
"""

from collections.abc import Sequence
from typing import assert_never

from truc_rules.cards.packs import Card, card_named, rank_of
from truc_rules.cards.seats import Seat
from truc_rules.errors import CardError, MoveError
from truc_rules.positions.actions import KINDS, REST, TRUT, Action, ArgShape, Kind
from truc_rules.variants.variant import Variant

ORDERS = ("low", "high", "leave")
_ASK_WITH_CARD = 3
_DIGITS = 6
_KINDS = {str(kind): kind for kind in Kind}
# looked up once: a lookup in an Enum is costly where lines are written for every option
_PLAY, _COVER, _RAISE = Kind.PLAY, Kind.COVER, Kind.RAISE


def move_line(variant: Variant, action: Action) -> str:
    """Write `action` as a line, without its seat."""
    _, kind, cards, value = action
    words = [kind, *[variant.pack[card] for card in cards]]
    if value is not None and kind is not _COVER:
        words += [_RAISE, str(value)] if kind is _PLAY else [str(value)]
    return " ".join(words)


def parse_move(variant: Variant, seat: Seat, line: str) -> Action:
    """Read a move line of `seat`.

    Raises:
        MoveError: The line is not a move: an unknown word, a card outside the pack, words missing or left over.
    """
    first, *rest = line.split() or [""]
    kind = _KINDS.get(first)
    if kind is None:
        raise MoveError(f"expected one of {', '.join(Kind)}, got {first!r}")
    cards, value = _args(variant, KINDS[kind], rest, line)
    return Action(seat, kind, cards, value)


def _args(
    variant: Variant, shape: ArgShape, words: Sequence[str], line: str
) -> tuple[tuple[Card, ...], int | str | None]:
    match shape:
        case ArgShape.NONE | ArgShape.CUT:
            _expect(line, words, 0, "no further word")
            return (), None
        case ArgShape.PLAY:
            return _played(variant, words, line)
        case ArgShape.COVER:
            _expect(line, words[1:], 0, "a card or nothing")
            return _cards(variant, words[:1]), None
        case ArgShape.SHOW:
            if not words:
                raise MoveError(f"expected one or more cards, got {line!r}")
            return _cards(variant, words), None
        case (
            ArgShape.STAKE | ArgShape.COUNT | ArgShape.NUMBER | ArgShape.SEAT | ArgShape.SLOT | ArgShape.ORDER
        ):
            _expect(line, words, 1, "one further word")
            return (), _value(variant, shape, words[0])
        case _:
            assert_never(shape)


def _value(variant: Variant, shape: ArgShape, word: str) -> int | str:
    if shape is ArgShape.STAKE:
        return _stake(word)
    if shape is not ArgShape.ORDER:
        return _number(word)
    if word in ORDERS or word in map(rank_of, variant.pack):
        return word
    raise MoveError(f"expected a rank of the pack or {', '.join(ORDERS)}, got {word!r}")


def _played(variant: Variant, words: Sequence[str], line: str) -> tuple[tuple[Card, ...], int | str | None]:
    if len(words) == _ASK_WITH_CARD and words[1] == Kind.RAISE:
        return _cards(variant, words[:1]), _stake(words[2])
    _expect(line, words, 1, "a card, and perhaps `raise` and a stake")
    return _cards(variant, words), None


def _cards(variant: Variant, words: Sequence[str]) -> tuple[Card, ...]:
    try:
        return tuple(card_named(variant.pack, word) for word in words)
    except CardError as error:
        raise MoveError(str(error)) from None


def _stake(word: str) -> int | str:
    return word if word in (REST, TRUT) else _number(word)


def _number(word: str) -> int:
    if len(word) <= _DIGITS and word.isascii() and word.isdigit() and str(int(word)) == word:
        return int(word)
    raise MoveError(f"expected a number of at most {_DIGITS} digits, got {word!r}")


def _expect(line: str, words: Sequence[str], number: int, expected: str) -> None:
    if len(words) != number:
        raise MoveError(f"expected {expected}, got {line!r}")
