"""What the audit of a closed hand recomputes, apart from the records around it; and what rests on somebody's word."""

import pytest
from msgspec.structs import replace
from protocol.forge import cheat, refutation, small, until, with_card
from protocol.peers import Table
from protocol.shared import sharing_table
from rows import each_row

from truc_protocol.audit import AuditError, OwnSeat
from truc_protocol.audit.hands import ClosedHand, check_boxes, closed_hand, open_hand
from truc_protocol.audit.verdict import UnsignedWord
from truc_protocol.bodies import Close, Deal, Proxy, Share
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import box_key
from truc_protocol.dealing import Opening
from truc_protocol.ledger import fold
from truc_protocol.records import parse
from truc_rules import deciders


def over(variant="truc-french") -> Table:
    """A hand that is over and waits to be closed."""
    table = Table(variant)
    until(table, Close)
    return table


def refused(table: Table, hand: ClosedHand) -> CheckError:
    with pytest.raises(CheckError) as caught:
        open_hand(table.setup, hand, table.dealer._link(table.ledger))
    return caught.value


def test_hand_closed_before_it_was_over_is_the_servers_fault():
    table = over()
    close = parse(table.next_record())
    hand = closed_hand(table.ledger, close)
    assert refused(table, hand._replace(log=replace(hand.log, steps=()))).check == "C25"
    # neither is ever asked where it cannot be answered
    with pytest.raises(ValueError, match="not open"):
        check_boxes(table.setup, hand, table.dealer._box_key)
    with pytest.raises(ValueError, match="no hand"):
        closed_hand(Table().ledger, close)


def test_card_dealt_to_two_seats_is_seen_when_it_is_played_twice():
    table = Table(small())
    until(table, Deal)
    twice = table.dealer._cards(table.ledger, 1)[0].hands[0][0].card
    cheat(table, lambda cards: with_card(cards, 1, 0, Opening(twice, cards.hands[1][0].salt)))
    deal = table.next_record()
    table.records.append(deal)
    table.ledger = fold(table.ledger, deal, parse(deal)).ledger
    auditor = table.audit()
    for kind, slot in (("stand", None), ("play", 0), ("play", 0)):
        seat = deciders(table.ledger.match)[0]
        args = () if slot is None else (slot, *table.dealer.openings(table.ledger, seat)[slot], None)
        record = table.act(seat, kind, args)
        if slot == 0 and len(table.ledger.hand.steps) == 2:
            with pytest.raises(AuditError, match="C25"):
                auditor.feed(record)
            return
        auditor.feed(record)
        table.ledger = fold(table.ledger, record, parse(record)).ledger
    raise AssertionError("the card was never played twice")


@each_row("is_told", [True, False])
def test_auditor_of_a_seat_opens_its_hands_once_it_is_told_of_the_key_in_force(is_told):
    table = Table().to("between")
    seat, count = table.players[0], len(table.records)
    auditor = table.audit(OwnSeat(0, seat.x))
    table.add(seat.rekey(table.ledger))
    if is_told:
        auditor.add_box_key(seat.x)
    for record in table.to("hand").records[count:]:
        auditor.feed(record)
    assert auditor.openings == (table.dealer.openings(table.ledger, 0) if is_told else ())


def test_auditor_of_a_receiver_knows_its_partners_cards():
    table = sharing_table()
    share = parse(table.next_record())
    table.step()
    auditor = table.audit(OwnSeat(share.receiver, table.players[share.receiver].x))
    known = auditor.ledger.match.hand.dealt.cards[share.giver]
    assert known == tuple(opening.card for opening in table.dealer.openings(table.ledger, share.giver))
    assert table.audit(OwnSeat(share.receiver, box_key(bytes(32)))).openings == ()


def test_signer_below_every_role_is_refused_without_blame():
    table = Table().to("hand")
    auditor = table.audit()
    with pytest.raises(AuditError, match="C2") as caught:
        auditor.feed(table.players[1].resign(table.ledger)._replace(signer=-1))
    assert caught.value.refutation.culprit is None


@each_row("reveal, is_open", [("hand", True), ("match", False)])
def test_last_hand_is_open_after_its_close_or_all_after_the_end(reveal, is_open):
    table = Table(small(reveal=reveal, target=8))
    assert table.audit().last_hand is None
    assert (table.to("between", index=2).audit().last_hand.dealt is not None) is is_open
    assert all(hand.dealt is not None for hand in table.run().audit().hands)


def test_finding_tells_position_body_and_events():
    table = Table().to("hand")
    auditor = table.audit()
    finding = auditor.feed(table.step())
    assert (finding.k, type(finding.body).__name__) == (table.ledger.k - 1, "Act")
    assert finding.events


def test_refutation_says_where_what_and_who_and_a_refusal_of_the_rules_has_their_code():
    table = Table().to("hand")
    auditor, seat = table.audit(), deciders(table.ledger.match)[0]
    refused = refutation(auditor, table.act(seat, "raise", (7,)))
    assert str(refused).startswith(f"record {table.ledger.k}: C20: ")
    assert refused.rule == "the rules allow this seat this act now"
    record = table.act(1 - seat, "stand")
    with pytest.raises(CheckError) as caught:
        fold(table.ledger, record, parse(record))
    assert caught.value.refusal == "not_your_turn"


def test_share_for_a_guest_without_a_box_key_is_empty_in_a_match_that_is_proven():
    table = sharing_table(guests=(2, 3)).run()
    shares = [body for body in map(parse, table.records) if isinstance(body, Share)]
    assert {bool(share.box) for share in shares if share.receiver in (2, 3)} == {False}
    assert {bool(share.box) for share in shares if share.receiver in (0, 1)} == {True}
    assert table.audit().verdict().result == "proven"


def proxies(count: int) -> UnsignedWord:
    ledger, words = Table().to("hand").ledger, UnsignedWord()
    for k in range(count):
        body = Proxy(b"m" * 32, k, b"h" * 32, 1, 0, "order", ("low",))
        words = words.with_record(replace(ledger, k=k), body)
    return words


def test_words_are_told_in_order_however_many_there_are():
    words = proxies(20_000)
    assert [word.k for word in words.all()] == list(range(20_000))
    assert len(words.before.all()) == 19_999
