"""The chapter's tables say what the code's tables say, and the threats name tests that exist."""

import inspect
import re
import typing
from pathlib import Path

import msgspec

from truc_protocol import bodies
from truc_protocol.checks import CHECKS
from truc_protocol.records import KINDS, Binding, RecordKind, tag_of
from truc_protocol.setup import Opts
from truc_rules import KINDS as ACTS
from truc_rules import described

ROOT = Path(__file__).parents[2]
SPECIFICATION = (ROOT / "docs/fairness/specification.md").read_text(encoding="utf-8")
THREATS = (ROOT / "docs/fairness/threats.md").read_text(encoding="utf-8")
WORDS = {bodies.U: "u", bodies.Hash: "h", bodies.Salt: "bin16", bodies.Name: "name", bytes: "bin", str: "t"}
BOUND = {Binding.SETUP: "none", Binding.POSITION: "P", Binding.PARALLEL: "Q"}


def chapter(heading: str) -> str:
    """Return what stands under a heading."""
    return SPECIFICATION.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def written(hint: typing.Any) -> str:
    """Write a field's type as the specification does."""
    if hint in WORDS:
        return WORDS[hint]
    args = typing.get_args(hint)
    if type(None) in args:
        return written(args[0]) + "?"
    if args[0] is typing.Any:
        return "args"
    return f"[{written(args[0])}]" if args[-1] is Ellipsis else f"[{', '.join(map(written, args))}]"


def row(kind: RecordKind) -> tuple[str, ...]:
    hints = typing.get_type_hints(kind.body, include_extras=True)
    fields = [f"{info.name} {written(hints[info.name])}" for info in msgspec.structs.fields(kind.body)]
    own = fields if kind.binding is Binding.SETUP else fields[3:]
    name = tag_of(kind.body).removeprefix("truc/1/")
    return name, kind.signer or "server", BOUND[kind.binding], ", ".join(kind.phases), ", ".join(own)


def test_record_kinds_are_those_of_the_code():
    assert re.findall(r"^\* (\w+) \((\w+); (\w+); ([a-z, ]+)\): (.*)$", SPECIFICATION, re.MULTILINE) == [
        row(kind) for kind in KINDS
    ]


def test_checks_are_those_of_the_code():
    assert re.findall(r"^\* (C\d+): ", SPECIFICATION, re.MULTILINE) == list(CHECKS)


def test_terms_are_those_of_the_code():
    defaults = [
        (str(at), f"`{name}`", str(value)) for at, (name, value) in enumerate(Opts()._asdict().items())
    ]
    assert re.findall(r"^\* (\d) (`\w+`) \((\d+)\): ", SPECIFICATION, re.MULTILINE) == defaults


def test_acts_are_those_of_the_rules():
    lines = re.findall(r"^\* ((?:`[a-z-]+` ?)+) \((\w+)\): ", chapter("8. Acts"), re.MULTILINE)
    told = {kind: shape for kinds, shape in lines for kind in kinds.replace("`", "").split()}
    assert told == {str(kind): shape.name.lower() for kind, shape in ACTS.items()}


def test_hints_are_those_of_the_rules():
    named = re.findall(r'\("([a-z]\w*)", ', inspect.getsource(inspect.getmodule(described)))
    told = re.findall(r"^\* `(\w+)` \([^)]*; with ", chapter("7. Boxes"), re.MULTILINE)
    assert set(told) == {*named, "waits"}


def test_threats_name_only_tests_that_exist():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/*/test_*.py"))
    named = re.findall(r"`(test_\w+)`", THREATS)
    assert [name for name in named if f"def {name}(" not in sources] == []


def test_attack_that_is_prevented_or_detected_has_a_test():
    """A line without a name is one that is not covered, by design."""
    attacks = re.findall(r"^\* \*\*(.+?)\*\*: (.+)$", THREATS, re.MULTILINE)
    assert len(attacks) > 70
    untried = [attack for attack, outcome in attacks if outcome[0] in "PD" and "(`" not in outcome]
    assert untried == []
