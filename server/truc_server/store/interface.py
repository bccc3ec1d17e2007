"""The one interface of storage, and how it fails.

Every method blocks and may be called from any thread: under Trio call it in a worker thread. Invariant: when
`commit` returns, all of its writes will be found again after a crash; when it raises, either all or none of them will,
as a disk can fail after everything was written: nobody may be told of them, and nothing may be written after them.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from truc_server.store.writes import (
    AddRecord,
    Invite,
    Lease,
    Member,
    OwnMatch,
    PastMatch,
    RunningMatch,
    Sanction,
    SanctionKind,
    SaveChat,
    SaveGuest,
    SaveSeat,
    SaveTable,
    Standing,
    StoredTerms,
    StoredTranscript,
    Write,
)


class StoreError(Exception):
    """The store cannot be opened, read or written; the text says which and why."""


class StoreBusyError(StoreError):
    """Another program held the database during the whole wait; nothing was written, but it may be later."""


class StoreLostError(StoreError):
    """This process does not, or no longer, own a table it wrote to: another one claimed it."""


class Store(Protocol):
    """Tables, seats, guests, matches and their records, kept for good."""

    def claim(self, owner: str) -> Lease:
        """Take every table for `owner` under a new epoch; earlier owners can write no more."""
        ...

    def commit(self, writes: Sequence[Write]) -> None:
        """Write all, in order, in one durable transaction.

        Raises:
            StoreLostError: A write touches a table that this process does not own, or a position already taken.
            StoreBusyError: Another program holds the database; the same commit may be tried again.
            StoreError: The database failed, or its files are not where they were.
        """
        ...

    def tables(self) -> tuple[SaveTable, ...]:
        """Return every table as it was last saved, oldest first."""
        ...

    def seats(self, table: str) -> tuple[SaveSeat, ...]:
        """Return the taken seats of a table, in seat order."""
        ...

    def terms(self, table: str) -> StoredTerms | None:
        """Return the terms of a table that wait for signatures, or None if there are none."""
        ...

    def running(self) -> tuple[RunningMatch, ...]:
        """Return the matches that have not ended and whose table still stands."""
        ...

    def match(self, mid: bytes) -> RunningMatch | None:
        """Return a match, ended or not, or None if there is none."""
        ...

    def records(self, mid: bytes, *, first: int, limit: int) -> tuple[AddRecord, ...]:
        """Return at most `limit` records of a match from position `first` on."""
        ...

    def record_count(self, mid: bytes) -> int:
        """Return the next position of a match: the number of records stored."""
        ...

    def count_until(self, mid: bytes, at_ms: int) -> int:
        """Return how many records of a match were made up to a time."""
        ...

    def past(self, mid: bytes) -> PastMatch | None:
        """Return what decides who may read a match, or None if there is no such match."""
        ...

    def played(self, player: bytes, *, after: bytes | None, limit: int) -> tuple[OwnMatch, ...] | None:
        """Return the newest matches a player has had a seat in, or those before `after`; None if that is not theirs."""
        ...

    def guests(self, mid: bytes) -> dict[int, bytes]:
        """Return the ids of the guests who have played a match, by seat."""
        ...

    def chat(self, table: str, limit: int) -> tuple[SaveChat, ...]:
        """Return the newest lines of a table's chat, at most `limit`, oldest first."""
        ...

    def next_line(self, table: str) -> int:
        """Return the number of the next line of a table's chat: after every one said, the forgotten included."""
        ...

    def ignored(self, player: bytes) -> frozenset[str]:
        """Return the tags of those whom a player ignores."""
        ...

    def ignoring(self) -> frozenset[bytes]:
        """Return the ids of the players who ignore anybody."""
        ...

    def leaderboard(self, variant: str, seats: int, *, first: int, limit: int) -> tuple[Standing, ...]:
        """Return at most `limit` standings in a game, best first, leaving out the `first` best."""
        ...

    def profile(self, tag: str) -> tuple[Standing, ...]:
        """Return the standings of a player in every game, by their tag."""
        ...

    def guests_by_tokens(self, hashes: Collection[bytes]) -> dict[bytes, SaveGuest]:
        """Return the guests who have the tokens with these hashes, by hash."""
        ...

    def transcript(self, mid: bytes) -> StoredTranscript | None:
        """Return the whole transcript of a match, or None if there is no such match."""
        ...

    def stray_secrets(self) -> tuple[bytes, ...]:
        """Return the `th` of secrets whose match never started."""
        ...

    def members(self) -> tuple[Member, ...]:
        """Return the members of a closed server, in the order they were admitted."""
        ...

    def is_member(self, fingerprint: str) -> bool:
        """Tell whether a key is a member."""
        ...

    def admit(self, member: Member) -> bool:
        """Make a key a member, durably; False if it is one already. Needs no claim."""
        ...

    def expel(self, fingerprint: str) -> bool:
        """End a membership, durably; False if there was none. Needs no claim."""
        ...

    def issue(self, invite: Invite) -> None:
        """Keep an invite, durably. Needs no claim."""
        ...

    def use_invite(self, code_hash: bytes, member: Member) -> bool:
        """Use an invite once and make a key a member, in one transaction; False if the invite is no longer good."""
        ...

    def invites(self) -> tuple[Invite, ...]:
        """Return the invites that are kept, including expired ones, in the order they end."""
        ...

    def withdraw(self, code_hash: bytes) -> bool:
        """Withdraw an invite, durably; False if there is none. Needs no claim."""
        ...

    def sanctions(self) -> tuple[Sanction, ...]:
        """Return everything imposed by command, including what is over, in the order it was imposed."""
        ...

    def impose(self, sanction: Sanction) -> None:
        """Impose a sanction, durably, replacing one of the same kind on the same subject. Needs no claim."""
        ...

    def lift(self, subject: str, kind: SanctionKind) -> bool:
        """Lift a sanction, durably; False if there was none. Needs no claim."""
        ...

    def unrate(self, tag: str) -> int:
        """Drop the ratings of a player, by their tag, durably; return how many there were. Needs no claim."""
        ...

    def prune_guests(self, *, before_ms: int, connected: Collection[bytes], now_ms: int) -> int:
        """Forget the guests without a seat who were last seen before a time, durably; return how many.

        Those who are connected count as seen now. Needs no claim.
        """
        ...

    def count_old_matches(self, before_ms: int) -> int:
        """Return how many matches were over before a time, or given up, and are no longer shown by any table."""
        ...

    def old_matches(self, *, before_ms: int, limit: int) -> tuple[bytes, ...]:
        """Return some of those matches."""
        ...

    def delete_match(self, mid: bytes, *, before_ms: int) -> bool:
        """Delete one of those matches with all that is kept of it, durably; False if it is not one. Needs no claim."""
        ...

    def close(self) -> None:
        """Release the database; nothing may be called afterwards."""
        ...
