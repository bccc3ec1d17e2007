"""Each setting as a key: its dotted name, its environment variable, and in words what it takes.

Made from the fields of `Settings`, so that a setting is written once. Invariant: every field is a key.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import msgspec
from msgspec import Meta

from truc_server.settings.settings import Settings

PREFIX: Final = "TRUC_"


class SettingKey(NamedTuple):
    """One setting: its dotted name, its type with range and description, and its default."""

    name: str
    type: Any
    default: object

    @property
    def variable(self) -> str:
        """The name of the environment variable that sets it."""
        return PREFIX + self.name.upper().replace(".", "_")

    @property
    def description(self) -> str:
        """The line that explains it to the host."""
        return next((meta.description for meta in _metas(self.type) if meta.description), "")


def expected(key: SettingKey) -> str:
    """Say which values a setting takes."""
    kind, takes = plain(key.type), _extra(key, "takes")
    if takes is not None:
        return str(takes)
    if kind is bool:
        return "true or false"
    if kind is int:
        return f"a whole number from {_bound(key, 'ge')} to {_bound(key, 'le')}"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(json.dumps, get_args(kind)))
    least = _bound(key, "min_length")
    return f"text of {'at most' if least is None else f'{least} to'} {max_bytes(key)} bytes"


def words_of(name: str) -> tuple[str, ...]:
    """Return the words that a setting chooses from; none if it takes anything else."""
    kind = plain(KEYS[name].type)
    return get_args(kind) if get_origin(kind) is Literal else ()


def plain(annotated: object) -> object:
    """Return a setting's type without range and description."""
    return get_args(annotated)[0] if get_origin(annotated) is Annotated else annotated


def _metas(annotated: object) -> tuple[Meta, ...]:
    return tuple(meta for meta in get_args(annotated)[1:] if isinstance(meta, Meta))


def max_bytes(key: SettingKey) -> int:
    """Return how many bytes of UTF-8 a str setting may have."""
    return int(_extra(key, "max_bytes") or 0)


def admits(key: SettingKey, value: object) -> bool:
    """Tell whether a setting takes a value of its type, by rules that types and ranges cannot express."""
    check: Callable[[object], bool] | None = _extra(key, "admits")
    return check is None or check(value)


def strays(key: SettingKey, value: Iterable[str]) -> list[str]:
    """Return the entries of a list that the setting does not take."""
    check: Callable[[str], bool] | None = _extra(key, "each")
    return [] if check is None else [entry for entry in value if not check(entry)]


def _extra(key: SettingKey, name: str) -> Any:
    return next((meta.extra[name] for meta in _metas(key.type) if meta.extra and name in meta.extra), None)


def _bound(key: SettingKey, name: str) -> int | None:
    return next((bound for meta in _metas(key.type) if (bound := getattr(meta, name)) is not None), None)


def _keys(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[SettingKey]:
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _keys(field.type, f"{prefix}{field.name}.")
        else:
            yield SettingKey(prefix + field.name, field.type, field.default)


KEYS: Final[Mapping[str, SettingKey]] = {key.name: key for key in _keys(Settings)}
SECTIONS: Final = frozenset(name.rpartition(".")[0] for name in KEYS) - {""}
