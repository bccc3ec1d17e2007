"""The pages of docs/rules that are made from the code: `python -m truc_docs.protocol.rules DIR`.

parameters.md describes the rule document's params: their types come from the fields of a variant, their meaning from
the lines under them. Only a value that no preset has is told in sentences: the page of its family, made in games.py,
tells any other. presets.json has the document of every preset.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from pathlib import Path
from types import NoneType
from typing import Final, Literal, get_args, get_origin, get_type_hints

from truc_docs.protocol.games import GENERATED, families, family_page
from truc_docs.protocol.value_words import groups, members, unused_values
from truc_protocol.codec import sha256
from truc_protocol.documents import rule_document
from truc_rules import SIGNS, Variant, params, preset, presets
from truc_rules.variants.params import defaults
from truc_words.house_variants import own_lines

_ANY: Final = "truc-french"
"""A preset to take the names of the params from; all have the same."""
_WORDS: Final[Mapping[object, str]] = {bool: "bool", int: "u", str: "t", NoneType: "nil"}

_INTRO: Final = """
The rule document of a match says by which rules it is played; its SHA-256 is in the `table` record. It is the
[canonical encoding](../fairness/specification.md) of

    ["truc/1/rules", engine u, variant t, version u, pack [t], params [[name t, value]]]

* `params` has every name of the list below exactly once, in ascending order, and no other. A document with an `engine`
  other than 1 is refused, as is one that lacks a param or has a value that is not listed (C5).
* After each name stands its value: `u` is an unsigned integer, `t` a str, `[x]` an array of x. Of words in quotes one is taken, as a str.
* A *group* is again such an array, every name of the group exactly once, in ascending order. The names with a dot stand in
  it without the part before the dot: `scoring` is `[["end_check", "immediate"], ["points_per_unit", 0], ["target", 12]]`.
  A name with a *default* stands there only with another value; a document that has it with its default is refused.
* A program that does not play the rules needs only the few params named in
  [section 3](../fairness/specification.md#3-setup) of the specification.
* A card is its index in `pack`; the pack belongs to the document, not to the params. A seat counts for side seat mod 2.
"""

_CONTRADICTIONS: Final = """
A document whose values contradict each other is refused too (C5). It must hold that:

* no card is twice in `pack`, each is a rank, a number from 1 or a capital letter, and a small letter of suit, and there are 3 cards for each seat of the largest number in `players`;
* `players` is one or more of 2, 4 and 6, in ascending order; every card has one place in `order`, by itself or by its rank;
* no entry of `order` is there twice or names what is not in the pack; a card named by itself does not count with its rank;
* `redeal.max` is at least 1, or `"pack"`; `match` is odd and at most 1000; `version` is at least 1;
* a `ladder` that is an array has two or more stakes of at least 1 and at most 1000, each higher than the one before;
* with the ladder `"game"`, `remainder` is not `"none"`; with it and with `"trut"`, `raise_in_answer` is false;
* with `accept` = `"implicit"`, `remainder` is `"none"`;
* `scoring.points_per_unit` is 0 unless the ladder is `"trut"`; then it is more than the first stake and at most 1000, `remainder` is `"none"`
  and `short_deal` is false;
* `scoring.target` is more than the first stake, which is the ladder's first, else 1; with units it is at least 1;
  it is at most 1000, with the ladder `"any"` at most 120;
* `last_point.at` is at least 1 and below the target, `last_point.stake` at least the first stake, `last_point.decline` at least 1,
  both at most 1000;
  there is no `last_point` with units, and `blind` is true only with a `last_point`;
* with `turnup` the pack needs one card more, and `redeal` is nil. Either `turnup.cycle` has every rank of the pack once and `turnup.suits` every suit,
  and the other names have their defaults; or these two have, `turnup.pieces` has one or more ranks of the pack, each once, `turnup.numbers` a number from 1 to
  20 for each of them in this order, and `turnup.stand_in` is `""` or a rank of the pack that is no piece. Then `flor.kind` is `"suit"`;
* `cover_from_trick` is 0, 2 or 3; with `flor`, or where `blind` is true, `show` is `"none"`;
* with `envido` or `flor` there are no units, `short_deal` and `blind` are false, and `accept` is `"explicit"`; with `flor`,
  `cover_from_trick` is 0; `envido.max_envido` is at least 1, it and `envido.max_real` are at most 16, `envido.fold_bonus` is at most 1000;
* with `pica`, `players` has 6, there is no `last_point`, `pica.max` is not less than `pica.min`, and `envido.settle` is `"said"`;
* `signals.vocabulary` has words of the list below, each once; with `signals.truth` = `"enforced"` all of them name cards;
  `signals.orders` is `"none"` where `blind` is true;
* `"governor"` in `answerer`, `concede` or `signals.visible_to`, and `signals.orders` = `"binding"`, need `players` to be 4 alone.
"""

_IN_WORDS: Final = """
What another value means in play stands on the page of a game that has it. Here 18 and 40 stand for a target, 20 for half of
one, rounded down. `false`, `"none"` and the like mean that there is no such rule. A covered card (`cover_from_trick`) is weaker than all others and equal to another covered one.
In a run of a flor the numbers of the pack follow each other; ranks that are no numbers do as they first stand in the pack.
"""

_PRESETS: Final = """
[presets.json](presets.json) has the document of every preset without any table option, as JSON with `null` for nil, and the
SHA-256 of its canonical encoding. `truc rules NAME --toml` prints one with the meaning of every field.
"""


def parameters_page() -> str:
    """Write parameters.md: every param, what must fit together, and the values that no preset has."""
    lines = ["# The params of the rule document", "", GENERATED, _INTRO]
    lines += ["## All params", "", *_param_lines()]
    lines += ["", "## What must fit together", _CONTRADICTIONS, _signs(), ""]
    lines += ["## Values that no preset has", _IN_WORDS]
    lines += [f"* `{path}`, {_code(value)}: {words}" for path, value, words in unused_values()]
    lines += ["", "## The presets", _PRESETS.rstrip()]
    return "\n".join(lines) + "\n"


def _param_lines() -> Iterator[str]:
    names, hints, lines = [name for name, _ in _values(_ANY)], get_type_hints(Variant), own_lines(Variant)
    for name in names:
        yield f"* `{name}`, {_shape(hints[name])}: {lines[name]}"
        for group in groups(hints[name]):
            inner, under = get_type_hints(group), own_lines(group)
            for field in sorted(inner):
                default = defaults(group).get(field, MISSING)
                told = "" if default is MISSING else f" Default: {_code(default)}."
                yield f"* `{name}.{field}`, {_shape(inner[field])}: {under[field]}{told}"


def _shape(hint: object) -> str:
    return " or ".join(_member_shape(member) for member in members(hint))


def _member_shape(hint: object) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(_code(value) for value in get_args(hint))
    if get_origin(hint) is tuple:
        return f"[{_shape(get_args(hint)[0])}]"
    return _WORDS.get(hint, "a group")


def _code(value: object) -> str:
    return f"`{_written(value)}`"


def _written(value: object) -> str:
    match value:
        case None:
            return "nil"
        case tuple():
            return f"[{', '.join(_written(item) for item in value)}]"
        case _:
            return json.dumps(value)


def _values(name: str) -> tuple[tuple[str, object], ...]:
    return params(preset(name))


def _signs() -> str:
    """Write every word that can be signed, those that name cards first."""
    naming, others = (
        [f"`{word}`" for word, cards in SIGNS.items() if bool(cards) is names] for names in (True, False)
    )
    return f"The words that can be signed are {', '.join(naming)}, which name cards, and {', '.join(others)}."


def presets_file() -> str:
    """Write presets.json: for every preset the hash of its rule document, and what the document holds."""
    entries = (f"{json.dumps(name)}: {_entry(preset(name))}" for name in presets())
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _entry(variant: Variant) -> str:
    pairs = ",\n   ".join(json.dumps(pair) for pair in params(variant))
    head = json.dumps(["truc/1/rules", 1, variant.name, variant.version])[:-1]
    digest = sha256(rule_document(variant)).hex()
    return f'{{"sha256": "{digest}", "document":\n {head},\n  {json.dumps(variant.pack)},\n  [{pairs}]]}}'


def write(folder: Path) -> None:
    """Write the pages into `folder`, which holds the introductions."""
    (folder / "presets.json").write_text(presets_file(), encoding="utf-8")
    (folder / "parameters.md").write_text(parameters_page(), encoding="utf-8")
    for main in families():
        (folder / f"{main}.md").write_text(family_page(folder, main), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
