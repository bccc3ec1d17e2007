"""The pages of the registries: errors.md, capabilities.md and facts.md."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, get_args

from truc_docs.field_words import summary
from truc_docs.protocol import GENERATED
from truc_protocol.errors import REGISTRY, Code, CodeRow, Topic
from truc_protocol.ledger.facts import RECORD_FACTS, fact_name
from truc_protocol.messages import MESSAGES
from truc_protocol.wire.capabilities import CAPABILITIES, Capability
from truc_rules import Event

_TOPICS: Final[Mapping[Topic, str]] = MappingProxyType(
    {
        Topic.PROTOCOL: "Protocol",
        Topic.LOGIN: "Login",
        Topic.LIMITS: "Limits",
        Topic.TABLE: "Tables and seats",
        Topic.PLAY: "Play",
        Topic.SERVER: "Server",
    }
)
_ERRORS: Final = """
`error` and `bye` carry a code from this registry: what it means, and what to do. A program decides by `code`, `retryable` and
`close`, by the two flags alone where it does not know the code; `msg` is English for people and logs, and may change at any time.

* *closes*: after this error comes `bye` with the same code, and the connection ends. Before `welcome` every error does.
* *again*: the same request may succeed later, unchanged.
"""
_CAPABILITIES: Final = """
What a server may have beyond the core of the protocol. It lists what it has, with values, as `caps` of its
[info](messages.md#info), and announces changes while it runs by the notice [`caps`](messages.md#caps).

* A request that needs a missing capability is answered `unknown_request`.
* A client names what it would use in `want` of its `hello`, and what it cannot do without in `require`: if one of the
  latter is missing, the answer is `unsupported`, and `field` points at it. Names in `want` that the server does not
  know are ignored.
* `want` changes what a client is sent only for capabilities marked *must be wanted*.
* A client ignores capabilities that it does not know, and does not rely on a value holding no more than is said here.

## Names

A name is opaque and case sensitive, at most 64 characters: words of lower-case letters and digits joined by hyphens,
such as `table-chat`. These names are given out in this registry alone. Anybody may use `example.org/name`, under a
domain of their own, without asking; `draft/name-2` is being tried out and may change with its number. The name of a
message or field that such a capability brings begins with `x-`.
"""
_RECORD_FACTS: Final = "What the records themselves say. `ruled` comes before what the ruling brings about."
_STATE: Final = (
    "The last map of every `means` has `what` = `state`: where the match stands after the record. A `snapshot` has it as",
    "`view`. A field is present in the phases named, and in no other.",
    "",
)
STATE_FIELDS: Final[dict[str, tuple[str, str, str]]] = {
    "phase": (
        "str",
        "always",
        "the [phase](connection.md#a-match): `between`, `called`, `hand`, `over` or `ended`",
    ),
    "score": (
        "two arrays of three int",
        "always",
        "[games, upper, points] of side 0 and of side 1; `upper` counts units (truts), and is 0 in games without them",
    ),
    "paused": ("true", "while the match is paused", "nobody may decide, whatever `waiting` says"),
    "waiting": (
        "array of int",
        "in `called`; from the draw on, in `between` and `hand`",
        "in `called` the seats whose release is missing; otherwise those that decide, as far as everybody may know,"
        " and none where a record of the server comes next",
    ),
    "dealer": (
        "int",
        "from the draw on, in `between` and `hand`",
        "the seat that deals; between two hands, the one that deals next",
    ),
    "stake": ('int, `"game"` or `"trut"`', "as `dealer`", "what the hand is worth at present"),
    "tricks": (
        "array of int or nil",
        "as `dealer`",
        "the side that won each finished trick, nil for a tie",
    ),
}
"""Fields of the fact `state`: the type of each, when it is there, what it says."""


def errors_page() -> str:
    """Write errors.md: the registry, by topic."""
    lines = [
        "# Errors",
        "",
        GENERATED,
        _ERRORS,
    ]
    for topic in Topic:
        lines += [f"## {_TOPICS[topic]}", ""]
        for code, row in REGISTRY.items():
            if row.topic is topic:
                lines += _code(code, row)
    return "\n".join(lines).rstrip() + "\n"


def _code(code: Code, row: CodeRow) -> list[str]:
    flags = (("closes", row.closes), ("again", row.retryable))
    marks = [mark for mark, holds in flags if holds]
    return [
        f"### {code}",
        "",
        f"{row.meaning}  ",
        f"{row.remedy}  ",
        *([f"*{', '.join(marks)}*"] if marks else []),
        "",
    ]


def capabilities_page() -> str:
    """Write capabilities.md: the registry of capabilities."""
    lines = ["# Capabilities", "", GENERATED, _CAPABILITIES]
    lines += ["## Registry"]
    for known in CAPABILITIES:
        must = " It must be wanted." if known.wanted else ""
        lines += ["", f"### {known.name}", "", known.meaning + must, ""]
        lines += [f"*Value:* {known.value}.{_brought(known)}"]
    return "\n".join(lines) + "\n"


def _brought(known: Capability) -> str:
    rows = [row for row in MESSAGES if row.tag in known.brings]
    tags = dict.fromkeys(row.tag for row in rows)
    brought = ", ".join(f"[`{tag}`](messages.md#{tag})" for tag in tags)
    return f" *Brings* {brought}." if brought else ""


def _fact(what: str, names: Iterable[str], meaning: str) -> str:
    fields = ", ".join(f"`{name}`" for name in names)
    return f"* `{what}`{f' ({fields})' if fields else ''}: {meaning}"


def facts_page() -> str:
    """Write facts.md: what `means` may say of the rules' events, the records and the state."""
    lines = [
        "# Facts",
        "",
        GENERATED,
        "",
        "The maps in `means` of a record: each has `what`, here with its other fields in brackets. They are derived from the",
        "records and are not signed. Seats and sides are numbers; cards are written as people write them.",
        "",
        "## Of the rules",
        "",
    ]
    lines += [_fact(fact_name(event.__name__), event._fields, summary(event)) for event in get_args(Event)]
    lines += ["", "## Of the records", "", _RECORD_FACTS, ""]
    lines += [_fact(what, *told) for what, told in RECORD_FACTS.items()]
    lines += ["", "## The state", "", *_STATE]
    lines += [f"* `{name}`, {kind}, {when}: {said}" for name, (kind, when, said) in STATE_FIELDS.items()]
    return "\n".join(lines) + "\n"
