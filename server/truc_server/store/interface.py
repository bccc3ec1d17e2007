"""The one interface of storage, and how it fails.

Every method blocks and may be called from any thread: under Trio call it in a worker thread. Invariant: when
`commit` returns, all of its writes will be found again after a crash; when it raises, none of them will.
"""

from collections.abc import Sequence
from typing import Protocol

from truc_server.store.writes import (
    AddRecord,
    Invite,
    Lease,
    Member,
    PastMatch,
    RunningMatch,
    SaveChat,
    SaveGuest,
    SaveSeat,
    SaveTable,
    StoredTranscript,
    Write,
)


class StoreError(Exception):
    """The store cannot be opened, read or written; the text says which and why."""


class StoreLostError(StoreError):
    """This process does not own a table it wrote to (any more): another one claimed it."""


class Store(Protocol):
    """Tables, seats, guests, matches and their records, kept for good."""

    def claim(self, owner: str) -> Lease:
        """Take every table for `owner` under a new epoch; earlier owners can write no more."""
        ...

    def commit(self, writes: Sequence[Write]) -> None:
        """Write all, in order, in one durable transaction.

        Raises:
            StoreLostError: A write touches a table that this process does not own, or a position already taken.
            StoreError: The database failed; nothing was written.
        """
        ...

    def tables(self) -> tuple[SaveTable, ...]:
        """Return every table as it was last saved, oldest first."""
        ...

    def seats(self, table: str) -> tuple[SaveSeat, ...]:
        """Return the taken seats of a table, in seat order."""
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
        """Return how many records of a match were made until a time."""
        ...

    def past(self, mid: bytes) -> PastMatch | None:
        """Return what decides who may read a match, or None if there is no such match."""
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

    def guest_by_token(self, token_hash: bytes) -> SaveGuest | None:
        """Return the guest whose token has this hash."""
        ...

    def transcript(self, mid: bytes) -> StoredTranscript | None:
        """Return the whole transcript of a match, or None if there is no such match."""
        ...

    def stray_secrets(self) -> tuple[bytes, ...]:
        """Return the `th` of secrets whose match never started."""
        ...

    def members(self) -> tuple[Member, ...]:
        """Return the members of a closed server, in the order of their coming."""
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
        """Use an invite once and make a key a member, in one transaction; False if the invite is no good any more."""
        ...

    def close(self) -> None:
        """Release the database; nothing may be called afterwards."""
        ...
