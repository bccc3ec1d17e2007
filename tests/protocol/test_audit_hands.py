"""What the audit of a closed hand recomputes, apart from the records around it; and what rests on somebody's word."""

import pytest
from msgspec.structs import replace
from protocol.forge import cheat, refutation, small, until, with_card
from protocol.peers import Table
from protocol.shared import sharing_table

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


def closed(table: Table) -> ClosedHand:
    """The hand as its honest close leaves it."""
    return closed_hand(table.ledger, parse(table.next_record()))


def refused(table: Table, hand: ClosedHand) -> CheckError:
    with pytest.raises(CheckError) as caught:
        open_hand(table.setup, hand, table.dealer._link(table.ledger))
    return caught.value


def test_hand_closed_before_it_was_over_is_the_servers_fault():
    table = over()
    hand = closed(table)
    assert refused(table, hand._replace(log=replace(hand.log, steps=()))).check == "C25"


def test_no_hand_can_be_closed_where_none_is_open():
    close = parse(over().next_record())
    with pytest.raises(ValueError, match="no hand"):
        closed_hand(Table().ledger, close)


def test_boxes_are_checked_once_the_cards_are_open():
    table = over()
    with pytest.raises(ValueError, match="not open"):
        check_boxes(table.setup, closed(table), table.dealer._box_key)


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


def test_auditor_of_a_seat_knows_its_new_key_once_told():
    table = Table().to("between")
    seat = table.players[0]
    auditor = table.audit(OwnSeat(0, seat.x))
    rekey = seat.rekey(table.ledger)
    auditor.add_box_key(seat.x)
    for record in (rekey, *rest_to_the_deal(table, rekey)):
        auditor.feed(record)
    assert auditor.openings == table.dealer.openings(table.ledger, 0)


def test_auditor_without_the_key_in_force_opens_nothing():
    table = Table().to("between")
    auditor = table.audit(OwnSeat(0, table.players[0].x))
    rekey = table.players[0].rekey(table.ledger)
    for record in (rekey, *rest_to_the_deal(table, rekey)):
        auditor.feed(record)
    assert auditor.openings == ()


def rest_to_the_deal(table: Table, first) -> list:
    table.add(first)
    count = len(table.records)
    table.to("hand")
    return table.records[count:]


def test_auditor_of_another_key_opens_no_share():
    table = sharing_table()
    receiver = parse(table.next_record()).receiver
    table.step()
    assert table.audit(OwnSeat(receiver, box_key(bytes(32)))).openings == ()


def test_auditor_of_a_receiver_knows_its_partners_cards():
    table = sharing_table()
    share = parse(table.next_record())
    table.step()
    auditor = table.audit(OwnSeat(share.receiver, table.players[share.receiver].x))
    known = auditor.ledger.match.hand.dealt.cards[share.giver]
    assert known == tuple(opening.card for opening in table.dealer.openings(table.ledger, share.giver))


def test_signer_below_every_role_is_refused_without_blame():
    table = Table().to("hand")
    auditor = table.audit()
    with pytest.raises(AuditError, match="C2") as caught:
        auditor.feed(table.players[1].resign(table.ledger)._replace(signer=-1))
    assert caught.value.refutation.culprit is None


def test_last_hand_is_open_after_its_close():
    table = Table().to("between", index=2)
    auditor = table.audit()
    assert auditor.last_hand.dealt is not None
    assert auditor.terms.th == table.terms.th


def test_last_hand_stays_closed_under_match():
    table = Table(small(reveal="match", target=8)).to("between", index=2)
    assert table.audit().last_hand.dealt is None


def test_no_hand_was_closed_before_the_first():
    assert Table().audit().last_hand is None


def test_under_match_the_end_opens_every_hand():
    table = Table(small(reveal="match", target=4)).run()
    auditor = table.audit()
    assert all(hand.dealt is not None for hand in auditor.hands)


def test_finding_tells_position_body_and_events():
    table = Table().to("hand")
    auditor = table.audit()
    finding = auditor.feed(table.step())
    assert (finding.k, type(finding.body).__name__) == (table.ledger.k - 1, "Act")
    assert finding.events


def test_refusal_of_the_rules_carries_their_code():
    table = Table().to("hand")
    seat = deciders(table.ledger.match)[0]
    record = table.act(1 - seat, "stand")
    with pytest.raises(CheckError) as caught:
        fold(table.ledger, record, parse(record))
    assert caught.value.refusal == "not_your_turn"


def test_refutation_says_where_what_and_who():
    table = Table().to("hand")
    auditor = table.audit()
    refused = refutation(auditor, table.act(deciders(table.ledger.match)[0], "raise", (7,)))
    assert str(refused).startswith(f"record {table.ledger.k}: C20: ")
    assert refused.rule == "the rules allow this seat this act now"


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


def test_words_are_told_in_order():
    assert [word.k for word in proxies(20).all()] == list(range(20))


def test_words_stand_upon_those_before_them():
    words = proxies(3)
    before = words.before
    assert (len(words.all()), len(before.all())) == (3, 2)
    assert before.before is words.before.before


def test_very_many_words_are_told():
    assert len(proxies(20_000).all()) == 20_000
