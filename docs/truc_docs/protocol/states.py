"""The page connection.md: the states of a connection, a table and a match, with every step between them."""

from collections.abc import Iterable, Iterator
from typing import Final

from truc_docs.protocol import GENERATED
from truc_docs.protocol.lifecycle import PHASE_STEPS, PHASES, TABLE_STATES, TABLE_STEPS, Step
from truc_protocol.wire.connection import STATES, TRANSITIONS

_ENDING: Final = ("error, close", "bye")


def connection_page() -> str:
    """Write connection.md: every state, and every step between them."""
    lines = ["# States", "", GENERATED, "", *_connection(), "", *_table(), "", *_match()]
    return "\n".join(lines).rstrip() + "\n"


def _connection() -> Iterator[str]:
    yield from (
        "## A connection",
        "",
        "Both ends run through the same states. A step that is not told here is an error: `auth_required` for a",
        "message that needs a login first, `not_now` for any other.",
        "",
        "In every state but CLOSED the server may also send `bye`, which leads to CLOSED, or an error with `close`, which",
        "leads to CLOSING; `bye` follows it. In READY both may send every other message of theirs, and stay there.",
        "",
        *_states((state.name, meaning) for state, meaning in STATES.items()),
        "",
        "### Steps",
        "",
        "| in state | sender | message | next state |",
        "|---|---|---|---|",
        *_steps(),
    )


def _steps() -> Iterator[str]:
    for (state, sender, tag), after in TRANSITIONS.items():
        if state is not after and tag not in _ENDING:
            yield f"| {state.name} | {sender} | `{tag}` | {after.name} |"


def _table() -> Iterator[str]:
    yield from (
        "## A table",
        "",
        "These are the values of `state` in the notice [`table`](messages.md#table).",
        "",
        *_diagram(TABLE_STEPS),
        "",
        *_states(TABLE_STATES.items()),
    )


def _match() -> Iterator[str]:
    yield from (
        "## A match",
        "",
        "The phase of a match follows from its records alone. [Section 5](../fairness/specification.md#5-records) lists the phases",
        "in which a record may stand; whose turn it is, the rules of the game decide.",
        "",
        *_diagram(PHASE_STEPS),
        "",
        *_states((phase.value, meaning) for phase, meaning in PHASES.items()),
    )


def _states(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "| state | what it means |"
    yield "|---|---|"
    for name, meaning in named:
        yield f"| {name} | {meaning} |"


def _diagram(steps: Iterable[Step]) -> Iterator[str]:
    yield from ("```mermaid", "stateDiagram-v2")
    yield from (f"    {step.before} --> {step.after}: {step.event}" for step in steps)
    yield "```"
