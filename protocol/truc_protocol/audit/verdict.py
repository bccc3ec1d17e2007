"""What an audit comes to: the verdict, and what in it rests on the server's word alone."""

from enum import StrEnum
from typing import NamedTuple

from truc_protocol.bodies import AnyBody, Proxy, Rekey, Rule, SideScore, Sub, Void
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
        """Name the record, as `truc verify` prints it; "the file" where it has no first record."""
        if self.k is not None:
            return f"record {self.k}"
        return "the file" if self.check == "C41" and self.setup == 0 else f"setup record {self.setup}"

    @property
    def rule(self) -> str:
        """Say what the check demands."""
        return CHECKS[self.check]


class Words(NamedTuple):
    """What rests on somebody's word: rulings on the server's, proxies until a signature covers them.

    `asked` are the positions of those pauses and resumes that every seat had asked for: the records show it.
    """

    rulings: tuple[tuple[int, Rule], ...] = ()
    asked: tuple[int, ...] = ()
    voids: tuple[tuple[int, Void], ...] = ()
    proxies: tuple[int, ...] = ()
    substitutes: tuple[tuple[int, Sub], ...] = ()
    rekeys: tuple[tuple[int, int], ...] = ()

    def heard(self, before: Ledger, body: AnyBody) -> "Words":
        """Return these and what follows `before`."""
        k = before.k
        match body:
            case Rule():
                shown = body.ruling in ("pause", "resume") and len(before.pause.asked) == before.seats
                asked = (*self.asked, k) if shown else self.asked
                return self._replace(rulings=(*self.rulings, (k, body)), asked=asked)
            case Void():
                return self._replace(voids=(*self.voids, (k, body)))
            case Proxy():
                return self._replace(proxies=(*self.proxies, k))
            case Sub():
                return self._replace(substitutes=(*self.substitutes, (k, body)))
            case Rekey():
                return self._replace(rekeys=(*self.rekeys, (k, body.role)))
            case _:
                return self


class Verdict(NamedTuple):
    """The outcome of an audit, up to the last signed record.

    Attributes:
        level: assurance level A, B or C; None before the setup is closed.
        players: names by seat, as the records of those who sat there last give them.
        records: the match's records that are signed, or that a signature covers.
        score: [games, upper, points] of each side.
        winner: the winning side, if the match has one.
        reason: how it ended: won, resigned, forfeit, abandoned; None while it has not.
        rulings: (k, ruling): the server's word that time ran out, but for those in `asked`.
        asked: positions of the pauses and resumes among them that every seat had asked for, as the records show.
        voids: deals voided.
        proxies: positions of guests' acts that a later signature covers.
        unsigned: positions of guests' acts after the last signature: they prove nothing.
        covered: per seat, the position whose head its newest signature binds.
        silent: (k, seats): whom the server called silent.
        guests: the seats without a key, as they are at the end.
        substitutes: (k, sub): who took a seat that was left.
        rekeys: (k, role): who began a new chain.
        match: the match's id; None before the setup is closed.
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
    silent: tuple[tuple[int, tuple[int, ...]], ...] = ()
    asked: tuple[int, ...] = ()
    guests: tuple[int, ...] = ()
    substitutes: tuple[tuple[int, Sub], ...] = ()
    rekeys: tuple[tuple[int, int], ...] = ()
    match: bytes | None = None

    @property
    def by_ruling(self) -> bool:
        """Whether the server's word, not play or a resignation, decided the match."""
        return self.reason in ("forfeit", "abandoned")


def describe(
    result: Result, refutation: Refutation | None, terms: Terms | None, signed: Ledger | None, words: Words
) -> Verdict:
    """Put together what is known of a match; `signed` is its ledger after the last signed record."""
    variant = terms.variant.name if terms else None
    if signed is None:
        return Verdict(result, refutation, variant)
    winner, reason = signed.outcome or (None, None)
    return Verdict(
        result,
        refutation,
        variant,
        level=signed.setup.level,
        players=_names(signed, words),
        records=signed.k,
        score=score(signed),
        winner=winner,
        reason=reason,
        rulings=words.rulings,
        voids=signed.voids,
        proxies=tuple(k for k in words.proxies if k < signed.k),
        unsigned=tuple(k for k in words.proxies if k >= signed.k),
        covered=signed.covered,
        silent=tuple((k, void.seats) for k, void in words.voids),
        asked=words.asked,
        guests=tuple(seat for seat, author in enumerate(signed.contributors[1:]) if author is None),
        substitutes=words.substitutes,
        rekeys=words.rekeys,
        match=signed.setup.mid,
    )


def _names(signed: Ledger, words: Words) -> tuple[str, ...]:
    names = [seat.name.decode() for seat in signed.setup.seats]
    for _, newcomer in words.substitutes:
        names[newcomer.seat] = newcomer.name.decode()
    return tuple(names)
