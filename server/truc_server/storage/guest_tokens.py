"""Guests who come back, found in the store by their tokens: those who come during one lookup share the next.

Invariant: a lookup is answered from a state of the store that is no older than itself.
"""

from dataclasses import dataclass, field
from typing import Final

import structlog
import trio

from truc_server.storage import SaveGuest, StoreError
from truc_server.storage.sql import Store

MAX_AT_ONCE: Final = 256  # looked for at once

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class TokenLookup:
    """The hash of a token, and whose it is once that is known, or why that cannot be told."""

    token_hash: bytes
    guest: SaveGuest | None = None
    failure: str | None = None
    answered: trio.Event = field(default_factory=trio.Event)


class GuestTokens:
    """The tokens to be looked up, and the task that looks them up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: list[TokenLookup] = []
        self._wake = trio.Event()

    async def guest(self, token_hash: bytes) -> SaveGuest | None:
        """Return the guest whose token has this hash.

        Raises:
            StoreError: The store cannot be read.
        """
        lookup = TokenLookup(token_hash)
        self._asked.append(lookup)
        self._wake.set()
        await lookup.answered.wait()
        if lookup.failure is not None:
            raise StoreError(lookup.failure)
        return lookup.guest

    async def run(self) -> None:
        """Answer lookups, together those that came during the last one."""
        # After a failure of the network everybody comes back at once. A hop to a thread and a statement for each took 350
        # microseconds, more than all the rest of a login; together it is 25 for each.
        while True:
            await self._wake.wait()
            asked, self._asked = self._asked[:MAX_AT_ONCE], self._asked[MAX_AT_ONCE:]
            if not self._asked:
                self._wake = trio.Event()
            await self._answer(asked)

    async def _answer(self, asked: list[TokenLookup]) -> None:
        hashes = {lookup.token_hash for lookup in asked}
        found = dict[bytes, SaveGuest]()
        failure: str | None = None
        try:
            found = await trio.to_thread.run_sync(self._store.guests_by_tokens, hashes)
        except StoreError as error:
            failure = str(error)
        except Exception:  # it concerns those who have asked, and nobody else
            log.exception("internal", incident="tokens")
            failure = "the store has failed in an unforeseen way"
        for lookup in asked:
            lookup.guest, lookup.failure = found.get(lookup.token_hash), failure
            lookup.answered.set()
