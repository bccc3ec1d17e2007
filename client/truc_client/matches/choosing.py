"""What one seat may choose in a match, and what it chose last: options in, decisions out, signed if it has a key.

A choice overtaken by another record is repeated automatically only if nothing was decided in between. Invariant: a
choice is signed only for the current position and head.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from truc_client.errors import ChoiceError, SignedBeforeError
from truc_client.happenings import Choice, YourTurn
from truc_client.home.store import Statement
from truc_client.matches.live_audit import Witness
from truc_client.matches.offers import Offered, OfferReader, same_decision
from truc_client.matches.resting import Rest, check_rest
from truc_client.matches.signer import Signer
from truc_protocol.audit import Finding
from truc_protocol.bodies import Act, AnyBody, Proxy
from truc_protocol.boxes import BoxError
from truc_protocol.ledger import Ledger
from truc_protocol.messages import BoxedOptions, OpenOptions
from truc_protocol.records import Phase
from truc_words import Sentence

_CUT: Final = "cut"
_OPEN: Final = (Phase.BETWEEN, Phase.HAND)
_BEHIND: Final = "failures.behind"
_LOST: Final = "failures.secrets_lost"


class GuestChoice(NamedTuple):
    """A guest's choice, which the server writes down."""

    at: int
    line: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class _Decision:
    """What was chosen last, and from which options."""

    at: int
    offer: int
    choice: Choice
    place: int | None


Sendable = Statement | GuestChoice


class Choosing:
    """The options and decisions of one seat in one match."""

    def __init__(
        self, witness: Witness, seat: int | None, signer: Signer | None, reader: OfferReader | None
    ) -> None:
        self._witness = witness
        self._seat = seat
        self._signer = signer
        self._reader = reader
        self._offered: Offered | None = None
        self._known: Offered | None = None
        self._decision: _Decision | None = None
        self._overtaken = False

    @property
    def _ledger(self) -> Ledger:
        return self._witness.ledger

    def note(self, finding: Finding) -> None:
        """Note a record: the options lapse, and what was chosen is now decided or overtaken."""
        self._offered = self._known = None
        own = self._seat is not None and _author(finding.body) == self._seat
        if self._decision is not None and finding.k is not None and finding.k >= self._decision.at:
            self._overtaken = not own
            if own:
                self._decision = None

    def ask_again(self) -> None:
        """Note that the options are asked for again: those that the player has before them are no news."""
        self._known = self._offered if self._decision is None else None

    def interrupted(self) -> None:
        """Note that the connection is gone: whatever options come on the next one are told."""
        self._known = None

    def drop(self) -> None:
        """Forget what was chosen: it is not repeated automatically."""
        self._decision = None

    def kept(self) -> Statement | None:
        """Return what was already signed for the current position, if it may be sent."""
        is_open = self._ledger.phase in _OPEN
        if self._signer is None or not is_open or not self._signer.may_decide(self._ledger):
            return None
        return self._signer.kept(self._ledger)

    def take(self, message: BoxedOptions | OpenOptions) -> tuple[YourTurn | None, Sendable | None]:
        """Take the options of the current position: return a turn to report, or a choice that still stands, repeated.

        Raises:
            UnboundError: The options are not what this seat can sign.
        """
        if self._reader is None or (self._signer is not None and self._signer.chain(self._ledger) is None):
            return None, None  # they are for whoever holds the seat
        if not self._is_open:
            return None, None  # nothing can be decided now, whatever is offered
        try:
            offered = self._reader.read(message, self._ledger, self._witness.openings)
        except BoxError as error:
            self._witness.doubt("C9", f"options at {message.at}: {error}")
        if not self._may_decide() or self.kept() is not None:
            return None, None  # not to be answered, or answered before a restart: those bytes are sent
        self._offered, known, self._known = offered, self._known, None
        again = self._repeated(offered)
        if again is not None:
            return None, again
        if (
            not offered.choices or offered == known
        ):  # with flor all are sent the same, even with nothing to say
            return None, None
        told = YourTurn(
            offered.at, offered.offer, offered.choices, message.must, message.deadline_ms, self._overtaken
        )
        self._decision, self._overtaken = None, False
        return told, None

    @property
    def _is_open(self) -> bool:
        return self._ledger.phase in _OPEN and not self._ledger.pause.active

    def _may_decide(self) -> bool:
        return self._signer is None or self._signer.may_decide(self._ledger)

    def _repeated(self, offered: Offered) -> Sendable | None:
        decision = self._decision
        if decision is None or not self._overtaken:
            return None
        between = self._witness.file.records[decision.at - self._ledger.k :]
        if not same_decision(decision.choice, decision.offer, offered, between):
            return None
        return self._decided(offered, decision.choice, decision.place)

    def choose(self, choice: Choice, place: int | None) -> Sendable | None:
        """Sign and store a choice; `place` is where to cut. None if its position is over: it comes too late.

        Raises:
            ChoiceError: It is none of the newest options, or another was signed for this position.
        """
        offered = self._offered
        if choice.at < self._ledger.k:
            return None
        if offered is None or choice not in offered.choices:
            raise ChoiceError(Sentence("failures.newest_options_expected", got=repr(choice.line)))
        return self._decided(offered, choice, place)

    def _decided(self, offered: Offered, choice: Choice, place: int | None) -> Sendable:
        self._decision = _Decision(offered.at, offered.offer, choice, place)
        self._overtaken = False
        if self._signer is None:
            return GuestChoice(offered.at, choice.line, place if choice.kind == _CUT else None)
        try:
            return self._signer.act(self._ledger, choice.kind, self._args(choice, place))
        except SignedBeforeError as error:
            raise ChoiceError(str(error)) from error

    def _args(self, choice: Choice, place: int | None) -> tuple[Any, ...]:
        if choice.kind == _CUT and place is not None:
            deck = self._ledger.setup.terms.table.deck
            if not 0 < place < deck:
                raise ChoiceError(Sentence("failures.place_expected", last=deck - 1, got=place))
            return (place,)
        return choice.args or ()

    def resign(self) -> Sendable:
        """Sign that this side gives the match up.

        Raises:
            ChoiceError: An act was already signed for this position, or this seat may sign nothing now.
        """
        return self._beside("resign", lambda signer: signer.resign(self._ledger))

    def ask_rest(self, kind: Rest) -> Sendable:
        """Sign that this seat asks for a pause, or for its end.

        Raises:
            ChoiceError: It may not ask, or has already; or an act was already signed for this position.
        """
        if self._seat is None:
            raise ChoiceError(Sentence("failures.only_players_pause"))
        check_rest(self._ledger, self._seat, kind)
        return self._beside(kind, lambda signer: signer.act(self._ledger, kind, ()))

    def _beside(self, line: str, sign: Callable[[Signer], Statement]) -> Sendable:
        """Say what is never among the options: a guest by its line, a seat with a key as `sign` signs it."""
        if self._signer is None:
            return GuestChoice(self._ledger.k, line)
        if not self._may_decide():
            raise ChoiceError(Sentence(_BEHIND if self._signer.is_behind(self._ledger) else _LOST))
        try:
            return sign(self._signer)
        except SignedBeforeError as error:
            raise ChoiceError(str(error)) from error


def _author(body: AnyBody) -> int | None:
    return body.seat if isinstance(body, Act | Proxy) else None
