"""What each value of a param says on the page of a game, found by trying it in every preset.

A value means those of its sentences that the other values do not all bring in the same game.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

from truc_rules import Variant, VariantError, preset, presets, variant_from_fields
from truc_words.rules_text import ENGLISH, SENTENCES

Value = bool | str
Told = Mapping[Value, tuple[str, ...]]
"""By value: the sentences of a game that has it."""
NO_RULE = "There is no such rule."


def members(hint: object) -> tuple[object, ...]:
    """Return the types that a type is a union of, or the type itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def groups(hint: object) -> list[type]:
    """Return the groups of fields that a type may be."""
    return [member for member in members(hint) if isinstance(member, type) and is_dataclass(member)]


@cache
def meanings() -> tuple[tuple[str, Value, str], ...]:
    """Return each value of every param that takes words or yes and no, with what the value says."""
    return tuple(_meanings())


def _meanings() -> Iterator[tuple[str, Value, str]]:
    for path, values in sorted(_choices()):
        games = [_in_game(preset(name), path, values) for name in presets()]
        told = {value: _meaning(value, games) for value in values}
        if len(values) > 1 and any(told.values()):
            yield from ((path, value, words or NO_RULE) for value, words in told.items())


def unused_values() -> Iterator[tuple[str, Value, str]]:
    """Yield what `meanings` has of the values that no preset has, and so no page of a game tells."""
    for path, value, words in meanings():
        if words != NO_RULE and not any(_has(preset(name), path, value) for name in presets()):
            yield path, value, words


def _has(variant: Variant, path: str, value: Value) -> bool:
    name, _, field = path.partition(".")
    own = getattr(variant, name)
    return bool((getattr(own, field, None) if field else own) == value)


def _choices() -> Iterator[tuple[str, tuple[Value, ...]]]:
    for name, hint in get_type_hints(Variant).items():
        if name in SENTENCES:
            yield name, _values(hint)
            for group in groups(hint):
                yield from (
                    (f"{name}.{field}", _values(inner)) for field, inner in get_type_hints(group).items()
                )


def _values(hint: object) -> tuple[Value, ...]:
    found: list[Value] = []
    for member in members(hint):
        if member is bool:
            found += [False, True]
        elif get_origin(member) is Literal:
            found += get_args(member)
    return tuple(found)


def _in_game(base: Variant, path: str, values: Sequence[Value]) -> Told:
    """Return what a game would say with each value that does not contradict it."""
    told = ((value, _sentences(base, path, value)) for value in values)
    return {value: sentences for value, sentences in told if sentences is not None}


def _meaning(value: Value, games: Sequence[Told]) -> str:
    """Return what a value says in the game where it differs most from other values, if others are possible at all."""
    return max(_difference(value, told) for told in games)[-1]


def _difference(value: Value, told: Told) -> tuple[bool, int, str]:
    others = [set(told[other]) for other in told if other != value]
    shared = set.intersection(*others) if others else set()
    words = " ".join(sentence for sentence in told.get(value, ()) if sentence not in shared)
    return value in told and bool(others), len(words), words


def _sentences(base: Variant, path: str, value: Value) -> tuple[str, ...] | None:
    """Return what a game says with one value changed, or None if it would contradict itself."""
    name, _, field = path.partition(".")
    changed = {"name": base.name, "version": base.version, name: {field: value} if field else value}
    try:
        variant = variant_from_fields(changed, base)
    except VariantError:
        return None
    return SENTENCES[name](variant, ENGLISH)
