"""Pauses: what a seat may ask about them now, by the ledger, and how they stand, by what was told.

Any seat may ask for a pause once a hand; the match rests once every seat has asked, and until every seat has asked to go
on. Invariant: what is not allowed is refused before anything is signed.
"""

from typing import Final, Literal, NamedTuple

from truc_client.errors import ChoiceError
from truc_client.happenings import Fact
from truc_protocol.ledger import Ledger
from truc_protocol.records import Phase

Rest = Literal["pause", "resume"]

_ASKS: Final = ("pause_asked", "resume_asked")


def check_rest(ledger: Ledger, seat: int, kind: Rest) -> None:
    """Check that a seat may ask for a pause, or for its end.

    Raises:
        ChoiceError: It may not.
    """
    if ledger.phase is Phase.CALLED:
        raise ChoiceError(f"{kind}: expected once the cards are dealt; they are being dealt now")
    if ledger.phase not in (Phase.BETWEEN, Phase.HAND):
        raise ChoiceError(f"{kind}: the match is over")
    objection = _against_pause(ledger, seat) if kind == "pause" else _against_resume(ledger, seat)
    if objection:
        raise ChoiceError(f"{kind}: {objection}")


def _against_pause(ledger: Ledger, seat: int) -> str:
    pause = ledger.pause
    if pause.active:
        return "the match rests already; resume asks to go on"
    if seat in pause.asked:
        return "you have asked already; the match rests once every seat has asked"
    return "each seat may ask once a hand, and you have" if seat in pause.spent else ""


def _against_resume(ledger: Ledger, seat: int) -> str:
    if not ledger.pause.active:
        return "the match does not rest"
    if seat in ledger.pause.asked:
        return "you have asked already; the match goes on once every seat has asked"
    return ""


class Standstill(NamedTuple):
    """How a pause stands for one seat: whether the match rests, and whether the seat has asked for what comes next."""

    seat: int | None
    rests: bool = False
    has_asked: bool = False

    @property
    def awaits(self) -> bool:
        """Whether the match rests and this seat has not asked to go on."""
        return self.rests and self.seat is not None and not self.has_asked

    def calls_for(self, fact: Fact) -> bool:
        """Tell whether a fact is another seat's asking, in which this seat has not joined."""
        is_ask = fact["what"] in _ASKS and fact["seat"] != self.seat
        return is_ask and self.seat is not None and not self.has_asked


def followed(before: Standstill, fact: Fact) -> Standstill:
    """Return how a pause stands after a fact."""
    match fact["what"]:
        case "pause_asked" | "resume_asked" if fact["seat"] == before.seat:
            return before._replace(has_asked=True)
        case "state":
            return _stated(before, rests=fact.get("paused", False))
        case "hand_closed":
            return before._replace(has_asked=False)
        case _:
            return before


def _stated(before: Standstill, *, rests: bool) -> Standstill:
    return before if rests == before.rests else before._replace(rests=rests, has_asked=False)
