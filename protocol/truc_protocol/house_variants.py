"""House variants: games that a host writes as TOML files.

A file names a preset as its `base` and has the fields that differ, or it has every field. Nothing here opens a file.
Invariant: a variant that was read comes back from its rule document, so that whoever has a transcript needs no file.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Final

from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError
from truc_protocol.documents import MAX_DOCUMENT, read_document, rule_document
from truc_rules import Variant, VariantError, params, preset, presets, variant_from_fields

MAX_FILE: Final = 32_768
_FIELDS: Final = tuple(field.name for field in fields(Variant) if field.init)
_OWN: Final = ("name", "version")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,31}")
_CARD: Final = re.compile(r"[A-Za-z0-9]{1,2}[a-z]")
_TEXT: Final = re.compile(r"[ -~]{1,40}")
_SHOWN: Final = 120
_LONGEST_LINE: Final = 1_000


class HouseVariantError(Exception):
    """A text that is no variant; each of `problems` is a line: the field, what was expected and what came."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.problems = tuple(_line(f"{source}: {problem}") for problem in problems)
        super().__init__("; ".join(self.problems))


def preset_called(name: str) -> Variant:
    """Return a preset.

    Raises:
        HouseVariantError: There is none of that name; the text lists them.
    """
    if name in presets():
        return preset(name)
    raise HouseVariantError("no such game", [f"expected one of {', '.join(presets())}, got {name!r}"])


def read_variant(text: str, source: str) -> Variant:
    """Read the variant that a TOML text describes; `source` is how messages call the text.

    Raises:
        HouseVariantError: It is no TOML, has a field that is unknown, missing or wrong, or contradicts itself.
    """
    found = _parsed(text, source)
    base = found.pop("base", None)
    if problems := [*_misnamed(found), *_unknown_or_missing(found, base), *_unspeakable(found)]:
        raise HouseVariantError(source, problems)
    started = preset(base) if isinstance(base, str) else None
    try:
        variant = variant_from_fields(found, started)
        _check_document(variant)
    except VariantError as error:
        raise HouseVariantError(source, [_with_value(str(error), found, started)]) from error
    return variant


def _parsed(text: str, source: str) -> dict[str, object]:
    size = len(text.encode())
    if size > MAX_FILE:
        raise HouseVariantError(source, [f"expected at most {MAX_FILE} bytes, got {size}"])
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HouseVariantError(source, [f"expected TOML, got: {error}"]) from error


def _misnamed(found: Mapping[str, object]) -> Iterator[str]:
    name = found.get("name")
    if name is None:
        return  # told with the other fields that are missing
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"name: expected 3 to 32 lower-case letters, digits and hyphens, got {_shown(name)}"
    elif name in presets():
        yield f"name: expected a name that no preset has, got {name!r}"


def _unknown_or_missing(found: Mapping[str, object], base: object) -> Iterator[str]:
    if base is not None and base not in presets():
        yield f"base: expected one of {', '.join(presets())}, got {_shown(base)}"
    for name in found:
        if name not in _FIELDS:
            nearest = get_close_matches(name, (*_FIELDS, "base"), n=1, cutoff=0)[0]
            yield f"{name}: expected no such field; the nearest is {nearest}"
    yield from (f"{name}: expected this field, got none" for name in _OWN if name not in found)
    missing = [name for name in _FIELDS if name not in (*_OWN, *found)]
    if base is None and missing:
        yield f"base: expected a preset's name, or every field; there is no {', '.join(missing)}"


def _unspeakable(found: Mapping[str, object]) -> Iterator[str]:
    """Yield what could not stand in a move line, a message or a rule document."""
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


def _check_document(variant: Variant) -> None:
    try:
        read_document(rule_document(variant))
    except (CheckError, EncodingError) as error:
        raise VariantError(f"expected rules that fit a document of {MAX_DOCUMENT} bytes: {error}") from error


def _with_value(message: str, found: Mapping[str, object], base: Variant | None) -> str:
    """Add the value of the field that a message is about, where the message does not say it."""
    path = message.partition(":")[0].split(".")
    value: object = found
    inherited: object = () if base is None else (("pack", base.pack), *params(base))
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
        inherited = dict(inherited).get(step) if isinstance(inherited, tuple) else None
    came = inherited if value is None else value
    return message if ", got" in message or came is None else f"{message}, got {_shown(came)}"


def _line(text: str) -> str:
    """Return what may stand in a terminal or log, although a key or value of the file is part of it."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:_LONGEST_LINE])


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
