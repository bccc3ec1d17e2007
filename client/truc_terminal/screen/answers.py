"""What a typed line means: which options have numbers, and by which names each is chosen.

Numbers are only for decisions that the hand waits for: a `1` typed a moment late must not choose something optional.
Invariant: a line that could mean two options means none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from truc_client.happenings import Choice, YourTurn

_CUT: Final = "cut"
_ORDER: Final = "order"
_GIVES_UP: Final = "concede"
_MOST_DIGITS: Final = 6

Names = Callable[[Choice], Iterable[str]]


def numbered(turn: YourTurn) -> tuple[Choice, ...]:
    """Return the options that have numbers, from 1 on: giving up comes last; orders have none if there are others."""
    if not turn.must:
        return ()
    return tuple(sorted(_without_orders(turn.options), key=lambda choice: choice.kind == _GIVES_UP))


def _without_orders(options: Sequence[Choice]) -> list[Choice]:
    return [choice for choice in options if choice.kind != _ORDER] or list(options)


def unnumbered(turn: YourTurn) -> tuple[Choice, ...]:
    """Return the options that are chosen by typing their lines."""
    counted = numbered(turn)
    return tuple(choice for choice in turn.options if choice not in counted)


def grouped(choices: Iterable[Choice]) -> str:
    """Return move lines, those of one kind combined: `order 7|8|low, concede`."""
    values: dict[str, list[str]] = {}
    for choice in choices:
        kind, _, value = choice.line.partition(" ")
        values.setdefault(kind, []).append(value)
    return ", ".join(f"{kind} {'|'.join(of_kind)}".rstrip() for kind, of_kind in values.items())


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS


def find_choice(
    turn: YourTurn, text: str, names: Names = lambda _choice: ()
) -> tuple[Choice | None, int | None]:
    """Return the option that a line means, by number, move line or one of its `names`; for `cut 12` also the place."""
    if _is_number(text):
        number, counted = int(text), numbered(turn)
        return (counted[number - 1] if 1 <= number <= len(counted) else None), None
    found = _named(turn, text, names)
    if found is not None:
        return found, None
    kind, _, place = _plain(text).partition(" ")
    if kind == _CUT and _is_number(place):
        return _named(turn, kind, names), int(place)
    return None, None


def _named(turn: YourTurn, text: str, names: Names) -> Choice | None:
    """Return the option with this move line, else the only one with this name."""
    wanted = _plain(text)
    by_line = [choice for choice in turn.options if _plain(choice.line) == wanted]
    found = by_line or [choice for choice in turn.options if wanted in set(map(_plain, names(choice)))]
    return found[0] if len(found) == 1 else None


def _plain(text: str) -> str:
    """Return a text as it is compared: without regard to case, extra spaces, and `?` or `!` at the end."""
    return " ".join(text.casefold().rstrip(" ?!").split())


def meanings(turn: YourTurn, meaning: Callable[[str], str]) -> Iterator[tuple[list[Choice], str]]:
    """Yield the meanings of the options, each once, after the options that have it."""
    by_meaning: dict[str, list[Choice]] = {}
    for choice in turn.options:
        by_meaning.setdefault(meaning(choice.line), []).append(choice)
    for told, choices in by_meaning.items():
        yield choices, told
