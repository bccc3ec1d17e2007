"""What a player has agreed to play: the table as it was shown when they said `ready`.

A player signs terms only after agreeing to them, and only if nothing in them has changed since. People may come and go
until the last of them is ready; how many may be guests is one of the terms. Taking over a vacant seat is a separate
agreement: the match and the vacancy must have been shown before. Invariant: no terms fit an agreement never given.
"""

from collections.abc import Collection, Iterator
from typing import Any, Final

from truc_protocol.checks import CheckError
from truc_protocol.errors import Code
from truc_protocol.messages import Refusal, TableState, Terms
from truc_protocol.setup import MatchTerms, Opts, read_opts

_OPEN: Final = ("open", "over")
_WHAT_NOW: Final = (
    "; nothing was signed: look at the table again, and say ready only if you agree to it as it is now"
)


_LAPSED: Final = (Code.TERMS_REFUSED, Code.NOT_NOW, Code.TABLE_NOT_OPEN)
"""How a server refuses what is signed for terms that have lapsed: new ones follow."""


class TableAgreement:
    """One player's agreement at one table, and the server's terms that are out.

    Attributes:
        waits: whether the player agrees to the table as it will first be shown.
    """

    def __init__(self) -> None:
        self._shown: TableState | None = None
        self._agreed: TableState | None = None
        self._vacancy: TableState | None = None
        self._unsigned: Terms | None = None
        self._newest: Terms | None = None
        self.waits = False

    def offer(self, terms: Terms) -> None:
        """Take the server's terms."""
        self._unsigned = self._newest = terms

    def to_sign(self) -> Terms | None:
        """Return the terms that are to be signed now, once; None if there are none, or the player has not agreed.

        On a return they come before the table is shown, and wait for that.
        """
        # after a restart, or where none had come yet, the next
        # notice is what is agreed to (specification.md, 13)
        if self.waits:
            return None
        terms, self._unsigned = self._unsigned, None
        return terms if self.stands else None

    def is_lapse(self, refusal: Refusal, terms: Terms | None) -> bool:
        """Tell whether what was sent for these terms, if any, is refused because they have lapsed meanwhile."""
        # refused while its terms stand: new ones will not follow, and waiting for them would be without end
        is_out = terms is not None and terms == self._newest and self._shows_terms
        return refusal.code in _LAPSED and not is_out

    @property
    def stands(self) -> bool:
        """Whether the player has agreed to a table that was shown."""
        return self._agreed is not None

    @property
    def _shows_terms(self) -> bool:
        """Whether terms are out, as the table was last shown."""
        return self._shown is not None and self._shown.state == "terms"

    def has_lapsed(self, seat: int | None) -> bool:
        """Tell whether the player has agreed, but a seat is no longer ready: its signature did not come in time."""
        shown = self._shown
        if not self.stands or shown is None or shown.state not in _OPEN:
            return False
        return any(each.seat == seat and not each.ready for each in shown.seats)

    def show(self, state: TableState) -> None:
        """Note how the table stands now."""
        self._shown = state
        if self.waits:
            self._agreed, self.waits = state, False

    def agree(self) -> bool:
        """Agree to the table as shown, or, before it is, as first shown; tell whether the player had agreed before."""
        had_word = self.stands or self.waits
        self._agreed, self.waits = self._shown, self._shown is None
        # a separate agreement, for this match alone: `ready` for
        # the next match takes nobody's seat over (threats.md)
        self._vacancy = self._shown
        return had_word

    def agree_on_return(self) -> None:
        """Agree to the table as next shown: a player who comes back to a seat goes on with it and takes over none."""
        self._agreed, self._vacancy, self.waits = None, None, True

    def withdraw(self) -> None:
        """Take the agreement back."""
        self._agreed, self._vacancy, self.waits = None, None, False

    def has_vacancy(self, mid: bytes, seat: int | None) -> bool:
        """Tell whether the agreement is to take over this seat, shown vacant in this match."""
        shown = self._vacancy
        if shown is None or shown.state != "playing" or shown.match != mid:
            return False
        return any(each.vacant and each.seat == seat for each in shown.seats)

    def check(self, terms: MatchTerms, keys: Collection[bytes]) -> None:
        """Check that signed terms are those of the server and table that the player agreed to.

        `keys` are the keys under which the server may have signed them: the present one, and for a running match also
        those before it.

        Raises:
            CheckError: C9, they are not; the message says what has changed.
        """
        if terms.table.spk not in keys:
            raise CheckError("C9", "the terms are signed by another key than the server's", "server")
        if self._agreed is None:
            raise CheckError(
                "C9", f"terms came for a table that this player did not agree to{_WHAT_NOW}", "server"
            )
        # filled up with the defaults of what an older server leaves out (specification.md, 13)
        agreed = read_opts(self._agreed.opts)
        for name, before, now in (
            *_terms(terms, self._agreed),
            *zip(Opts._fields, agreed, terms.opts, strict=True),
        ):
            if before != now:
                raise CheckError(
                    "C9",
                    f"{name}: agreed to {_as_text(before)}, the terms say {_as_text(now)}{_WHAT_NOW}",
                    "server",
                )


def _terms(terms: MatchTerms, agreed: TableState) -> Iterator[tuple[str, Any, Any]]:
    table = terms.table
    yield "variant", agreed.variant, terms.variant.name
    yield "rules", agreed.rules, table.rules
    yield "seats", agreed.n, table.seats
    yield "policy", agreed.policy, table.policy
    yield "mode", agreed.mode, table.mode


def _as_text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)
