"""The page connection.md: the states of a connection, a table and a match, with every step between them.

The states of a connection are the code's. A server moves its tables by the steps listed here, as `state` of the notice
`table` shows; the phases of a match follow from its records as the ledger takes them, and the steps here are the outcome.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_docs.protocol import GENERATED
from truc_protocol.records import Phase
from truc_protocol.wire.connection import TRANSITIONS, State


class Step(NamedTuple):
    """What brings a table or a match from one state to another."""

    before: str
    event: str
    after: str


CONNECTION_STATES: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.NEW: "The connection is open; nothing has been said.",
        State.GREETING: "The client has said hello; the server must prove itself.",
        State.GREETED: "The server has proved itself; the client must say who it is.",
        State.ENTERING: "The client has said who it is; the server must decide.",
        State.READY: "The client is logged in.",
        State.CLOSING: "The server has sent an error that ends the connection; only its bye is left.",
        State.CLOSED: "Nothing may be sent any more.",
    }
)
TABLE_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "open": "Seats may be taken and given up. There is no match yet, or its terms were dropped.",
        "terms": "The terms are out; every seat with a key must sign its `seat` record.",
        "playing": "A match is being played.",
        "over": "The newest match has ended; seats may change, and the next match may be agreed on.",
        "closed": "The table is gone; the notice `closed` says so.",
    }
)
TABLE_STEPS: Final = (
    Step("open", "every seat is taken and ready", "terms"),
    Step("terms", "every seat with a key has signed", "playing"),
    Step("terms", "somebody did not sign in time, or the setup fails a check", "open"),
    Step("playing", "the record `end`", "over"),
    Step("over", "every seat is taken and ready", "terms"),
    Step("open", "nobody starts in time, or everybody leaves", "closed"),
    Step("over", "nobody starts in time, or everybody leaves", "closed"),
)
PHASES: Final[Mapping[Phase, str]] = MappingProxyType(
    {
        Phase.SETUP: "Before position 0: the terms, the seats, and the record that lists them.",
        Phase.BETWEEN: "No deal is open; in a game with a cut the seat before the dealer, and after a tap the dealer, decides.",
        Phase.CALLED: "A deal has been called; releases are awaited.",
        Phase.HAND: "Cards have been dealt and are being played.",
        Phase.OVER: "The match is decided; its `end` is still to be written.",
        Phase.ENDED: "The `end` is written; each seat with a key acknowledges it.",
    }
)
PHASE_STEPS: Final = (
    Step("setup", "match", "between"),
    Step("between", "call", "called"),
    Step("called", "draw", "between"),
    Step("called", "void", "between"),
    Step("called", "rule that ends the match, in mode blind", "over"),
    Step("called", "deal", "hand"),
    Step("hand", "close", "between"),
    Step("hand", "close that wins the match", "over"),
    Step("between", "resign, or rule that ends the match", "over"),
    Step("hand", "resign, or rule that ends the match", "over"),
    Step("over", "end", "ended"),
)
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
        *_states((state.name, meaning) for state, meaning in CONNECTION_STATES.items()),
        "",
        "### Steps",
        "",
        *_steps(),
    )


def _steps() -> Iterator[str]:
    for (state, sender, tag), after in TRANSITIONS.items():
        if state is not after and tag not in _ENDING:
            yield f"* {state.name} to {after.name}: `{tag}` of the {sender}"


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
    yield from (f"* `{name}`: {meaning}" for name, meaning in named)


def _diagram(steps: Iterable[Step]) -> Iterator[str]:
    yield from ("```mermaid", "stateDiagram-v2")
    yield from (f"    {step.before} --> {step.after}: {step.event}" for step in steps)
    yield "```"
