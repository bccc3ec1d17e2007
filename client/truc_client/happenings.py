"""What happens at a table, as typed values: what `async for` over a table yields.

Everything here was checked before it is said. `facts` are derived from the audited records, never taken from what the
server wrote beside them; their words are in docs/protocol/facts.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from truc_protocol.audit import Verdict
from truc_protocol.messages import LobbyState, TableState
from truc_protocol.words import Sentence

Fact = Mapping[str, Any]
"""Something that has happened: `what`, and the fields that docs/protocol/facts.md lists for it."""

MEANWHILE: Final = "meanwhile"
"""The reason for a table's end that nobody has told: it was there when the connection was lost, and is not when it is back."""

_CLOSED: Final = ("expired", "empty", "server", MEANWHILE)
"""The reasons for a table's end that have a sentence."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One move that may be chosen.

    Attributes:
        line: its move line, as a person can type it.
        kind: the first word of the line.
        hints: stakes and costs by name; for display.
        args: what would be signed beside the kind; None for a guest, whose choice goes by its line.
        at: the position the choice is for.
    """

    line: str
    kind: str
    hints: Mapping[str, int | str]
    args: tuple[Any, ...] | None = field(default=None, repr=False)
    at: int = field(default=0, compare=False)


class TableChanged(NamedTuple):
    """The table is now like this."""

    state: TableState


class MatchStarted(NamedTuple):
    """A match has begun, or gone on after a restart of the client; `seat` is one's own.

    For display: `words` names the game's set of local words, `target` is what wins a game, `signs` and `phrases` are what
    may be said in it, `raised` gives by each card that may be turned up the cards it raises.
    """

    match: bytes
    variant: str
    pack: tuple[str, ...]
    players: tuple[str, ...]
    seat: int | None
    level: str
    transcript: Path
    resumed: bool = False
    words: str = ""
    target: int = 0
    signs: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    raised: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Recalled(NamedTuple):
    """A match goes on of which a part was kept: what was told of its last hand before, in order, last the state."""

    means: tuple[Fact, ...]


class RecordSeen(NamedTuple):
    """A record came and passed every check; `means` is what happened, in order, last the state.

    With `is_least` the points in it are the least they can be, until the hand is closed: whether a flor was kept quiet in an
    earlier duel depends on cards that are not open yet.
    """

    k: int
    kind: str
    means: tuple[Fact, ...]
    is_least: bool = False


class CardsDealt(NamedTuple):
    """One's own cards of the newest deal, by slot."""

    cards: tuple[str, ...]


class PartnerCards(NamedTuple):
    """A partner's cards of the newest deal, by slot: the rules show them to this seat."""

    seat: int
    cards: tuple[str, ...]


class YourTurn(NamedTuple):
    """One may act now; with `must` the hand waits for it. `again`: another record came before one's last choice."""

    at: int
    offer: int
    options: tuple[Choice, ...]
    must: bool
    deadline_ms: int | None
    again: bool = False


class Waiting(NamedTuple):
    """The match waits for these seats: a decision, before a call new chains (`rekey`), or substitutes (`sub`)."""

    seats: tuple[int, ...]
    deadline_ms: int | None
    what: str = "decision"


class Away(NamedTuple):
    """How present the player of a seat is in the match, told whenever that changes; one's own seat is told too.

    Attributes:
        seat: the seat.
        online: whether its player is connected and follows the table.
        missed: how many decisions in a row were ruled for it because its time ran out.
        claim_in_ms: after how long, at the earliest, the seat counts as gone, so that the match may be claimed where the
            table has it so; 0 from then on, None if never.
    """

    seat: int
    online: bool
    missed: int = 0
    claim_in_ms: int | None = None


class Called(NamedTuple):
    """A seat of a running match is vacant, or one of an open table free, and the server calls this bot of its host.

    `join` it: to stand by for the match, or to sit down where there is none; then `ready`.

    Attributes:
        table: the code of the table.
        match: the match; None if somebody waits at an open table for players.
        seat: the vacant seat, or the free one.
        variant: the game.
        left_ms: how long the seat is offered still; None if that was not said.
    """

    table: str
    match: bytes | None
    seat: int
    variant: str
    left_ms: int | None = None


class Substituted(NamedTuple):
    """A substitute, so called, plays this seat from now on; oneself is told too."""

    seat: int
    name: str


class MatchEnded(NamedTuple):
    """The match is over and everything was opened and checked."""

    verdict: Verdict
    transcript: Path


class Signed(NamedTuple):
    """A seat signs a word of the game's list; one's own signs are not told. It may be false, where the rules let it."""

    seat: int
    word: str


class PhraseSaid(NamedTuple):
    """A seat says a phrase to the whole table; one's own are told too."""

    seat: int
    phrase: str


class ChatSaid(NamedTuple):
    """Somebody says something at a table, or in the lobby; one's own lines are told too.

    Attributes:
        player: the tag of who says it; a name alone could be anybody's.
        name: the name shown.
        text: one line.
        table: the code of the table; None for the lobby.
        seat: the seat of who says it; None for who watches, and in the lobby.
        n: the number of the line at its table.
        ago_ms: how long ago it was said, for lines from before one came.
    """

    player: str
    name: str
    text: str
    table: str | None = None
    seat: int | None = None
    n: int | None = None
    ago_ms: int | None = None


class LobbyChanged(NamedTuple):
    """The house is now this full."""

    state: LobbyState


class SnapshotTaken(NamedTuple):
    """Who watches begins here, in the middle of a match, or goes on from here with something `skipped`.

    What stood before position `k` is not checked yet. It is fetched and checked now, with what comes meanwhile told after
    it; then `Resumed` says that nothing is missing.

    Attributes:
        match: the match.
        k: the position of the next record.
        view: the fact `state` as of the record before, unchecked; empty at position 0.
        skipped: whether this client was too slow, and what waited for it was dropped.
    """

    match: bytes
    k: int
    view: Fact
    skipped: bool


class RecordUnchecked(NamedTuple):
    """A record came that cannot be checked: the server does not give out what stood before it. `means` is its word alone."""

    k: int
    kind: str
    means: tuple[Fact, ...]


class Interrupted(NamedTuple):
    """The connection was lost; it is being opened again."""

    reason: str


class TranscriptSetAside(NamedTuple):
    """The transcript kept of a match fails a check, for the reason given; it is now at `path`, and all is asked for again."""

    path: Path
    reason: str


class Resumed(NamedTuple):
    """Nothing is missing up to position `k`: the connection is back, or what stood before a snapshot has come."""

    k: int


class SeatTakenOver(NamedTuple):
    """Another connection of the same player, or a substitute, has the seat now; here it is only watched from then on."""

    seat: int


class ServerDraining(NamedTuple):
    """The server is about to be stopped, in `left_ms` at the latest: no new hand begins until it is back."""

    left_ms: int


class TableClosed(NamedTuple):
    """The table is gone; `table` is its code."""

    reason: str
    table: str = ""

    @property
    def why(self) -> str:
        """The reason as a sentence; one that is newer than this client as the server says it."""
        return Sentence(f"closed.{self.reason}") if self.reason in _CLOSED else self.reason


Happening = (
    TableChanged
    | MatchStarted
    | Recalled
    | RecordSeen
    | CardsDealt
    | PartnerCards
    | YourTurn
    | Waiting
    | Away
    | Substituted
    | MatchEnded
    | Signed
    | PhraseSaid
    | ChatSaid
    | SnapshotTaken
    | RecordUnchecked
    | Interrupted
    | TranscriptSetAside
    | Resumed
    | SeatTakenOver
    | ServerDraining
    | TableClosed
)
"""What can happen at a table."""

LobbyHappening = LobbyChanged | TableChanged | TableClosed | ChatSaid | Interrupted
"""What can happen in the lobby."""
