"""House variants as TOML: read by servers and clients, if a rule document can hold them, and written to be changed.

The text itself is read in truc_rules. A file has every field under the line that explains it in the code. Invariants: a
variant that was read can be rebuilt from its rule document, so that nobody who has a transcript needs the file; and
`read_variant` reads what `variant_file` writes as the same variant, but for the name of a preset, which is taken.
"""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from typing import Final

from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError
from truc_protocol.documents import MAX_DOCUMENT, read_document, rule_document
from truc_rules import Variant, preset, presets
from truc_rules.errors import similar_names
from truc_rules.variants.house import HouseVariantError, variant_from_toml
from truc_rules.variants.params import FieldForm, field_forms
from truc_rules.variants.toml_text import as_toml
from truc_words import Sentence

_HOUSE_PREFIX: Final = "house-"
_OTHERS: Final[Mapping[object, str]] = {int: "a number", tuple[int, ...]: "a list of numbers"}
_HEAD: Final = """\
# A variant of Truc. Change what you like, give it a name of its own, and put it in the folder `variants` of a server.
# With base = "NAME", the name of a preset, only the fields that differ are needed. What is nil below is false here."""


class NoSuchGameError(HouseVariantError):
    """No preset has this name; the text, a sentence, says which have similar names, and where others are listed."""

    def __init__(self, name: str, others: str) -> None:
        like = ", ".join(similar_names(name, presets()))
        key = "failures.game_meant" if like else "failures.no_such_game"
        self.sentence = Sentence(key, got=as_toml(name), like=like, others=others)
        super().__init__("no such game", [self.sentence])

    def __str__(self) -> Sentence:
        return self.sentence


def preset_called(name: str, others: str) -> Variant:
    """Return a preset; `others` says how another game is named.

    Raises:
        NoSuchGameError: There is no preset of that name.
    """
    if name not in presets():
        raise NoSuchGameError(name, others)
    return preset(name)


def read_variant(text: str, source: str) -> Variant:
    """Read the variant that a TOML text describes; `source` is what messages call the text.

    Raises:
        HouseVariantError: It is not TOML, has a field that is unknown, missing or wrong, or contradicts itself.
    """
    variant = variant_from_toml(text, source)
    try:
        # what a reader of a transcript has to do: the limits of a document are narrower than those of a file
        read_document(rule_document(variant))
    except (CheckError, EncodingError) as error:
        problem = f"expected rules that fit a document of {MAX_DOCUMENT} bytes: {error}"
        raise HouseVariantError(source, [problem]) from error
    return variant


def variant_file(variant: Variant) -> str:
    """Write a variant as TOML, complete and with comments."""
    # a preset's name is taken (house.py refuses it)
    if variant.name in presets():
        variant = replace(variant, name=f"{_HOUSE_PREFIX}{variant.name}")
    values = {field.name: getattr(variant, field.name) for field in fields(Variant) if field.init}
    groups = {name: value for name, value in values.items() if is_dataclass(value)}
    lines = own_lines(Variant)
    blocks = _fields(Variant, {name: value for name, value in values.items() if name not in groups})
    for name, group in groups.items():
        inner = _fields(type(group), {field.name: getattr(group, field.name) for field in fields(group)})
        blocks.append("\n".join((f"# {lines[name]}", f"[{name}]", *inner)))
    return "\n\n".join((_HEAD, *blocks)) + "\n"


def _fields(kind: type, values: Mapping[str, object]) -> list[str]:
    """Write each field of a class under the line that explains it, and the values it takes if words are among them."""
    lines, forms = own_lines(kind), field_forms(kind)
    written = []
    for name, value in values.items():
        about = (lines[name], " or ".join(_values(forms[name])))
        written.append(
            "\n".join((*(f"# {line}" for line in about if line), f"{name} = {_value(name, value)}"))
        )
    return written


@cache
def own_lines(kind: type) -> dict[str, str]:
    """Return the line that stands under each field of this class alone."""
    # read from the source, as Python keeps no text under a field: so file, docs and code say the same
    (definition,) = ast.parse(inspect.getsource(kind)).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        field.target.id: under.value.value
        for field, under in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(under, ast.Expr)
        and isinstance(under.value, ast.Constant)
        and isinstance(under.value.value, str)
    }


def _values(form: FieldForm) -> Iterator[str]:
    """Yield the words that a field takes, if it takes any, after what else it takes."""
    if form.words and form.kind in _OTHERS:
        yield _OTHERS[form.kind]
    yield from map(json.dumps, form.words)


def _value(field: str, value: object) -> str:
    match value:
        case None:
            return "false"
        case tuple() if field == "pack":
            suits = (", ".join(map(_text, suit)) for _, suit in groupby(value, key=lambda card: card[-1:]))
            return "[\n  " + ",\n  ".join(suits) + ",\n]"
        case tuple():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return _text(value)


def _text(value: object) -> str:
    # JSON's form of text, numbers and booleans is TOML's, but TOML wants DEL escaped
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
