"""Forged acts, openings and proxies: C2, C3, C19 to C21."""

from protocol.forge import (
    LINK,
    SERVER,
    SIGNER,
    altered,
    following,
    opening,
    refusals,
    resigned,
    small,
    standing,
    turn,
    until,
)
from protocol.peers import Puppet, Table
from protocol.rewriting import covered
from protocol.shared import sharing_table

from truc_protocol.audit import verify
from truc_protocol.bodies import Ack, Close, Proxy, Release
from truc_protocol.dealer import proxy
from truc_protocol.records import parse, unsigned
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript


def card_not_held():
    table = standing()
    slot, card, salt = opening(table, turn(table), 0)
    return table, table.act(turn(table), "play", (slot, (card + 1) % 32, salt, None))


def wrong_salt():
    table = standing()
    slot, card, _ = opening(table, turn(table), 0)
    return table, table.act(turn(table), "play", (slot, card, bytes(16), None))


def card_of_another_slot():
    table = standing()
    _, card, salt = opening(table, turn(table), 1)
    return table, table.act(turn(table), "play", (0, card, salt, None))


def slot_played_twice():
    table = standing()
    seat = turn(table)
    played = (*opening(table, seat, 0), None)
    table.add(table.act(seat, "play", played))
    while turn(table) != seat:
        table.add(table.dealer.move(table.ledger))
    return table, table.act(seat, "play", played)


def card_before_the_deal():
    table = Table("truc-catalan").to("between")
    table.to("between", index=1)
    return table, table.act(turn(table), "play", (0, 0, bytes(16), None))


def card_of_a_deal_thrown_in():
    table = Table().to("hand")
    seat = turn(table)
    old = opening(table, seat, 0)
    table.play("redeal")
    table.play("accept")
    return table, table.act(seat, "play", (*old, None))


def guest_card_not_held():
    table = standing(guests=(0, 1))
    return table, table.act(turn(table), "play", (0, 0, bytes(16), None))


def ruled_card_not_held():
    table = standing()
    slot, card, _ = opening(table, turn(table), 0)
    return table, table.rule("move", turn(table), "play", (slot, card, bytes(16), None))


def cards_shown_twice():
    table = standing()
    first = list(opening(table, turn(table), 0))
    return table, table.act(turn(table), "show", ([first, first],))


def cut_of_no_card():
    table = Table("truc-catalan").to("between", index=1)
    return table, table.act(turn(table), "cut", (0,))


def act_while_a_redeal_is_due():
    table = Table().to("hand")
    table.play("redeal")
    table.play("accept")
    return table, table.act(0, "concede")


def act_when_the_hand_is_over():
    table = Table().to("hand")
    until(table, Close)
    return table, table.act(0, "concede")


def kind_nobody_knows():
    table = Table().to("hand")
    return table, table.act(0, "bluff")


def args_of_another_shape():
    table = standing()
    return table, table.act(turn(table), "play", (0,))


def guest_kind_nobody_knows():
    table = Table(guests=(0,)).to("hand")
    return table, table.act(0, "bluff")


def proxy_for_a_keyed_seat():
    table = Table().to("hand")
    return table, unsigned(proxy(table.ledger, turn(table), "stand", ()))


def signed_act_made_a_proxy():
    table = Table().to("hand")
    signed = parse(table.act(turn(table), "stand"))
    fields = [getattr(signed, name) for name in signed.__struct_fields__]
    return table, resigned(table, Proxy(*fields))


def ack_in_a_guests_name():
    table = Table(small(), guests=(0,))
    until(table, Ack)
    return table, Puppet(0, 1).ack(table.ledger)


def release_in_a_guests_name():
    table = Table(guests=(0,)).to("called")
    ledger = table.ledger
    return table, Puppet(0, 1).sign(Release(ledger.setup.mid, *ledger.parallel, 0, 0, LINK))


def act_of_the_seat_that_was_substituted():
    table = Table(opts=Opts(gone=1)).to("called", index=1)
    table.silent = frozenset({0})
    table.run(until=lambda ledger: ledger.phase == "between")
    old = table.players[0]
    table.step()
    return table, old.resign(table.ledger)


def share_of_another_sub_deal():
    table = sharing_table()
    return table, altered(table, table.next_record(), d=1)


test_forged_act_is_refused = refusals(
    ("C19", SIGNER, card_not_held),
    ("C19", SIGNER, wrong_salt),
    ("C19", SIGNER, card_of_another_slot),
    ("C19", SIGNER, slot_played_twice),
    ("C19", SIGNER, card_before_the_deal),
    ("C19", SIGNER, card_of_a_deal_thrown_in),
    ("C19", SIGNER, ruled_card_not_held),
    ("C2", SIGNER, cards_shown_twice),
    ("C20", SIGNER, act_while_a_redeal_is_due),
    ("C20", SIGNER, act_when_the_hand_is_over),
    ("C21", None, signed_act_made_a_proxy),
    ("C21", None, ack_in_a_guests_name),
    ("C21", None, release_in_a_guests_name),
    ("C3", None, act_of_the_seat_that_was_substituted),
    ("C2", SIGNER, args_of_another_shape),
    ("C19", None, guest_card_not_held),
    ("C2", SIGNER, kind_nobody_knows),
    ("C21", None, proxy_for_a_keyed_seat),
    ("C20", SIGNER, cut_of_no_card),
    ("C2", None, guest_kind_nobody_knows),
    ("C12", SERVER, share_of_another_sub_deal),
    *following(
        standing,
        "C19",
        SIGNER,
        another_seats_card=lambda table: table.act(
            turn(table), "play", (*opening(table, 1 - turn(table), 0), None)
        ),
        slot_beyond_the_deal=lambda table: table.act(turn(table), "play", (3, 0, bytes(16), None)),
    ),
    *following(
        standing,
        "C20",
        SIGNER,
        raise_beyond_the_ladder=lambda table: table.act(turn(table), "raise", (7,)),
        show_where_no_rule_lets=lambda table: table.act(
            turn(table), "show", ([list(opening(table, turn(table), 1))],)
        ),
        ask_with_a_card_where_asks_come_first=lambda table: table.act(
            turn(table), "play", (*opening(table, turn(table), 0), 2)
        ),
    ),
    *following(
        lambda: Table().to("hand"),
        "C20",
        SIGNER,
        act_out_of_turn=lambda table: table.act(1 - turn(table), "stand"),
        kind_of_another_game=lambda table: table.act(turn(table), "envido"),
        resign_as_an_act=lambda table: table.act(0, "resign"),
    ),
    *following(Table, "C20", SIGNER, act_before_the_draw=lambda table: table.act(0, "stand")),
    *following(
        lambda: Table(guests=(0,)).to("hand"),
        "C21",
        None,
        act_in_a_guests_name=lambda table: Puppet(0, 1).act(table.ledger, "stand"),
        resign_in_a_guests_name=lambda table: Puppet(0, 1).resign(table.ledger),
    ),
)


def test_act_against_the_rules_is_its_seats_also_where_the_server_has_signed_behind_it() -> None:
    table = standing()
    seat, at = turn(table), table.ledger.k
    records = covered(table, table.act(seat, "raise", (7,)))
    found = verify(write_transcript(table.document, records)).refutation
    assert found is not None
    assert (found.check, found.culprit, found.k) == ("C20", f"seat {seat}", at)
