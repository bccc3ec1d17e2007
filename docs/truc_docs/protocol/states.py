"""The page connection.md: the states of a connection, a table and a match, with every step between them."""

from collections.abc import Iterable, Iterator
from typing import Final

from truc_docs.protocol import GENERATED
from truc_docs.protocol.lifecycle import PHASE_STEPS, PHASES, TABLE_STATES, TABLE_STEPS, Step
from truc_protocol.records import KINDS, Binding, Phase, tag_of
from truc_protocol.wire.connection import STATES, TRANSITIONS, Role, State

_ENDING: Final = ("error, close", "bye")


def connection_page() -> str:
    """Write connection.md: every state, and every step between them."""
    lines = ["# States", "", GENERATED, "", *_connection(), "", *_table(), "", *_match()]
    return "\n".join(lines).rstrip() + "\n"


def _connection() -> Iterator[str]:
    yield from (
        "## A connection",
        "",
        "Both ends run through the same states. A step that is not in the table is an error: `auth_required` for a",
        "message that needs a login first, `not_now` for any other.",
        "",
        *_diagram(_connection_steps()),
        "",
        "In every state but CLOSED the server may also send `bye`, which leads to CLOSED, or an error with `close`, which",
        "leads to CLOSING; `bye` follows it.",
        "",
        *_states((state.name, meaning) for state, meaning in STATES.items()),
        "",
        "### Steps",
        "",
        "| in state | sender | message | next state |",
        "|---|---|---|---|",
        *_steps(),
    )


def _connection_steps() -> Iterator[Step]:
    for (state, sender, tag), after in TRANSITIONS.items():
        if state is not after and tag not in _ENDING:
            yield Step(state.name, f"{sender} {tag}", after.name)
    yield Step(State.READY.name, "everything else", State.READY.name)
    yield Step(State.CLOSING.name, f"{Role.SERVER} bye", State.CLOSED.name)


def _steps() -> Iterator[str]:
    """Write one line for each step, with the messages that change nothing in READY on one line per sender."""
    for (state, sender, tag), after in TRANSITIONS.items():
        if not (state is after is State.READY):
            yield f"| {state.name} | {sender} | `{tag}` | {after.name} |"
    for role in Role:
        tags = [
            tag for (state, sender, tag), after in TRANSITIONS.items() if state is after and sender is role
        ]
        yield f"| READY | {role} | {', '.join(f'`{tag}`' for tag in tags if tag != 'error, close')} | READY |"


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
        "The phase of a match follows from its records alone ([specification](../fairness/specification.md)). A record may",
        "stand only in the phases listed for it; whose turn it is, the rules of the game decide.",
        "",
        *_diagram(PHASE_STEPS),
        "",
        *_states((phase.value, meaning) for phase, meaning in PHASES.items()),
        "",
        "| record | signed by | place | may stand in |",
        "|---|---|---|---|",
        *(_kind_row(tag_of(kind.body), kind.signer, kind.binding, kind.phases) for kind in KINDS),
        "",
        "Place: `P` is bound to position and head, `Q` to those of the call or end before it, so that several seats can sign",
        "at the same time; `setup` stands before position 0.",
    )


def _kind_row(tag: str, signer: str | None, binding: Binding, phases: tuple[Phase, ...]) -> str:
    by = "the server" if signer is None else "the seat" if signer == "seat" else "the server or the seat"
    return f"| `{tag.removeprefix('truc/1/')}` | {by} | {binding} | {', '.join(phases)} |"


def _states(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "| state | what it means |"
    yield "|---|---|"
    for name, meaning in named:
        yield f"| {name} | {meaning} |"


def _diagram(steps: Iterable[Step]) -> Iterator[str]:
    yield from ("```mermaid", "stateDiagram-v2")
    yield from (f"    {step.before} --> {step.after}: {step.event}" for step in steps)
    yield "```"
