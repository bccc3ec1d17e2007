"""What a player has agreed to play: the table as it was shown when they said `ready`.

Terms are signed only by whoever agreed, and only if nothing of them has changed since. People may come and go until the
last of them is ready; how many may be guests is among the terms. Invariant: no terms fit an agreement that was never
given.
"""

from collections.abc import Collection, Iterator
from typing import Any

from truc_protocol.checks import CheckError
from truc_protocol.messages import TableState
from truc_protocol.setup import Opts, Terms, read_opts


class Agreement:
    """One player's agreement at one table."""

    def __init__(self) -> None:
        self._shown: TableState | None = None
        self._agreed: TableState | None = None
        self.waits = False

    @property
    def stands(self) -> bool:
        """Whether anything was agreed to that was also shown."""
        return self._agreed is not None

    def show(self, state: TableState) -> None:
        """Note how the table stands now."""
        self._shown = state
        if self.waits:
            self._agreed, self.waits = state, False

    def agree(self) -> None:
        """Agree to the table as it is shown, or as it will be if it was not shown yet."""
        self._agreed, self.waits = self._shown, self._shown is None

    def agree_on_return(self) -> None:
        """Agree to the table as it will be shown next: who comes back to a seat goes on with it."""
        self._agreed, self.waits = None, True

    def withdraw(self) -> None:
        """Agree to nothing any more."""
        self._agreed, self.waits = None, False

    def check(self, terms: Terms, keys: Collection[bytes]) -> None:
        """Check that signed terms are those of the server and table that the player agreed to.

        `keys` are those under which the server may have signed them: the present one, for a match that runs also those
        before it.

        Raises:
            CheckError: C9, they are not; it says what has changed.
        """
        if terms.table.spk not in keys:
            raise CheckError("C9", "the terms are signed by another key than the server's", "server")
        if self._agreed is None:
            raise CheckError("C9", "terms came for a table that this player did not agree to", "server")
        agreed = read_opts(self._agreed.opts)
        for name, before, now in (
            *_terms(terms, self._agreed),
            *zip(Opts._fields, agreed, terms.opts, strict=True),
        ):
            if before != now:
                raise CheckError(
                    "C9", f"{name}: agreed to {_said(before)}, the terms say {_said(now)}", "server"
                )


def _terms(terms: Terms, agreed: TableState) -> Iterator[tuple[str, Any, Any]]:
    table = terms.table
    yield "variant", agreed.variant, terms.variant.name
    yield "rules", agreed.rules, table.rules
    yield "seats", agreed.n, table.seats
    yield "policy", agreed.policy, table.policy


def _said(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)
