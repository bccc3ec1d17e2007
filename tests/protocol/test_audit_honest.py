import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol.peers import Table

from truc_protocol.audit import Auditor, OwnSeat, Result, verify
from truc_protocol.bodies import Deal
from truc_protocol.ledger import Due, due, may_forfeit, seats_missing
from truc_protocol.ledger.state import is_gone, must_end
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import GONE_SUBSTITUTE, Opts
from truc_rules import deciders, preset, presets, with_options

GAMES = [
    ("truc-french", 2),
    ("truc-catalan", 4),
    ("le-truc", 2),
    ("truc-partnership", 4),
    ("trut", 2),
    ("truco-argentino-flor", 4),
    ("truco-paulista", 4),
]
LONG = "TRUC_EXAMPLES" in os.environ
REVEALS = ("hand", "match")
EVERY_GAME = [
    (name, seats, reveal)
    for n, name in enumerate(presets())
    for m, seats in enumerate(preset(name).players)
    for reveal in (REVEALS if LONG else [REVEALS[(n + m) % 2]])
]
"""Each game at each of its tables, under one of the policies in turn; with TRUC_EXAMPLES under both."""
SCORE = {} if LONG else {"target": 9}


class Weather:
    """What befalls a match: rulings, voids, pauses, rekeys, substitutes, resignations."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table = table
        self.random = random.Random(seed)
        self.seen: set[str] = set()

    def run(self) -> Table:
        table = self.table
        while True:
            before = len(table.records)
            if (
                table.ledger.phase in (Phase.BETWEEN, Phase.CALLED, Phase.HAND)
                and self.random.random() < 0.15
            ):
                self._happen()
            if len(table.records) == before and table.step() is None:
                return table

    def _happen(self) -> None:
        chance = self.random.choice(
            [self._void, self._move, self._rest, self._rekey, self._newcomer, self._last]
        )
        chance()

    def _note(self, name: str, record: Record) -> None:
        self.seen.add(name)
        self.table.add(record)

    def _void(self) -> None:
        if seats_missing(self.table.ledger):
            self._note("void", self.table.dealer.void(self.table.ledger))

    def _move(self) -> None:
        ledger = self.table.ledger
        waits = due(ledger) is Due.PLAYERS and ledger.phase is not Phase.CALLED
        if waits and not ledger.pause.active and deciders(ledger.match):
            self._note("move", self.table.dealer.move(ledger))

    def _rest(self) -> None:
        ledger = self.table.ledger
        calm = ledger.phase is Phase.BETWEEN or (ledger.phase is Phase.HAND and due(ledger) is Due.PLAYERS)
        if calm and not ledger.pause.active and not ledger.pause.spent and not must_end(ledger):
            self.table.rest()
            self.seen.add("pause")
            if self.random.random() < 0.5:
                for seat in range(ledger.seats):
                    self.table.add(self.table.act(seat, "resume"))

    def _rekey(self) -> None:
        ledger, table = self.table.ledger, self.table
        if (
            ledger.phase is Phase.BETWEEN
            and not must_end(ledger)
            and table.players
            and not ledger.pause.active
        ):
            seat = self.random.choice(sorted(table.players))
            if ledger.contributors[seat + 1].rekeys < table.opts.rekeys:
                self._note("rekey", table.players[seat].rekey(ledger))

    def _newcomer(self) -> None:
        ledger, table = self.table.ledger, self.table
        gone = [seat for seat in range(ledger.seats) if is_gone(ledger, seat)]
        if ledger.phase is not Phase.BETWEEN or must_end(ledger) or not gone or ledger.pause.active:
            return
        if table.opts.gone == GONE_SUBSTITUTE:
            self._note("sub", table.newcomer(gone[0]))
        elif may_forfeit(ledger, gone[0], "absent"):
            self._note("forfeit", table.dealer.forfeit(ledger, gone[0], "absent"))

    def _last(self) -> None:
        ledger, table = self.table.ledger, self.table
        if self.random.random() < 0.8 or ledger.phase is Phase.CALLED or must_end(ledger):
            return
        if ledger.phase is Phase.HAND and due(ledger) is not Due.PLAYERS:
            return
        if self.random.random() < 0.5:
            self._note("abandon", table.dealer.abandon(ledger, "server"))
        else:
            seat = self.random.randrange(ledger.seats)
            resigned = (
                table.players[seat].resign(ledger) if seat in table.players else table.act(seat, "resign")
            )
            self._note("resign", resigned)


@st.composite
def stormy_tables(draw) -> tuple[Table, int]:
    name, seats = draw(st.sampled_from(GAMES))
    options = {
        "reveal": draw(st.sampled_from(["hand", "match"])),
        "target": draw(st.integers(2, 6)),
        "match": 1,
    }
    guests = tuple(sorted(draw(st.sets(st.integers(0, seats - 1)))))
    opts = Opts(
        voids=draw(st.integers(0, 3)),
        gone=draw(st.integers(0, 2)),
        rekeys=draw(st.integers(0, 3)),
        gone_after=draw(st.integers(0, 3)),
    )
    table = Table(
        with_options(preset(name), options),
        seats=seats,
        guests=guests,
        opts=opts,
        seed=draw(st.integers(0, 50)),
        links=draw(st.sampled_from([1, 2, 5, 64])),
        boxed_guests=draw(st.booleans()),
    )
    return table, draw(st.integers(0, 10_000))


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(stormy_tables())
def test_match_of_honest_parties_proves_whatever_befalls_it(stormy):
    table, seed = stormy
    Weather(table, seed).run()
    auditor = table.audit()
    assert auditor.verdict().result is Result.PROVEN
    assert auditor.ledger.head == table.ledger.head


def own_auditors(table: Table) -> list[Auditor]:
    keys = {seat: player.x for seat, player in table.players.items()} | table.guest_keys
    return [Auditor(table.document, OwnSeat(seat, x)) for seat, x in sorted(keys.items())]


@pytest.mark.parametrize(("name", "seats", "reveal"), EVERY_GAME)
def test_every_game_is_proven_to_the_end_of_a_match(name, seats, reveal):
    table = Table(with_options(preset(name), {"reveal": reveal, "match": 1, **SCORE}), seats=seats).run()
    assert table.audit().verdict().result is Result.PROVEN


@pytest.mark.parametrize(("name", "seats"), GAMES)
@pytest.mark.parametrize(
    ("guests", "reveal"), [("none", "hand"), ("none", "match"), ("first", "hand"), ("all", "match")]
)
def test_server_and_every_seat_agree_on_every_head(name, seats, guests, reveal):
    sitting = {"none": (), "first": (0,), "all": tuple(range(seats))}[guests]
    variant = with_options(preset(name), {"reveal": reveal, "target": 4, "match": 1})
    table = Table(variant, seats=seats, guests=sitting, boxed_guests=True)
    auditors = own_auditors(table)
    for record in table.setup.records:
        for auditor in auditors:
            auditor.feed(record)
    while (record := table.step()) is not None:
        for seat, auditor in enumerate(auditors):
            auditor.feed(record)
            assert auditor.ledger.head == table.ledger.head
            if isinstance(parse(record), Deal):
                assert auditor.openings == table.dealer.openings(table.ledger, seat)
    assert {auditor.verdict().result for auditor in auditors} == {Result.PROVEN}


@pytest.mark.parametrize(("guests", "level"), [((), "A"), ((1,), "B"), ((0, 1), "C")])
def test_verdict_names_the_assurance_level(guests, level):
    assert verify(Table(guests=guests).run().file()).level == level
