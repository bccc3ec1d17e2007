"""What an audit comes to: the verdict, and what in it rests on the server's word alone."""

from enum import StrEnum
from typing import NamedTuple

from truc_protocol.bodies import Rule, SideScore
from truc_protocol.checks import CHECKS
from truc_protocol.ledger import Ledger, score
from truc_protocol.setup import Terms


class Result(StrEnum):
    """The four verdicts."""

    PROVEN = "proven"
    REFUTED = "refuted"
    INCOMPLETE = "incomplete"
    UNREADABLE = "unreadable"


class Refutation(NamedTuple):
    """The check that failed: at position `k` of the match, or at item `setup` of the setup if k is None."""

    check: str
    message: str
    culprit: str | None
    k: int | None
    setup: int

    def __str__(self) -> str:
        blame = f"; to blame: {self.culprit}" if self.culprit else ""
        return f"{self.where}: {self.check}: {self.message}{blame}"

    @property
    def where(self) -> str:
        """Name the record, as `truc verify` prints it."""
        return f"setup record {self.setup}" if self.k is None else f"record {self.k}"

    @property
    def rule(self) -> str:
        """Say what the check demands."""
        return CHECKS[self.check]


class Verdict(NamedTuple):
    """The outcome of an audit.

    Attributes:
        level: assurance level A, B or C; None before the setup is closed.
        players: names by seat, as their records give them.
        score: [games, upper, points] of each side.
        winner: the winning side, if the match has one.
        reason: how it ended: won, resigned, forfeit, abandoned; None while it has not.
        rulings: (k, ruling): the server's word that time ran out.
        voids: deals voided.
        proxies: positions of guests' acts that a later signature covers.
        unsigned: positions of guests' acts after the last signature: they prove nothing.
        covered: per seat, the position whose head its newest signature binds.
    """

    result: Result
    refutation: Refutation | None
    variant: str | None = None
    level: str | None = None
    players: tuple[str, ...] = ()
    records: int = 0
    score: tuple[SideScore, SideScore] = ((0, 0, 0), (0, 0, 0))
    winner: int | None = None
    reason: str | None = None
    rulings: tuple[tuple[int, Rule], ...] = ()
    voids: int = 0
    proxies: tuple[int, ...] = ()
    unsigned: tuple[int, ...] = ()
    covered: tuple[int | None, ...] = ()


def describe(
    result: Result, terms: Terms | None, ledger: Ledger | None, refutation: Refutation | None
) -> Verdict:
    """Put together what is known of a match."""
    variant = terms.variant.name if terms else None
    if ledger is None:
        return Verdict(result, refutation, variant)
    outcome = ledger.outcome
    return Verdict(
        result,
        refutation,
        variant,
        level=ledger.setup.level,
        players=tuple(seat.name.decode() for seat in ledger.setup.seats),
        records=ledger.k,
        score=score(ledger),
        winner=outcome.winner if outcome else None,
        reason=outcome.reason if outcome else None,
        voids=ledger.voids,
        covered=ledger.covered,
    )
