"""Forged play: openings, acts, proxies, rulings, shares, scores, pauses, acks (C19 to C24, C29, C32)."""

import pytest
from protocol.forge import LINK, SERVER, SIGNER, Case, altered, cases, check_refused, resigned, small, until
from protocol.peers import Player, Table, here
from protocol.shared import sharing_table

from truc_protocol.bodies import Ack, Call, Close, End, Open, Proxy, Release, Share
from truc_protocol.records import parse
from truc_protocol.setup import Opts
from truc_rules import deciders


def standing(**options) -> Table:
    """A hand of French in which eldest has stood and must play; it is seat `turn(table)`."""
    table = Table(**options).to("hand")
    table.play("stand")
    return table


def turn(table: Table) -> int:
    return deciders(table.ledger.match)[0]


def opening(table: Table, seat: int, slot: int) -> tuple:
    return (slot, *table.dealer.openings(table.ledger, seat)[slot])


def card_not_held():
    table = standing()
    slot, card, salt = opening(table, turn(table), 0)
    return table, table.act(turn(table), "play", (slot, (card + 1) % 32, salt, None))


def wrong_salt():
    table = standing()
    slot, card, _ = opening(table, turn(table), 0)
    return table, table.act(turn(table), "play", (slot, card, bytes(16), None))


def another_seats_card():
    table = standing()
    return table, table.act(turn(table), "play", (*opening(table, 1 - turn(table), 0), None))


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


def slot_beyond_the_deal():
    table = standing()
    return table, table.act(turn(table), "play", (3, 0, bytes(16), None))


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


def act_out_of_turn():
    table = Table().to("hand")
    return table, table.act(1 - turn(table), "stand")


def act_before_the_draw():
    table = Table()
    return table, table.act(0, "stand")


def kind_of_another_game():
    table = Table().to("hand")
    return table, table.act(turn(table), "envido")


def raise_beyond_the_ladder():
    table = standing()
    return table, table.act(turn(table), "raise", (7,))


def show_where_no_rule_lets():
    table = standing()
    return table, table.act(turn(table), "show", ([list(opening(table, turn(table), 1))],))


def ask_with_a_card_where_asks_come_first():
    table = standing()
    return table, table.act(turn(table), "play", (*opening(table, turn(table), 0), 2))


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


def resign_as_an_act():
    table = Table().to("hand")
    return table, table.act(0, "resign")


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
    return table, table.dealer.proxy(table.ledger, turn(table), "stand", ())


def signed_act_made_a_proxy():
    table = Table().to("hand")
    signed = parse(table.act(turn(table), "stand"))
    fields = [getattr(signed, name) for name in signed.__struct_fields__]
    return table, resigned(table, Proxy(*fields))


def act_in_a_guests_name():
    table = Table(guests=(0,)).to("hand")
    return table, Player(0, 1).act(table.ledger, "stand")


def resign_in_a_guests_name():
    table = Table(guests=(0,)).to("hand")
    return table, Player(0, 1).resign(table.ledger)


def ack_in_a_guests_name():
    table = Table(small(), guests=(0,))
    until(table, Ack)
    return table, Player(0, 1).ack(table.ledger)


def release_in_a_guests_name():
    table = Table(guests=(0,)).to("called")
    ledger = table.ledger
    return table, Player(0, 1).sign(Release(ledger.setup.mid, *ledger.parallel, 0, 0, LINK))


def act_of_the_seat_that_was_substituted():
    table = Table(opts=Opts(gone=1)).to("called", index=1)
    table.silent = frozenset({0})
    table.run(until=lambda ledger: ledger.phase == "between")
    old = table.players[0]
    table.step()
    return table, old.resign(table.ledger)


def ruled_otherwise_than_fixed():
    table = Table().to("hand")
    return table, table.rule("move", turn(table), "redeal", ())


def ruled_concession_where_cards_are_played():
    table = standing()
    return table, table.rule("move", turn(table), "concede", ())


def ruled_card_from_another_slot():
    table = standing()
    return table, table.rule("move", turn(table), "play", (*opening(table, turn(table), 1), None))


def ruled_card_with_an_ask():
    table = Table("truc-catalan").to("hand")
    return table, table.rule("move", turn(table), "play", (*opening(table, turn(table), 0), 2))


def ruled_cut_in_a_place():
    table = Table("truc-catalan").to("between", index=1)
    return table, table.rule("move", turn(table), "cut", (5,))


def ruled_card_at_the_cut():
    table = Table("truc-catalan").to("between", index=1)
    return table, table.rule("move", turn(table), "play", (0, 0, bytes(16), None))


def ruled_move_of_a_seat_that_does_not_decide():
    table = Table().to("hand")
    return table, altered(table, table.dealer.move(table.ledger), seat=1 - turn(table))


def ruled_move_before_the_draw():
    table = Table()
    return table, table.rule("move", 0, "stand", ())


def ruled_shape_nobody_knows():
    table = Table().to("hand")
    return table, table.rule("move", turn(table), "stand", (1,))


def ruling_not_on_the_list():
    table = Table().to("hand")
    return table, table.rule("fine", 0, None, ())


def ruling_with_args_too_many():
    table = Table().to("hand")
    return table, table.rule("abandon", None, "server", (1,))


def forfeit_of_a_seat_that_is_there():
    table = Table().to("hand")
    return table, table.rule("forfeit", 0, "absent")


def forfeit_for_silence_without_a_void():
    table = Table().to("hand")
    return table, table.rule("forfeit", 0, "silent")


def forfeit_of_a_reason_of_another_mode():
    table = Table().to("hand")
    return table, table.rule("forfeit", 0, "opening")


def forfeit_after_a_void_at_the_draw():
    table = Table().to("called", index=0)
    table.add(table.players[1].release(table.ledger))
    table.add(table.dealer.void(table.ledger))
    return table, table.rule("forfeit", 0, "silent")


def forfeit_of_one_side_when_both_were_silent():
    table = Table().to("called", index=1)
    table.add(table.dealer.void(table.ledger))
    return table, table.rule("forfeit", 0, "silent")


def forfeit_where_the_table_waits():
    table = Table(opts=Opts(gone=2, gone_after=1)).to("hand")
    seat = turn(table)
    table.add(table.dealer.move(table.ledger))
    return table, table.rule("forfeit", seat, "absent")


def forfeit_one_ruling_early():
    table = Table(opts=Opts(gone_after=2)).to("hand")
    seat = turn(table)
    table.add(table.dealer.move(table.ledger))
    return table, table.rule("forfeit", seat, "absent")


def abandoned_for_voids_that_did_not_happen():
    table = Table().to("hand")
    return table, table.rule("abandon", None, "voids")


def abandoned_as_empty_with_seats_there():
    table = Table().to("hand")
    return table, table.rule("abandon", None, "empty")


def abandoned_for_another_reason():
    table = Table().to("hand")
    return table, table.rule("abandon", None, "tired")


def abandoned_when_the_match_is_won():
    table = Table(small())
    table.run(until=lambda ledger: ledger.match is not None and ledger.match.winner is not None)
    return table, table.rule("abandon", None, "server")


def resignation_when_the_match_is_won():
    table = Table(small())
    table.run(until=lambda ledger: ledger.match is not None and ledger.match.winner is not None)
    return table, table.players[0].resign(table.ledger)


def pause_that_not_all_asked_for():
    table = Table().to("hand")
    table.add(table.act(0, "pause"))
    return table, table.rule("pause")


def resume_without_a_pause():
    table = Table().to("hand")
    return table, table.rule("resume")


def pause_ruled_after_a_void():
    table = Table().to("between", index=1)
    for seat in (0, 1):
        table.add(table.act(seat, "pause"))
    table.to("called", index=1)
    table.add(table.dealer.void(table.ledger))
    return table, table.rule("pause")


def open_that_no_rule_demands():
    table = Table().to("hand")
    card = opening(table, 0, 0)
    return table, table.sign(Open(*here(table.ledger), 1, 0, 0, (card,)))


def share_that_no_rule_demands():
    table = Table().to("hand")
    return table, table.sign(Share(*here(table.ledger), 1, 0, 0, 1, b"x"))


def act_before_the_share():
    table = sharing_table()
    return table, table.act(turn(table), "accept")


def resign_before_the_share():
    table = sharing_table()
    return table, table.players[0].resign(table.ledger)


def share_to_the_wrong_seat():
    table = sharing_table()
    body = parse(table.next_record())
    return table, altered(table, table.next_record(), receiver=(body.receiver + 1) % 4)


def share_out_of_order():
    table = sharing_table()
    body = parse(table.next_record())
    return table, altered(table, table.next_record(), giver=body.receiver, receiver=body.giver)


def share_boxed_for_a_guest_without_a_key():
    table = sharing_table(guests=(0, 1, 2, 3))
    return table, altered(table, table.next_record(), box=b"x")


def share_of_another_sub_deal():
    table = sharing_table()
    return table, altered(table, table.next_record(), d=1)


def share_with_an_empty_box():
    table = sharing_table()
    return table, altered(table, table.next_record(), box=b"")


def close_with_another_score():
    table = Table()
    return table, altered(table, until(table, Close), score=((0, 0, 9), (0, 0, 0)))


def close_for_another_reason():
    table = Table()
    return table, altered(table, until(table, Close), reason="ended")


def close_before_the_hand_is_over():
    table = Table().to("hand")
    link = table.dealer._link(table.ledger)
    return table, table.sign(Close(*here(table.ledger), 1, link, ((0, 0, 0), (0, 0, 0)), "hand"))


def second_close():
    table = Table(small())
    close = parse(until(table, Close))
    table.run(until=lambda ledger: ledger.phase == "over" and ledger.hand is None)
    fields = [getattr(close, name) for name in close.__struct_fields__[4:]]
    return table, table.sign(Close(*here(table.ledger), table.ledger.deal_index, *fields))


def end_before_the_close():
    table, other = Table(small()), Table(small())
    table.to("hand")
    table.add(table.players[0].resign(table.ledger))
    end = parse(until(other, End))
    fields = [getattr(end, name) for name in end.__struct_fields__[3:]]
    return table, table.sign(End(*here(table.ledger), *fields))


def end_with_another_winner():
    table = Table(small())
    record = until(table, End)
    return table, altered(table, record, winner=1 - parse(record).winner)


def end_for_another_reason():
    table = Table(small())
    return table, altered(table, until(table, End), reason="resigned")


def end_with_another_score():
    table = Table(small())
    return table, altered(table, until(table, End), score=((5, 0, 0), (0, 0, 0)))


def act_while_paused():
    table = Table().to("hand").rest()
    return table, table.act(turn(table), "stand")


def ruled_move_while_paused():
    table = Table().to("hand").rest()
    return table, table.dealer.move(table.ledger)


def rekey_while_paused():
    table = Table().to("between").rest()
    return table, table.players[0].rekey(table.ledger)


def call_while_paused():
    table = Table()
    call = until(table, Call)
    table.rest()
    return table, altered(table, call, k=table.ledger.k, head=table.ledger.head)


def second_pause_of_a_seat_in_a_hand():
    table = Table().to("hand").rest()
    table.add(table.rule("resume"))
    return table, table.act(0, "pause")


def pause_asked_twice():
    table = Table().to("hand")
    table.add(table.act(0, "pause"))
    return table, table.act(0, "pause")


def resume_asked_without_a_pause():
    table = Table().to("hand")
    return table, table.act(0, "resume")


def second_ack():
    table = Table(small())
    table.add(until(table, Ack))
    return table, table.records[-1]


ROWS = (
    *(
        ("C19", SIGNER, build)
        for build in (card_not_held, wrong_salt, another_seats_card, card_of_another_slot)
    ),
    *(("C19", SIGNER, build) for build in (slot_played_twice, slot_beyond_the_deal, card_before_the_deal)),
    *(
        ("C19", SIGNER, build)
        for build in (card_of_a_deal_thrown_in, guest_card_not_held, ruled_card_not_held)
    ),
    ("C2", SIGNER, cards_shown_twice),
    *(("C20", SIGNER, build) for build in (act_out_of_turn, act_before_the_draw, kind_of_another_game)),
    *(("C20", SIGNER, build) for build in (raise_beyond_the_ladder, show_where_no_rule_lets, cut_of_no_card)),
    *(("C20", SIGNER, build) for build in (ask_with_a_card_where_asks_come_first, act_while_a_redeal_is_due)),
    *(("C20", SIGNER, build) for build in (act_when_the_hand_is_over, resign_as_an_act)),
    *(("C2", SIGNER, build) for build in (kind_nobody_knows, args_of_another_shape, guest_kind_nobody_knows)),
    ("C21", SERVER, proxy_for_a_keyed_seat),
    ("C21", SERVER, signed_act_made_a_proxy),
    *(
        ("C21", None, build)
        for build in (act_in_a_guests_name, resign_in_a_guests_name, ack_in_a_guests_name)
    ),
    ("C21", None, release_in_a_guests_name),
    ("C3", None, act_of_the_seat_that_was_substituted),
    *(
        ("C22", SERVER, build)
        for build in (ruled_otherwise_than_fixed, ruled_concession_where_cards_are_played)
    ),
    *(("C22", SERVER, build) for build in (ruled_card_from_another_slot, ruled_card_with_an_ask)),
    *(("C22", SERVER, build) for build in (ruled_cut_in_a_place, ruled_card_at_the_cut)),
    *(
        ("C22", SERVER, build)
        for build in (ruled_move_of_a_seat_that_does_not_decide, ruled_move_before_the_draw)
    ),
    ("C2", SERVER, ruled_shape_nobody_knows),
    *(("C22", SERVER, build) for build in (ruling_not_on_the_list, ruling_with_args_too_many)),
    *(
        ("C22", SERVER, build)
        for build in (forfeit_of_a_seat_that_is_there, forfeit_for_silence_without_a_void)
    ),
    *(
        ("C22", SERVER, build)
        for build in (forfeit_of_a_reason_of_another_mode, forfeit_after_a_void_at_the_draw)
    ),
    *(
        ("C22", SERVER, build)
        for build in (forfeit_of_one_side_when_both_were_silent, forfeit_one_ruling_early)
    ),
    *(
        ("C22", SERVER, build)
        for build in (forfeit_where_the_table_waits, abandoned_for_voids_that_did_not_happen)
    ),
    *(
        ("C22", SERVER, build)
        for build in (abandoned_as_empty_with_seats_there, abandoned_for_another_reason)
    ),
    *(("C22", SERVER, build) for build in (pause_that_not_all_asked_for, resume_without_a_pause)),
    ("C24", SERVER, abandoned_when_the_match_is_won),
    ("C24", None, resignation_when_the_match_is_won),
    ("C26", SERVER, pause_ruled_after_a_void),
    ("C23", SERVER, open_that_no_rule_demands),
    ("C23", SERVER, share_that_no_rule_demands),
    ("C23", None, act_before_the_share),
    ("C23", None, resign_before_the_share),
    *(
        ("C23", SERVER, build)
        for build in (share_to_the_wrong_seat, share_out_of_order, share_with_an_empty_box)
    ),
    ("C23", SERVER, share_boxed_for_a_guest_without_a_key),
    ("C12", SERVER, share_of_another_sub_deal),
    *(("C24", SERVER, build) for build in (close_with_another_score, close_for_another_reason, second_close)),
    *(("C24", SERVER, build) for build in (close_before_the_hand_is_over, end_before_the_close)),
    *(
        ("C24", SERVER, build)
        for build in (end_with_another_winner, end_for_another_reason, end_with_another_score)
    ),
    *(("C29", SERVER, build) for build in (ruled_move_while_paused, call_while_paused)),
    *(("C29", SIGNER, build) for build in (act_while_paused, rekey_while_paused, pause_asked_twice)),
    *(("C29", SIGNER, build) for build in (second_pause_of_a_seat_in_a_hand, resume_asked_without_a_pause)),
    ("C32", None, second_ack),
)


@pytest.mark.parametrize("case", cases(*ROWS))
def test_forged_play_is_refused(case: Case) -> None:
    check_refused(case)
