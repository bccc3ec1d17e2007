"""What an audit comes to: the verdict, and what in it rests on the server's word alone."""

from bisect import bisect_left
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from truc_protocol.bodies import Act, AnyBody, Proxy, Rekey, Rule, SideScore, Sub, Void
from truc_protocol.checks import CHECKS
from truc_protocol.ledger import ExposedSeat, Ledger, is_exhausted, score
from truc_protocol.records import BLIND, DEALT
from truc_protocol.setup import MatchTerms
from truc_rules import Variant, preset, presets


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
        return "the file" if self.in_setup is None else f"setup record {self.in_setup}"

    @property
    def in_setup(self) -> int | None:
        """The item of the setup that failed; None if it is a record after it, or the file has no first record."""
        # what cannot be read before the first record breaks the file, not a record of it
        is_file = self.check == "C41" and self.setup == 0
        return None if self.k is not None or is_file else self.setup

    @property
    def rule(self) -> str:
        """Say what the check demands."""
        return CHECKS[self.check]


class UnsignedWord(NamedTuple):
    """What rests on somebody's word: rulings on the server's, proxies until a signature covers them.

    Each links to what was noted before it, so that nothing is copied as they grow; the first has no record.

    Attributes:
        is_shown: whether the records show why: a pause or resume that every seat had asked for, or a new chain of a role whose
            chain had no number left.
        moves: how many moves each side has made so far, those of rulings included.
    """

    k: int = -1
    body: Rule | Void | Proxy | Sub | Rekey | None = None
    is_shown: bool = False
    before: "UnsignedWord | None" = None
    moves: tuple[int, int] = (0, 0)

    def with_record(self, before: Ledger, body: AnyBody) -> "UnsignedWord":
        """Return these with `body`, the record after `before`."""
        moves = self._moves_with(body)
        match body:
            case Rule():
                shown = body.ruling in ("pause", "resume") and len(before.pause.asked) == before.seats
                return UnsignedWord(before.k, body, is_shown=shown, before=self, moves=moves)
            case Rekey():
                due = is_exhausted(before, body.role)
                return UnsignedWord(before.k, body, is_shown=due, before=self, moves=moves)
            case Void() | Proxy() | Sub():
                return UnsignedWord(before.k, body, before=self, moves=moves)
            case _:
                return self if moves is self.moves else self._replace(moves=moves)

    def _moves_with(self, body: AnyBody) -> tuple[int, int]:
        match body:
            case Act() | Proxy() if body.kind not in ("pause", "resume", "resign"):
                side = body.seat % 2
            case Rule(ruling="move", seat=int(seat)):
                side = seat % 2
            case _:
                return self.moves
        return (self.moves[0] + (side == 0), self.moves[1] + (side == 1))

    def all(self) -> "list[UnsignedWord]":
        """Return what was noted, the oldest first."""
        found, at = [], self
        while at.before is not None:
            found.append(at)
            at = at.before
        return found[::-1]


class Verdict(NamedTuple):
    """The outcome of an audit, up to the last signed record.

    Attributes:
        level: assurance level A, B or C; None before the setup is closed.
        players: names by seat, as the records of those who sat there last give them.
        records: the match's records that are signed, or that a signature covers.
        score: [games, upper, points] of each side.
        winner: the winning side, if the match has one.
        reason: how it ended: won, resigned, forfeit, abandoned; None while it has not.
        rulings: (k, ruling): the server's word that time ran out, except for those in `asked`.
        asked: positions of the pauses and resumes among them that every seat had asked for, as the records show.
        voids: deals voided.
        proxies: positions of guests' acts that a later signature covers.
        unsigned: positions of guests' acts after the last signature: they prove nothing.
        covered: per seat, the position whose head its newest signature binds.
        silent: (k, seats): whom the server called silent.
        guests: the seats without a key, as they are at the end.
        substitutes: (k, sub): who took a seat that was left.
        rekeys: (k, role): who began a new chain.
        scheduled: positions of the new chains among them that were due: the old one had no number left.
        match: the match's id; None before the setup is closed.
        is_preset: whether the rules are those of the preset of this name, without any option.
        joined: names by seat, as the setup gives them.
        guest_resigned: whether a guest's resignation ended the match, which nobody has signed but the server.
        moves: how many moves each side has made, those of rulings included.
        mode: the mode of the table: whether the server deals, or sees no card (blind).
        hands: how many hands were closed.
        unopened: in mode blind, (deal index, seats): who has not opened their link of a hand that was dealt.
        exposed: in mode blind, the seat whose own link or cards have shown that it cheated, and how; the match may end otherwise
            than by its forfeit.
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
    is_preset: bool = False
    joined: tuple[str, ...] = ()
    guest_resigned: bool = False
    scheduled: tuple[int, ...] = ()
    moves: tuple[int, int] = (0, 0)
    mode: str = DEALT
    hands: int = 0
    unopened: tuple[tuple[int, tuple[int, ...]], ...] = ()
    exposed: ExposedSeat | None = None

    @property
    def host_saw_no_card(self) -> bool:
        """Whether the match shows that the server could not see the cards.

        There was a hand, each was sealed by the seats and opened, and no seat has been shown to have cheated with the pack.
        """
        if self.result is not Result.PROVEN or self.mode != BLIND or self.hands == 0:
            return False
        cheated = self.exposed is not None and self.exposed.kind == "cheat"
        return not self.unopened and not cheated

    def players_at(self, k: int) -> tuple[str, ...]:
        """Return the names by seat of those who sat there at position `k`, before its record."""
        return self.seatings()(k)

    def seatings(self) -> Callable[[int], tuple[str, ...]]:
        """Return what `players_at` does, for many positions of a match in which many may have come."""
        names, seatings = list(self.joined), [self.joined]
        for _, newcomer in self.substitutes:
            names[newcomer.seat] = newcomer.name.decode()
            seatings.append(tuple(names))
        came = [k for k, _ in self.substitutes]
        # left: at a newcomer's own record their predecessor still sits there
        return lambda k: seatings[bisect_left(came, k)]

    @property
    def by_ruling(self) -> bool:
        """Whether the server's word, not play, a resignation or a seat that its own link exposes, decided the match."""
        return self.reason in ("forfeit", "abandoned") and self.proven_forfeit is None

    @property
    def proven_forfeit(self) -> Rule | None:
        """The forfeit of a seat that the records show to have cheated with the pack, or to have said what its cards deny."""
        return next((rule for _, rule in self.rulings if rule.kind in ("cheat", "false")), None)

    @property
    def losers_moves(self) -> int:
        """How many moves the losing side has made, those of rulings included; 0 while nobody has lost."""
        return 0 if self.winner is None else self.moves[1 - self.winner]

    @property
    def losers_ruled(self) -> int:
        """How many of them the server made by rulings."""
        moved = [rule.seat for _, rule in self.rulings if rule.ruling == "move" and rule.seat is not None]
        return 0 if self.winner is None else sum(seat % 2 != self.winner for seat in moved)


def describe(
    result: Result,
    refutation: Refutation | None,
    terms: MatchTerms | None,
    signed: Ledger | None,
    words: UnsignedWord,
) -> Verdict:
    """Put together what is known of a match; `signed` is its ledger after the last signed record."""
    variant = terms.variant.name if terms else None
    known = terms is not None and is_preset(terms.variant)
    verdict = Verdict(result, refutation, variant, is_preset=known)
    if signed is None:
        return verdict
    return _with_words(_with_ledger(verdict, signed), signed.k, words)


def _with_ledger(verdict: Verdict, signed: Ledger) -> Verdict:
    """Return a verdict with what a ledger tells."""
    winner, reason = signed.outcome or (None, None)
    return verdict._replace(
        # that of the setup, also after a newcomer with a key has taken a guest's seat (specification.md 12)
        level=signed.setup.level,
        mode=signed.setup.terms.table.mode,
        joined=tuple(seat.name.decode() for seat in signed.setup.seats),
        records=signed.k,
        score=score(signed),
        winner=winner,
        reason=reason,
        voids=signed.voids,
        covered=signed.covered,
        guests=tuple(seat for seat, author in enumerate(signed.contributors[1:]) if author is None),
        match=signed.setup.mid,
    )


def _with_words(verdict: Verdict, end: int, words: UnsignedWord) -> Verdict:
    """Return a verdict with what was noted; a proxy and a newcomer count only before `end`."""
    noted = words.all()
    proxies = [(word.k, word.body) for word in noted if isinstance(word.body, Proxy)]
    counted = verdict._replace(
        rulings=tuple((word.k, word.body) for word in noted if isinstance(word.body, Rule)),
        proxies=tuple(k for k, _ in proxies if k < end),
        unsigned=tuple(k for k, _ in proxies if k >= end),
        silent=tuple((word.k, word.body.seats) for word in noted if isinstance(word.body, Void)),
        asked=tuple(word.k for word in noted if word.is_shown and isinstance(word.body, Rule)),
        substitutes=tuple(
            (word.k, word.body) for word in noted if isinstance(word.body, Sub) and word.k < end
        ),
        rekeys=tuple((word.k, word.body.role) for word in noted if isinstance(word.body, Rekey)),
        scheduled=tuple(word.k for word in noted if word.is_shown and isinstance(word.body, Rekey)),
        guest_resigned=any(k < end and proxy.kind == "resign" for k, proxy in proxies),
        moves=words.moves,
    )
    return counted._replace(players=counted.players_at(end))


def is_preset(variant: Variant) -> bool:
    """Tell whether a variant is the preset of its name, without any option."""
    return variant.name in presets() and variant == preset(variant.name)
