"""The options of a decision in their order, each with the key that it has in every hand of a match.

Plays come first, then answers and asks, last giving the hand up. One's cards have the digits of their places in the hand,
whatever has been played; any other option has the number of its kind. So a number never comes to mean something else
while one is about to type it.

Options that differ only in the card or in the stake have one key, and are chosen among by asking once more. Options that
the hand does not wait for have no key: a `1` typed a moment late must not choose one of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_client.happenings import MoveChoice, YourTurn
from truc_terminal.replay_model.board import ShownHand

_PLAY, _RAISE, _COVER, _SHOW, _ORDER, _GIVES_UP = "play", "raise", "cover", "show", "order", "concede"
_PLAY_AND_ASK: Final = f"{_PLAY} {_RAISE}"
_LAST: Final = "0"
"""The key of giving the hand up."""
_MOST_STAKES: Final = 3
"""The most stakes to ask for that have a key each."""
_KEYS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "cut": 1,
        "tap": 2,
        "deal": 1,
        "accept": 4,
        "decline": 5,
        _RAISE: 6,
        _PLAY_AND_ASK: 7,
        # Not 9, as of *falta envido*: a game may have both.
        "raise rest": 18,
        _COVER: 7,
        "blind": 8,
        "redeal": 10,
        "stand": 11,
        _SHOW: 12,
        "envido": 7,
        "real-envido": 8,
        "falta-envido": 9,
        "points": 10,
        "good": 11,
        "silent": 12,
        "flor": 13,
        "contraflor": 14,
        "contraflor-rest": 15,
        "flor-fold": 16,
        "claim": 17,
    }
)
"""The key of each kind; two that never meet in one game share one, and where they do the second has the next."""
_OTHERS: Final = 20


class MenuOption(NamedTuple):
    """What has a key: a move, or several among which is asked once more."""

    key: str
    choices: tuple[MoveChoice, ...]


def menu(turn: YourTurn, board: ShownHand) -> tuple[MenuOption, ...]:
    """Return the options that have keys, in their order."""
    options, last = [], 0
    for wanted, choices in sorted(_wanted(turn, board), key=itemgetter(0)):
        # Ascending, so that two of a number never share a key.
        last = max(last + 1, wanted)
        options.append(MenuOption(str(last), choices))
    given_up = (choice for choice in turn.options if turn.must and choice.kind == _GIVES_UP)
    return (*options, *(MenuOption(_LAST, (choice,)) for choice in given_up))


def keyed(options: Iterable[MenuOption], text: str) -> tuple[MoveChoice, ...]:
    """Return the moves that have a key; none if no option has it."""
    return next((option.choices for option in options if option.key == text), ())


def _wanted(turn: YourTurn, board: ShownHand) -> Iterator[tuple[int, tuple[MoveChoice, ...]]]:
    """Yield the options, each after the number that it has if it is free."""
    choices = [choice for choice in turn.options if turn.must and choice.kind != _GIVES_UP]
    # Orders have keys only where there is nothing else.
    choices = [choice for choice in choices if choice.kind != _ORDER] or choices
    alike: dict[str, list[MoveChoice]] = {}
    for choice in choices:
        alike.setdefault(_shape(choice), []).append(choice)
    is_asked_once_more = len(alike) == 1 < len(choices)
    for shape, group in alike.items():
        kind = _kind(shape)
        number = _KEYS.get(shape) or _KEYS.get(kind, _OTHERS)
        if is_asked_once_more or kind == _PLAY:
            yield from ((_own_number(choice, board), (choice,)) for choice in group)
        elif kind == _RAISE and len(group) <= _MOST_STAKES:
            yield from ((number, (choice,)) for choice in group)
        else:
            yield number, tuple(group)


def _shape(choice: MoveChoice) -> str:
    """Return what the options have in common that are alike but for the card or the stake."""
    kind, *rest = choice.line.split()
    if kind == _PLAY and _RAISE in rest:
        return f"{_PLAY_AND_ASK} {rest[-1]}"
    is_alike = kind in (_COVER, _SHOW) or (kind == _RAISE and rest[0].isdigit())
    return kind if is_alike else choice.line


def _kind(shape: str) -> str:
    """Return what has a number of its own, of which a shape is one case."""
    return _PLAY_AND_ASK if shape.startswith(_PLAY_AND_ASK) else shape.partition(" ")[0]


def _own_number(choice: MoveChoice, board: ShownHand) -> int:
    """Return the stake that is asked for, or the place of a card in the hand, as far as it is known; else 1."""
    kind, *rest = choice.line.split()
    if kind == _RAISE and rest[0].isdigit():
        return int(rest[0])
    return board.own.index(rest[0]) + 1 if rest and rest[0] in board.own else 1
