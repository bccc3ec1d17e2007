"""What happens at a table, as typed values: what `async for` over a table yields.

Everything is checked before it is reported, unless its docstring says otherwise. Facts are derived from the audited
records, never taken from what the server wrote beside them; their words are in docs/protocol/facts.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from truc_protocol.audit import Verdict
from truc_protocol.messages import LobbyState, TableState
from truc_protocol.records import DEALT
from truc_rules import Variant, View
from truc_words import Sentence

Fact = Mapping[str, Any]
"""Something that has happened: `what`, and the fields that docs/protocol/facts.md lists for it."""

MEANWHILE: Final = "meanwhile"
"""The reason for an end that nobody reported: the table was there when the connection was lost, and is gone now."""

_CLOSED: Final = ("expired", "empty", "server", MEANWHILE)
"""The reasons for a table's end that have a sentence."""


@dataclass(frozen=True, slots=True)
class MoveChoice:
    """One move that may be chosen.

    Attributes:
        line: its move line, as a person can type it.
        kind: the first word of the line.
        hints: stakes and costs by name, for display.
        args: what would be signed beside the kind; None for a guest, whose choice is sent as its line.
        at: the position the choice is for.
    """

    line: str
    kind: str
    hints: Mapping[str, int | str]
    # not compared: the place of a cut is drawn anew whenever the options are found again
    args: tuple[Any, ...] | None = field(default=None, repr=False, compare=False)
    at: int = field(default=0, compare=False)


class TableChanged(NamedTuple):
    """The table is now like this."""

    state: TableState


class MatchStarted(NamedTuple):
    """A match has begun, or goes on after a restart of the client; `seat` is one's own.

    For display: `words` names the game's set of local words, `target` is the score that wins a game, `signs` and
    `phrases` may be said in it, `raised` maps each card that may be turned up to the cards it raises, `rules` are those
    signed for it. `mode` is "blind" where the seats deal among themselves and the server sees no card, else "dealt".
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
    rules: Variant | None = None
    mode: str = DEALT


class MatchContinued(NamedTuple):
    """A match kept in part goes on: what had happened in its last hand, in order, last the state; and the view now."""

    means: tuple[Fact, ...]
    view: View | None = None


class RecordSeen(NamedTuple):
    """A record came and passed every check; `means` is what happened, in order, last the state.

    With `is_least`, its points are a lower bound until the hand is closed: whether a flor was kept quiet in an earlier
    duel depends on cards that are not open yet. `view` is what one's own seat may see of the match after it, by the
    verified ledger; None before the first dealer is drawn.
    """

    k: int
    kind: str
    means: tuple[Fact, ...]
    is_least: bool = False
    view: View | None = None


class CardsDealt(NamedTuple):
    """One's own cards of the newest deal, by slot."""

    cards: tuple[str, ...]


class PartnerCards(NamedTuple):
    """A partner's cards of the newest deal, by slot: the rules show them to this seat."""

    seat: int
    cards: tuple[str, ...]


class YourTurn(NamedTuple):
    """One may act now; with `must` the hand waits for it, with `again` another record came before one's last choice."""

    at: int
    offer: int
    options: tuple[MoveChoice, ...]
    must: bool
    deadline_ms: int | None
    again: bool = False


class MatchWaits(NamedTuple):
    """The match waits for these seats: to decide, or before a call for new chains (`rekey`) or substitutes (`sub`).

    In mode blind also while the seats deal (`mask`, `lock`, `keys`), and for the links that open a hand (`opening`).
    """

    seats: tuple[int, ...]
    deadline_ms: int | None
    what: str = "decision"


class PresenceChanged(NamedTuple):
    """Whether the player of a seat is present in the match, reported at every change, for one's own seat too.

    Attributes:
        seat: the seat.
        online: whether its player is connected and follows the table.
        missed: how many decisions in a row were ruled for it because its time ran out.
        claim_in_ms: after how long, at the earliest, the seat counts as gone and the match may be claimed, if the table
            allows it; 0 from then on, None if never.
    """

    seat: int
    online: bool
    missed: int = 0
    claim_in_ms: int | None = None


class BotCalled(NamedTuple):
    """The server calls this bot of its host: a seat of a running match is vacant, or one of an open table is free.

    `join` the table, to stand by for the match or, if there is none, to sit down; then `ready`.

    Attributes:
        table: the code of the table.
        match: the match; None if somebody at an open table waits for players.
        seat: the vacant or free seat.
        variant: the game.
        left_ms: how much longer the seat is offered; None if the server did not say.
    """

    table: str
    match: bytes | None
    seat: int
    variant: str
    left_ms: int | None = None


class Substituted(NamedTuple):
    """A substitute of this name plays this seat from now on; reported for one's own seat too."""

    seat: int
    name: str


class MatchEnded(NamedTuple):
    """The match is over, and everything was opened and checked."""

    verdict: Verdict
    transcript: Path


class SignMade(NamedTuple):
    """Another seat signs a word of the game's list. A sign may be false where the rules allow it."""

    seat: int
    word: str


class PhraseSaid(NamedTuple):
    """A seat says a phrase to the whole table; one's own phrases are reported too."""

    seat: int
    phrase: str


class ChatSaid(NamedTuple):
    """Somebody says something at a table or in the lobby; one's own lines are reported too.

    Attributes:
        player: the tag of the speaker; a name alone could be anybody's.
        name: the name shown.
        text: one line.
        table: the code of the table; None for the lobby.
        seat: the seat of the speaker; None for a watcher, and in the lobby.
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
    """How full the server is now."""

    state: LobbyState


class SnapshotTaken(NamedTuple):
    """A watcher begins here, in the middle of a match, or goes on from here with something `skipped`.

    The records before position `k` are not checked yet. They are fetched and checked now; newer ones are reported after
    them. Then `Resumed` says that nothing is missing.

    Attributes:
        match: the match.
        k: the position of the next record.
        view: the fact `state` as of the record before, unchecked; empty at position 0.
        skipped: whether this client was too slow, so that what waited for it was dropped.
    """

    match: bytes
    k: int
    view: Fact
    skipped: bool


class RecordUnchecked(NamedTuple):
    """A record came unchecked, as the server withholds those before it; `means` is the server's word alone."""

    k: int
    kind: str
    means: tuple[Fact, ...]


class Interrupted(NamedTuple):
    """The connection was lost; it is being reopened."""

    reason: str


class TranscriptSetAside(NamedTuple):
    """The kept transcript of a match fails a check, for this `reason`; it is now at `path`, and refetched in full."""

    path: Path
    reason: str


class Resumed(NamedTuple):
    """Nothing is missing up to position `k`: the connection is back, or records that were missing have come."""

    k: int


class SeatLost(NamedTuple):
    """Another connection of the same player, or a substitute, has the seat now; from now on it is only watched here."""

    seat: int


class ServerDraining(NamedTuple):
    """The server will stop, in `left_ms` at the latest: no new hand begins until it is back."""

    left_ms: int


class HostSaid(NamedTuple):
    """The host of the server has said something to everybody."""

    text: str


class TableGone(NamedTuple):
    """The table is gone; `table` is its code."""

    reason: str
    table: str = ""

    @property
    def why(self) -> str:
        """The reason as a sentence; one that this client does not know, as the server says it."""
        return Sentence(f"closed.{self.reason}") if self.reason in _CLOSED else self.reason


Happening = (
    TableChanged
    | MatchStarted
    | MatchContinued
    | RecordSeen
    | CardsDealt
    | PartnerCards
    | YourTurn
    | MatchWaits
    | PresenceChanged
    | Substituted
    | MatchEnded
    | SignMade
    | PhraseSaid
    | ChatSaid
    | SnapshotTaken
    | RecordUnchecked
    | Interrupted
    | TranscriptSetAside
    | Resumed
    | SeatLost
    | ServerDraining
    | HostSaid
    | TableGone
)
"""What can happen at a table."""

LobbyHappening = LobbyChanged | TableChanged | TableGone | ChatSaid | Interrupted
"""What can happen in the lobby."""
