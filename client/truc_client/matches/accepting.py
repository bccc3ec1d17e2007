"""From a player's `ready` to the match: the server's terms are signed, and agreed to again if they lapse unsigned.

Terms are checked against what the player agreed to before anything is signed. Invariant: what is sent was stored before.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from truc_client.errors import ClientError, RefusedError
from truc_client.matches.agreement import Agreement
from truc_client.matches.setting_up import MatchMaker
from truc_protocol.errors import Code
from truc_protocol.messages import Ok, Ready, Refusal, SignedAct, Terms

if TYPE_CHECKING:
    from truc_client.session import Session

_GONE: Final = (Code.TERMS_REFUSED, Code.NOT_NOW, Code.TABLE_NOT_OPEN)


class Accepting:
    """The terms of one table, if they are out."""

    def __init__(
        self,
        session: "Session",
        code: str,
        agreement: Agreement,
        maker: MatchMaker,
        fail: Callable[[ClientError], None],
    ) -> None:
        self._session = session
        self._code = code
        self._agreement = agreement
        self._maker = maker
        self._fail = fail
        self._terms: Terms | None = None
        self._newest: Terms | None = None

    def take(self, terms: Terms, seat: int | None) -> None:
        """Take the server's terms, and sign them for a seat.

        Raises:
            CheckFailedError: They are not what the player agreed to, or were used before.
        """
        self._terms = self._newest = terms
        self.sign(seat)

    def sign(self, seat: int | None) -> None:
        """Sign the pending terms. On a return they come before the table is shown, and wait for that.

        Raises:
            CheckFailedError: They are not what the player agreed to, or were used before.
        """
        terms, session, code = self._terms, self._session, self._code
        if terms is None or self._agreement.waits:
            return
        self._terms = None
        if session.account.is_guest or seat is None or not self._agreement.stands:
            return
        body, sig = self._maker.accept(terms, session, self._agreement, seat)
        answered = partial(self._answered, terms)
        session.post(lambda n: SignedAct(id=n, table=code, body=body, sig=sig), answered)

    def agree_again(self) -> None:
        """Say `ready` again, as the player has: terms that did not come in time have lapsed."""
        self._session.post(lambda n: Ready(id=n, table=self._code), partial(self._answered, None))

    def _answered(self, terms: Terms | None, answer: Ok | Refusal) -> None:
        """Take the answer to what was sent, for these terms if any; those that have lapsed are followed by new ones."""
        if not isinstance(answer, Refusal) or answer.retryable:
            return
        if answer.code not in _GONE or self._are_out(terms):
            self._fail(RefusedError(answer.code, answer.msg))

    def _are_out(self, terms: Terms | None) -> bool:
        return terms is not None and terms == self._newest and self._agreement.shows_terms
