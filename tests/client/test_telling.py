"""What a player is told of cards when its client comes back in a hand."""

from collections.abc import Iterator

import pytest
from protocol.shared import sharing_table

from truc_client import transcripts
from truc_client.board import Board, with_partner
from truc_client.happenings import CardsDealt, MatchStarted, PartnerCards
from truc_client.seatmatch import SeatMatch
from truc_client.witness import Witness
from truc_protocol.audit import OwnSeat
from truc_protocol.bodies import Share
from truc_protocol.records import parse


@pytest.fixture
def come_back(tmp_path) -> Iterator[SeatMatch]:
    """Return the match of a seat that was shown its partner's cards, opened again from what was kept."""
    table = sharing_table()
    while table.dealer.next_record(table.ledger) is not None:
        table.step()
    me = [body.receiver for body in map(parse, table.records) if isinstance(body, Share)][-1]
    own = OwnSeat(me, table.players[me].x)
    file = transcripts.create(tmp_path / "match.truc", table.document)
    Witness(file, tmp_path, own).begin(tuple(table.records))
    file.close()
    witness = Witness(transcripts.reopen(tmp_path / "match.truc"), tmp_path, own)
    witness.replay()
    yield SeatMatch(witness, me)
    witness.file.close()


def test_it_is_told_its_cards_and_its_partners_again(come_back):
    started, own, partner = come_back.begun_again()
    assert [type(started), type(own), type(partner)] == [MatchStarted, CardsDealt, PartnerCards]
    assert started.resumed
    assert (len(own.cards), partner.seat) == (3, (come_back.seat + 2) % 4)


def test_partner_told_twice_is_shown_once():
    board = Board(4, 0)
    cards = ("3o", "2o", "1o")
    assert with_partner(with_partner(board, 2, cards), 2, cards).partners == ((2, cards),)
