"""Pauses: what a seat may ask for now, by the ledger, and how a pause stands, by the facts reported.

Any seat may ask for a pause once a hand; the match rests once every seat has asked, and until every seat has asked to go
on. Invariant: what is not allowed is refused before anything is signed.
"""

from typing import Literal, NamedTuple

from truc_client.errors import ChoiceError
from truc_client.happenings import Fact
from truc_protocol.ledger import Ledger
from truc_protocol.records import Phase
from truc_words import Sentence

Rest = Literal["pause", "resume"]


def check_rest(ledger: Ledger, seat: int, kind: Rest) -> None:
    """Check that a seat may ask for a pause, or for its end.

    Raises:
        ChoiceError: It may not; the message says why.
    """
    if ledger.phase is Phase.CALLED:
        objection = "failures.rest_while_dealing"
    elif ledger.phase not in (Phase.BETWEEN, Phase.HAND):
        objection = "failures.match_over"
    else:
        objection = _against_pause(ledger, seat) if kind == "pause" else _against_resume(ledger, seat)
    if objection:
        raise ChoiceError(Sentence("failures.rest", kind=kind, objection=Sentence(objection)))


def _against_pause(ledger: Ledger, seat: int) -> str:
    pause = ledger.pause
    if pause.active:
        return "failures.rests_already"
    if seat in pause.asked:
        return "failures.asked_for_rest"
    return "failures.rest_spent" if seat in pause.spent else ""


def _against_resume(ledger: Ledger, seat: int) -> str:
    if not ledger.pause.active:
        return "failures.rests_not"
    if seat in ledger.pause.asked:
        return "failures.asked_to_go_on"
    return ""


class Standstill(NamedTuple):
    """How a pause stands for one seat: whether the match rests, and whether this seat and others ask to change that."""

    seat: int | None
    rests: bool = False
    has_asked: bool = False
    others_ask: bool = False

    @property
    def awaits(self) -> bool:
        """Whether the match rests and this seat has not asked to go on."""
        return self.rests and self.seat is not None and not self.has_asked

    @property
    def is_called(self) -> bool:
        """Whether another seat has asked and this one has not joined in."""
        return self.others_ask and self.seat is not None and not self.has_asked


def followed(before: Standstill, fact: Fact) -> Standstill:
    """Return how a pause stands after a fact."""
    match fact["what"]:
        case "pause_asked" | "resume_asked" if fact["seat"] == before.seat:
            return before._replace(has_asked=True)
        case "pause_asked" | "resume_asked":
            return before._replace(others_ask=True)
        case "state":
            return _stated(before, rests=fact.get("paused", False))
        case "hand_closed":
            return before._replace(has_asked=False, others_ask=False)
        case _:
            return before


def _stated(before: Standstill, *, rests: bool) -> Standstill:
    return (
        before if rests == before.rests else before._replace(rests=rests, has_asked=False, others_ask=False)
    )
