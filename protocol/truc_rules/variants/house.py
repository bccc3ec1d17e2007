"""House variants: games written as TOML, for a server or for a scenario.

A text names a preset as its `base` and has the fields that differ, or it has every field. Nothing here opens a file.
Invariant: every problem is told as the field, what was expected and what came, in lines that a terminal can show.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Final

from truc_rules.errors import VariantError, nearest_hint
from truc_rules.variants.params import GROUPS, params, variant_from_fields
from truc_rules.variants.presets import preset, presets
from truc_rules.variants.toml_text import as_toml
from truc_rules.variants.variant import Variant

MAX_FILE: Final = 32_768
_FIELDS: Final = tuple(field.name for field in fields(Variant) if field.init)
_TOP: Final = (*_FIELDS, "base")
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(field.name for field in fields(kind)) for name, kind in GROUPS.items()
}
_OWN: Final = ("name", "version")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,31}")
_CARD: Final = re.compile(r"[A-Za-z0-9]{1,2}[a-z]")
_TEXT: Final = re.compile(r"[ -~]{1,40}")
_SHOWN: Final = 120
_LONGEST_LINE: Final = 1_000


class HouseVariantError(VariantError):
    """A text that is not a variant; each of `problems` is a line: the field, what was expected and what came."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.problems = tuple(_line(f"{source}: {problem}") for problem in problems)
        super().__init__("; ".join(self.problems))


def variant_from_toml(text: str, source: str) -> Variant:
    """Read the variant that a text describes; messages call the text `source`.

    Every unknown or missing field is reported, and every text that could not be shown; of the values that are otherwise
    wrong or contradict each other, only the first.

    Raises:
        HouseVariantError: It is not TOML, has a field that is unknown, missing or wrong, or contradicts itself.
    """
    found = _parsed(text, source)
    base = found.pop("base", None)
    if problems := [*_misnamed(found), *_unknown_or_missing(found, base), *_unspeakable(found)]:
        raise HouseVariantError(source, problems)
    started = preset(base) if isinstance(base, str) else None
    try:
        return variant_from_fields(found, started)
    except VariantError as error:
        raise HouseVariantError(source, [_with_value(str(error), found, started)]) from error


def _parsed(text: str, source: str) -> dict[str, object]:
    size = len(text.encode())
    if size > MAX_FILE:
        raise HouseVariantError(source, [f"expected at most {MAX_FILE} bytes, got {size}"])
    try:
        return tomllib.loads(text)
    # not TOML, or a number with more digits than Python reads
    except ValueError as error:
        raise HouseVariantError(source, [f"expected TOML, got: {error}"]) from error
    # tomllib reads lists within lists by calling itself
    except RecursionError as error:
        raise HouseVariantError(
            source, ["expected lists in a group at most, got many in each other"]
        ) from error


def _misnamed(found: Mapping[str, object]) -> Iterator[str]:
    name = found.get("name")
    if name is None:
        return  # reported with the other missing fields
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"name: expected 3 to 32 lower-case letters, digits and hyphens, got {_shown(name)}"
    elif name in presets():
        yield f"name: expected a name that no preset has, got {_shown(name)}"


def _unknown_or_missing(found: Mapping[str, object], base: object) -> Iterator[str]:
    if base is not None and base not in presets():
        like = nearest_hint(base, presets()) if isinstance(base, str) else ""
        yield f"base: expected the name of a preset, got {_shown(base)}{like}"
    yield from (_unknown(name) for name in found if name not in _TOP)
    for group, known in _GROUPS.items():
        entries = found.get(group)
        if isinstance(entries, Mapping):
            yield from (_unknown_in(group, known, name) for name in entries if name not in known)
    yield from (f"{name}: expected this field, got none" for name in _OWN if name not in found)
    missing = [name for name in _FIELDS if name not in (*_OWN, *found)]
    if base is None and missing:
        yield f"base: expected a preset's name, or every field; there is no {', '.join(missing)}"


def _unknown(name: str) -> str:
    homes = [group for group, known in _GROUPS.items() if name in known]
    where = f"; it stands below [{'] or ['.join(homes)}]" if homes else nearest_hint(name, _TOP)
    return f"{name}: expected a field of a variant, got {name}{where}"


def _unknown_in(group: str, known: Sequence[str], name: str) -> str:
    above = "; fields of no group stand above the first [group]"
    return f"{group}.{name}: expected a field of {group}, got {name}{above if name in _TOP else nearest_hint(name, known)}"


def _unspeakable(found: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with texts that could not stand in a move line, a message or a rule document."""
    for card in _texts(found.get("pack")):
        if not _CARD.fullmatch(card):
            yield f"pack: expected cards such as 7e, Kh or 10c, got {_shown(card)}"
    for name in ("words", "phrases"):
        value = found.get(name)
        for text in (value,) if isinstance(value, str) else _texts(value):
            if not _TEXT.fullmatch(text):
                yield f"{name}: expected 1 to 40 printable ASCII characters, got {_shown(text)}"
    if len({*_texts(found.get("phrases"))}) < len(_texts(found.get("phrases"))):
        yield f"phrases: expected every phrase once, got {_shown(found['phrases'])}"


def _texts(value: object) -> Sequence[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()


def _with_value(message: str, found: Mapping[str, object], base: Variant | None) -> str:
    """Add the value of the field that a message is about, if the message does not give it."""
    path = message.partition(":")[0].split(".")
    value: object = found
    inherited: object = () if base is None else (("pack", base.pack), *params(base))
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
        inherited = dict(inherited).get(step) if isinstance(inherited, tuple) else None
    came = inherited if value is None else value
    return message if ", got" in message or came is None else f"{message}, got {_shown(came)}"


def _line(text: str) -> str:
    """Make a line safe for a terminal or log, as it may quote a key or value of the text."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:_LONGEST_LINE])


def _shown(value: object) -> str:
    text = as_toml(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
