"""What a seat was offered and what it chose last: options in; a turn to report, or a choice to repeat, out.

A choice overtaken by another record is repeated automatically only if nothing was decided in between: the player chose
it in this very situation, and would only be asked the same again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from truc_client.errors import ChoiceError
from truc_client.happenings import MoveChoice, YourTurn
from truc_client.home.store import Statement
from truc_client.matches.offers import FoundOptions, Offered
from truc_protocol.bodies import Act, Open, Proxy, Share
from truc_protocol.checks import CheckError
from truc_protocol.ledger import Ledger
from truc_protocol.messages import BoxedOptions, OpenOptions
from truc_protocol.records import Phase, Record, parse
from truc_words import Sentence

PauseRequest = Literal["pause", "resume"]
_DECIDE_NOTHING: Final = ("pause", "resume")


class GuestChoice(NamedTuple):
    """A guest's choice, which the server writes down."""

    at: int
    line: str
    place: int | None = None


Sendable = Statement | GuestChoice


@dataclass(frozen=True, slots=True)
class ChosenMove:
    """What was chosen at a position, from the options opened at `offer`; `place` is where to cut."""

    at: int
    offer: int
    choice: MoveChoice
    place: int | None


class Choosing:
    """The newest options of one seat, and its last choice."""

    def __init__(self) -> None:
        self._offered: Offered | None = None
        self._known: Offered | None = None
        self._chosen: ChosenMove | None = None
        self._is_overtaken = False

    def note(self, k: int, *, is_own: bool) -> None:
        """Note the record at a position: the options lapse, and what was chosen is now decided or overtaken."""
        self._offered = self._known = None
        if self._chosen is not None and k >= self._chosen.at:
            self._is_overtaken = not is_own
            if is_own:
                self._chosen = None

    def ask_again(self) -> None:
        """Note that the options are asked for again: those that the player has before them are no news."""
        # after a choice they are told all the same: it may be the choice that was lost
        self._known = self._offered if self._chosen is None else None

    def interrupted(self) -> None:
        """Note that the connection is gone: whatever options come on the next one are told."""
        self._known = None

    def forget(self) -> None:
        """Forget what was chosen: it is not repeated automatically."""
        self._chosen = None

    def take(
        self, offered: Offered, message: BoxedOptions | OpenOptions | FoundOptions, records: Sequence[Record]
    ) -> YourTurn | ChosenMove | None:
        """Take the options of the current position, which a message brought after these records of the match.

        Return the turn to report, or the choice that still stands and is to be repeated; None if neither is news.
        """
        self._offered, known, self._known = offered, self._known, None
        chosen = self._chosen
        if chosen is not None and self._is_overtaken:
            # from the end: the position offered is that of the next record
            between = records[chosen.at - offered.at :]
            if same_decision(chosen.choice, chosen.offer, offered, between):
                return chosen
        # in games with a flor a seat is sent options even where it has
        # none, so that their coming tells nothing (decision 11)
        if not offered.choices or offered == known:
            return None
        told = YourTurn(*offered, message.must, message.deadline_ms, self._is_overtaken)
        self._chosen, self._is_overtaken = None, False
        return told

    @property
    def has_any(self) -> bool:
        """Whether the seat has anything to choose from now."""
        return self._offered is not None and bool(self._offered.choices)

    def check(self, choice: MoveChoice) -> None:
        """Check that a choice is one of the newest options.

        Raises:
            ChoiceError: It is not.
        """
        if self._offered is None or choice not in self._offered.choices:
            raise ChoiceError(Sentence("failures.newest_options_expected", got=repr(choice.line)))

    def decided(self, choice: MoveChoice, place: int | None) -> None:
        """Note what is chosen from the newest options."""
        if self._offered is not None:
            self._chosen = ChosenMove(self._offered.at, self._offered.offer, choice, place)
            self._is_overtaken = False


def same_decision(choice: MoveChoice, offer: int, offered: Offered, between: Sequence[Record]) -> bool:
    """Tell whether a choice still stands after other records: same offer, same move, nothing decided in between."""
    return offered.offer == offer and choice in offered.choices and all(map(_decides_nothing, between))


def _decides_nothing(record: Record) -> bool:
    try:
        body = parse(record)
    except CheckError:
        return False
    match body:
        # they follow from what was decided before
        case Open() | Share():
            return True
        case Act() | Proxy():
            return body.kind in _DECIDE_NOTHING
        case _:
            return False


def check_pause_request(ledger: Ledger, seat: int, kind: PauseRequest) -> None:
    """Check, before anything is signed, that a seat may ask for a pause, or for its end.

    Any seat may ask once a hand; the match rests once every seat has asked, and until every seat has asked to go on.

    Raises:
        ChoiceError: It may not; the message says why.
    """
    objection = _pause_objection(ledger, seat, kind)
    if objection:
        raise ChoiceError(Sentence("failures.rest", kind=kind, objection=Sentence(objection)))


def _pause_objection(ledger: Ledger, seat: int, kind: PauseRequest) -> str:
    pause = ledger.pause
    if ledger.phase is Phase.CALLED:
        return "failures.rest_while_dealing"
    if ledger.phase not in (Phase.BETWEEN, Phase.HAND):
        return "failures.match_over"
    if kind == "resume" and not pause.active:
        return "failures.rests_not"
    if kind == "pause" and pause.active:
        return "failures.rests_already"
    if seat in pause.asked:
        return "failures.asked_for_rest" if kind == "pause" else "failures.asked_to_go_on"
    return "failures.rest_spent" if kind == "pause" and seat in pause.spent else ""
