"""What a player is told of cards, and what when its client comes back in a hand."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from client.playing import at_table, my_turn, play_on
from client.viewed import screen_of
from msgspec.structs import replace
from protocol.peers import Table
from protocol.shared import paulista, sharing_table

from truc_client import reports
from truc_client.errors import LostError
from truc_client.happenings import (
    CardsDealt,
    Happening,
    MatchContinued,
    MatchStarted,
    PartnerCards,
    RecordSeen,
    YourTurn,
)
from truc_client.home import transcripts
from truc_client.home.store import HomeStore
from truc_client.matches.live_audit import LiveAudit
from truc_client.matches.seat_match import SeatMatch
from truc_client.matches.telling import match_started, told_again
from truc_protocol.audit import OwnSeat
from truc_protocol.bodies import Share
from truc_protocol.messages import MatchRecord, OwnCards
from truc_protocol.records import parse
from truc_rules import preset


@contextmanager
def opened_again(
    table: Table, folder: Path, store: HomeStore, *, seat: int, records: int
) -> Iterator[LiveAudit]:
    """Give the audit of a seat that has kept the setup and so many records, and opens again what it kept."""
    own, path = OwnSeat(seat, table.players[seat].x), folder / f"{records}.truc"
    file = transcripts.create(path, table.document)
    LiveAudit(file, folder, store, own).begin(tuple(table.records[: len(table.setup.records) + records]))
    file.close()
    audit = LiveAudit(transcripts.reopen(path), folder, store, own)
    audit.replay()
    yield audit
    audit.file.close()


@pytest.fixture
def come_back(tmp_path, store) -> Iterator[SeatMatch]:
    """Return the match of a seat that was shown its partner's cards, opened again from what was kept."""
    table = sharing_table()
    while table.dealer.next_record(table.ledger) is not None:
        table.step()
    me = [body.receiver for body in map(parse, table.records) if isinstance(body, Share)][-1]
    with opened_again(table, tmp_path, store, seat=me, records=len(table.records)) as audit:
        yield SeatMatch(audit, me)


def test_it_is_told_its_cards_and_its_partners_again(come_back):
    started, recalled, own, partner = told_again(come_back.audit, come_back.seat)
    kinds = [MatchStarted, MatchContinued, CardsDealt, PartnerCards]
    assert list(map(type, (started, recalled, own, partner))) == kinds
    assert started.resumed
    assert len(own.cards) == len(come_back.audit.auditor.openings)
    assert partner.seat == (come_back.seat + 2) % 4


def test_guest_is_told_which_cards_are_a_partners(come_back):
    partners = OwnCards(table="ABCDE", match=bytes(32), k=9, j=0, d=0, cards=("3o", "2o"), of=2)
    assert come_back.take_notice(partners) == [PartnerCards(2, ("3o", "2o"))]
    assert come_back.take_notice(replace(partners, of=None)) == [CardsDealt(("3o", "2o"))]


async def test_who_never_reads_is_lost_for_good(monkeypatch):
    monkeypatch.setattr(reports, "MAX_HAPPENINGS", 2)
    told = reports.Reports()
    with pytest.raises(LostError) as lost:
        told.say(*"123")
    assert not lost.value.again


def opened(table: Table, folder: Path, store: HomeStore, *, seat: int, records: int) -> list[Happening]:
    """Return what a seat is told that comes back when so many records were kept."""
    with opened_again(table, folder, store, seat=seat, records=records) as audit:
        return told_again(audit, seat)


def followed(table: Table, folder: Path, store: HomeStore, *, seat: int) -> Iterator[list[Happening]]:
    """Yield what a seat was told that has never left, record by record."""
    own = OwnSeat(seat, table.players[seat].x)
    audit = LiveAudit(transcripts.create(folder / "live.truc", table.document), folder, store, own)
    setup = len(table.setup.records)
    audit.begin(tuple(table.records[:setup]))
    match = SeatMatch(audit, seat)
    told: list[Happening] = [match_started(audit, seat, resumed=False)]
    for k, (signer, body, sig) in enumerate(table.records[setup:]):
        message = MatchRecord(table="T", match=match.mid, k=k, signer=signer, body=body, sig=sig, means=())
        told += match.take_record(message)
        yield told
    audit.file.close()


def panel(told: list[Happening]) -> str:
    """Return the panel that a screen shows now."""
    screen, out = screen_of()
    for happening in told:
        screen.show(happening)
    at = out.tell()
    screen.show(YourTurn(0, 0, (), True, None))
    return out.getvalue()[at:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "seats"),
    [(preset("truc-partnership"), 4), (paulista(), 4), (preset("truco-argentino-flor"), 2)],
    ids=["partnership", "paulista", "argentino"],
)
def test_panel_after_coming_back_is_the_panel_before(tmp_path, store, variant, seats):
    table = Table(variant, seats=seats, seed=3)
    for _ in range(120):
        record = table.next_record()
        if record is None:
            break
        table.add(record)
    for records, told in enumerate(followed(table, tmp_path, store, seat=1), start=1):
        if records % 11 == 0:
            again = opened(table, tmp_path, store, seat=1, records=records)
            assert panel(again) == panel(told), records


def test_panel_after_coming_back_has_the_cards_that_are_left(tmp_path, store):
    table = Table("truc-french").to("hand")
    while (played := parse(table.records[-1])) and getattr(played, "kind", None) != "play":
        table.add(table.dealer.move(table.ledger))
    records = len(table.records) - len(table.setup.records)
    told = panel(opened(table, tmp_path, store, seat=played.seat, records=records))
    assert len(re.search(r"cards +(.*)", told)[1].split()) == 2


async def test_seat_is_told_what_it_may_see_of_the_match_after_each_record(server, player) -> None:
    async with at_table(server, player) as table:
        seen = await play_on(table, until=my_turn)
        view, pack = table.match.view, table.match.ledger.setup.terms.variant.pack
    record = [happening for happening in seen if isinstance(happening, RecordSeen)][-1]
    dealt = next(happening for happening in seen if isinstance(happening, CardsDealt))
    assert record.view == view
    assert tuple(pack[card] for card in view.cards) == dealt.cards
