"""Parties of a match in memory: a table whose server and seats hold real keys, and can be told to cheat.

Everything random comes from a seed, so that a test's transcript is the same on every run.
"""

import random
from collections.abc import Iterable

from truc_conform.playing import Puppet, here, secret
from truc_protocol.acts import write_args
from truc_protocol.audit import Auditor, OwnSeat
from truc_protocol.bodies import Body, Guest, Rule
from truc_protocol.crypto import keys
from truc_protocol.dealer import Dealer, MatchSecrets, proxy_body
from truc_protocol.documents import rule_document
from truc_protocol.ledger import (
    Due,
    Ledger,
    due,
    fold,
    may_abandon,
    may_forfeit,
    may_show,
    seats_missing,
    start_ledger,
)
from truc_protocol.ledger.state import awaits_substitutes, is_exhausted, must_end
from truc_protocol.records import DEALT, Phase, Record, encode, parse, unsigned_record
from truc_protocol.setup import MatchSetup, Opts, close_setup, open_terms
from truc_protocol.transcript import write_transcript
from truc_rules import Action, Kind, Seat, Variant, deciders, legal, move_line, preset

_RARE = (Kind.CONCEDE, Kind.FALTA_ENVIDO, Kind.CONTRAFLOR_REST, Kind.ORDER)


class Table:
    """A match in memory; `records` is its transcript so far, the setup included.

    Seats in `silent` release nothing; seats in `away` decide nothing, so that rulings play for them.
    """

    def __init__(
        self,
        variant: Variant | str = "truc-french",
        *,
        seats: int = 2,
        guests: tuple[int, ...] = (),
        opts: Opts | None = None,
        seed: int = 1,
        links: int = 64,
        boxed_guests: bool = False,
        mode: str = DEALT,
    ) -> None:
        self.variant = preset(variant) if isinstance(variant, str) else variant
        self.random = random.Random(seed)
        self.seed = seed
        self.silent: frozenset[int] = frozenset()
        self.away: frozenset[int] = frozenset()
        self._is_careless = False
        self.server = keys.signing_key_from_seed(secret("server", seed))
        secrets = MatchSecrets(secret("root", seed), secret("x", seed), secret("tn", seed))
        self.dealer = Dealer(self.server, secrets, links=links)
        self.document = rule_document(self.variant)
        opts = (opts or Opts())._replace(guests=len(guests))
        terms = self.dealer.terms(
            self.variant, seats=seats, opts=opts, name="a table", opened_at=1_700_000_000, mode=mode
        )
        self.terms = open_terms(self.document, terms.record)
        self.players = {seat: Puppet(seat, seed) for seat in range(seats) if seat not in guests}
        self.guest_keys = {seat: keys.box_key(secret(f"guest {seat}", seed)) for seat in guests}
        taken = tuple(self._seat(seat, boxed=boxed_guests) for seat in range(seats))
        self.setup: MatchSetup = close_setup(self.terms, taken, self.dealer.match_record(self.terms, taken))
        self.ledger = start_ledger(self.setup)
        self.records: list[Record] = list(self.setup.records)

    def _seat(self, seat: int, *, boxed: bool) -> Record:
        if seat in self.players:
            return self.players[seat].join(self.terms)
        x = self.guest_keys[seat].public if boxed else None
        return self.dealer.guest_record(Guest(self.terms.th, seat, x, f"guest {seat}".encode()))

    @property
    def opts(self) -> Opts:
        return self.terms.opts

    def sign(self, body: Body) -> Record:
        """Sign as the server."""
        encoded = encode(body)
        return Record(0, encoded, self.server.sign(encoded))

    def rule(self, ruling: str, seat: int | None = None, kind: str | None = None, args: tuple = ()) -> Record:
        return self.sign(Rule(*here(self.ledger), self.ledger.deal_index, ruling, seat, kind, args))

    def add(self, record: Record) -> Ledger:
        if self._is_careless:
            self.ledger = fold(self.ledger, record, parse(record)).ledger
        else:
            self.ledger = self.dealer.take(self.ledger, record)
        self.records.append(record)
        return self.ledger

    def careless(self) -> "Table":
        """Let the server take from now on whatever a reader who knows only open cards would take."""
        self._is_careless = True
        self.ledger = self.audit().ledger
        return self

    def actions(self, seat: int) -> tuple[Action, ...]:
        """Return what a seat may do now."""
        assert self.ledger.match is not None
        return legal(self.ledger.match, Seat(seat))

    def choice(self) -> Action:
        """Pick a legal action of somebody; rarely one that leaves little to play, or that can be repeated for ever."""
        actions = [action for seat in range(self.ledger.seats) for action in self.actions(seat)]
        quiet = [action for action in actions if action.kind not in _RARE or self.random.random() < 0.05]
        return self.random.choice(quiet or actions)

    def record_of(self, action: Action) -> Record:
        """Write an action as its seat's record."""
        assert self.ledger.match is not None
        openings = self.dealer.openings(self.ledger, action.seat) if self.ledger.hand else ()
        cut = self.random.randrange(1, self.terms.table.deck)
        args = write_args(action, openings, cut=cut)
        return self.act(action.seat, str(action.kind), args)

    def act(self, seat: int, kind: str, args: tuple = ()) -> Record:
        """Write an act of a seat: its own record, or a guest's proxy."""
        if seat in self.players:
            return self.players[seat].act(self.ledger, kind, args)
        return unsigned_record(proxy_body(self.ledger, seat, kind, args))

    def next_record(self) -> Record | None:
        """Return what an honest party would write next; None once every ack is in."""
        record = self._show() or self.dealer.next_record(self.ledger)
        if record is not None:
            return record
        match due(self.ledger):
            case Due.CONSEQUENCE:
                return self.consequence()
            case Due.REKEY:
                return self._fresh_chain()
            case _ if self.ledger.phase is Phase.CALLED:
                return self._release()
            case _ if self.ledger.phase is Phase.ENDED:
                waiting = [seat for seat in self.players if seat not in self.ledger.acks]
                return self.players[waiting[0]].ack(self.ledger) if waiting else None
            case _:
                return self._decision()

    def _show(self) -> Record | None:
        """Let a seat show cards by choice, now and then, where the hand is over and the rules leave it the choice."""
        if not may_show(self.ledger):
            return None
        shows = [
            action for seat in range(self.ledger.seats) for action in legal(self.ledger.match, Seat(seat))
        ]
        return self.record_of(self.random.choice(shows)) if shows and self.random.random() < 0.3 else None

    def _release(self) -> Record:
        ready = [seat for seat in seats_missing(self.ledger) if seat not in self.silent]
        return self.players[ready[0]].release(self.ledger) if ready else self.dealer.void(self.ledger)

    def _decision(self) -> Record:
        if self.ledger.pause.active:
            return self.rule("resume")
        assert self.ledger.match is not None
        if deciders(self.ledger.match)[0] in self.away:
            return self.dealer.move(self.ledger)
        return self.record_of(self.choice())

    def _fresh_chain(self) -> Record:
        if is_exhausted(self.ledger, 0):
            return self.dealer.rekey(self.ledger, secret(f"root {self.ledger.deal_index}", self.seed))
        seat = next(seat for seat in self.players if is_exhausted(self.ledger, seat + 1))
        return self.players[seat].rekey(self.ledger)

    def consequence(self) -> Record:
        """Return what must follow a void: a substitute, a forfeit, or the end without a winner."""
        if awaits_substitutes(self.ledger) and not must_end(self.ledger):
            return self.rule("resume") if self.ledger.pause.active else self.newcomer(self.ledger.silent[0])
        for seat in self.ledger.silent:
            if may_forfeit(self.ledger, seat, "silent"):
                return self.dealer.forfeit(self.ledger, seat, "silent")
        return self.dealer.abandon(self.ledger, "empty" if may_abandon(self.ledger, "empty") else "voids")

    def newcomer(self, seat: int) -> Record:
        """Let somebody new take a seat."""
        self.players[seat] = Puppet(seat, self.seed, person=f"newcomer {self.ledger.k} ")
        self.silent -= {seat}
        self.away -= {seat}
        return self.players[seat].sub(self.ledger)

    def step(self) -> Record | None:
        record = self.next_record()
        if record is not None:
            self.add(record)
        return record

    def run(self, *, until=lambda ledger: False) -> "Table":
        """Play until the condition holds, or to the last ack."""
        while not until(self.ledger) and self.step() is not None:
            pass
        return self

    def to(self, phase: str, *, index: int = 1) -> "Table":
        """Play to a phase of a deal index."""
        return self.run(until=lambda ledger: ledger.phase == phase and ledger.deal_index >= index)

    def play(self, line: str) -> Ledger:
        """Let the one seat that can do so make a move, by its line."""
        assert self.ledger.match is not None
        match = self.ledger.match
        for seat in range(self.ledger.seats):
            for action in legal(match, seat):
                if move_line(match.variant, action) == line:
                    return self.add(self.record_of(action))
        raise AssertionError(f"nobody can {line}")

    def rest(self) -> "Table":
        """Let every seat ask for a pause and the server grant it."""
        for seat in range(self.ledger.seats):
            self.add(self.act(seat, "pause"))
        self.add(self.rule("pause"))
        return self

    def file(self) -> bytes:
        return write_transcript(self.document, self.records)

    def audit(self, own: OwnSeat | None = None) -> Auditor:
        return audit(self.document, self.records, own)


def audit(document: bytes, records: Iterable[Record], own: OwnSeat | None = None) -> Auditor:
    """Feed a whole transcript."""
    auditor = Auditor(document, own)
    for record in records:
        auditor.feed(record)
    return auditor


__all__ = ["Puppet", "Table", "audit", "here", "secret"]
