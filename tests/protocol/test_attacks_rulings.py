"""Forged rulings, shares, scores, pauses and acks: C2, C12, C22 to C24, C26, C29, C32."""

from protocol.forge import (
    SERVER,
    SIGNER,
    Case,
    altered,
    check_refused,
    following,
    opening,
    refusals,
    small,
    standing,
    turn,
    until,
)
from protocol.peers import Table, here
from protocol.shared import sharing_table

from truc_protocol.bodies import Ack, Call, Close, End, Open, Share
from truc_protocol.records import parse
from truc_protocol.setup import Opts


def ruled_card_with_an_ask():
    table = Table("truc-catalan").to("hand")
    return table, table.rule("move", turn(table), "play", (*opening(table, turn(table), 0), 2))


def ruled_move_before_the_draw():
    table = Table()
    return table, table.rule("move", 0, "stand", ())


def ruled_move_of_no_kind_while_paused():
    table = Table().to("hand").rest()
    return table, table.rule("move", turn(table), None, ())


def ruled_move_where_decisions_have_no_end():
    table = Table(opts=Opts(decision_ms=0)).to("hand")
    return table, table.dealer.move(table.ledger)


def ruled_shape_nobody_knows():
    table = Table().to("hand")
    return table, table.rule("move", turn(table), "stand", (1,))


def forfeit_of_a_seat_that_is_there_between_two_hands():
    table = Table().to("between", index=2)
    return table, table.rule("forfeit", 0, "absent")


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


def second_pause_where_all_asked_for_its_end():
    table = Table().to("hand").rest()
    for seat in (0, 1):
        table.add(table.act(seat, "resume"))
    return table, table.rule("pause")


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


def share_to_the_wrong_seat():
    table = sharing_table()
    body = parse(table.next_record())
    return table, altered(table, table.next_record(), receiver=(body.receiver + 1) % 4)


def share_out_of_order():
    table = sharing_table()
    body = parse(table.next_record())
    return table, altered(table, table.next_record(), giver=body.receiver, receiver=body.giver)


def share_of_another_sub_deal_to_the_wrong_seat():
    table = sharing_table()
    body = parse(table.next_record())
    return table, altered(table, table.next_record(), d=1, receiver=(body.receiver + 1) % 4)


def share_to_a_seat_beyond_the_table():
    table = sharing_table()
    return table, altered(table, table.next_record(), receiver=4)


def ruling_for_a_seat_beyond_the_table_before_the_share():
    table = sharing_table()
    return table, table.rule("forfeit", 4, "absent")


def share_boxed_for_a_guest_without_a_key():
    table = sharing_table(guests=(0, 1, 2, 3))
    return table, altered(table, table.next_record(), box=b"x")


def share_with_an_empty_box():
    table = sharing_table()
    return table, altered(table, table.next_record(), box=b"")


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


def score_of_a_hand_cut_short_where_no_card_can_change_it():
    table = Table(small(reveal="match")).to("hand")
    table.add(table.players[0].resign(table.ledger))
    return table, altered(table, until(table, Close), score=((0, 0, 1), (0, 0, 0)))


def end_before_the_close():
    table = Table(small()).to("hand")
    table.add(table.players[0].resign(table.ledger))
    return table, table.dealer._end(table.ledger)


def end_with_another_winner():
    table = Table(small())
    record = until(table, End)
    return table, altered(table, record, winner=1 - parse(record).winner)


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


def end_of_a_pause_asked_twice():
    table = Table().to("hand").rest()
    table.add(table.act(0, "resume"))
    return table, table.act(0, "resume")


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


test_forged_ruling_or_ending_is_refused = refusals(
    ("C22", SERVER, forfeit_after_a_void_at_the_draw),
    ("C22", SERVER, forfeit_of_one_side_when_both_were_silent),
    ("C22", SERVER, forfeit_one_ruling_early),
    ("C22", SERVER, forfeit_where_the_table_waits),
    ("C22", SERVER, pause_that_not_all_asked_for),
    ("C22", SERVER, second_pause_where_all_asked_for_its_end),
    ("C24", SERVER, abandoned_when_the_match_is_won),
    ("C24", None, resignation_when_the_match_is_won),
    ("C26", SERVER, pause_ruled_after_a_void),
    ("C23", SERVER, open_that_no_rule_demands),
    ("C23", SERVER, share_to_the_wrong_seat),
    ("C23", SERVER, share_out_of_order),
    ("C12", SERVER, share_of_another_sub_deal_to_the_wrong_seat),
    ("C24", SERVER, second_close),
    ("C24", SERVER, close_before_the_hand_is_over),
    ("C24", SERVER, score_of_a_hand_cut_short_where_no_card_can_change_it),
    ("C24", SERVER, end_before_the_close),
    ("C24", SERVER, end_with_another_winner),
    ("C29", SERVER, call_while_paused),
    ("C29", SIGNER, pause_asked_twice),
    ("C29", SIGNER, second_pause_of_a_seat_in_a_hand),
    ("C29", SIGNER, end_of_a_pause_asked_twice),
    ("C32", None, second_ack),
    ("C2", SERVER, ruled_shape_nobody_knows),
    ("C23", SERVER, share_that_no_rule_demands),
    ("C29", SIGNER, resume_asked_without_a_pause),
    ("C22", SERVER, ruled_card_with_an_ask),
    ("C22", SERVER, ruled_move_before_the_draw),
    ("C22", SERVER, ruled_move_where_decisions_have_no_end),
    ("C22", SERVER, forfeit_of_a_seat_that_is_there_between_two_hands),
    ("C12", SERVER, share_to_a_seat_beyond_the_table),
    ("C12", SERVER, ruling_for_a_seat_beyond_the_table_before_the_share),
    ("C23", SERVER, share_with_an_empty_box),
    ("C23", SERVER, share_boxed_for_a_guest_without_a_key),
    ("C29", SERVER, ruled_move_while_paused),
    ("C22", SERVER, ruled_move_of_no_kind_while_paused),
    ("C29", SIGNER, act_while_paused),
    ("C29", SIGNER, rekey_while_paused),
    *following(
        lambda: Table().to("hand"),
        "C22",
        SERVER,
        ruled_otherwise_than_fixed=lambda table: table.rule("move", turn(table), "redeal", ()),
        ruled_move_of_a_seat_that_does_not_decide=lambda table: altered(
            table, table.dealer.move(table.ledger), seat=1 - turn(table)
        ),
        ruling_not_on_the_list=lambda table: table.rule("fine", 0, None, ()),
        ruling_with_args_too_many=lambda table: table.rule("abandon", None, "server", (1,)),
        forfeit_of_a_seat_that_is_there=lambda table: table.rule("forfeit", 0, "absent"),
        forfeit_for_silence_without_a_void=lambda table: table.rule("forfeit", 0, "silent"),
        forfeit_of_a_reason_of_another_mode=lambda table: table.rule("forfeit", 0, "opening"),
        abandoned_for_voids_that_did_not_happen=lambda table: table.rule("abandon", None, "voids"),
        abandoned_as_empty_with_seats_there=lambda table: table.rule("abandon", None, "empty"),
        abandoned_for_another_reason=lambda table: table.rule("abandon", None, "tired"),
        resume_without_a_pause=lambda table: table.rule("resume"),
        ruled_move_of_no_kind=lambda table: table.rule("move", turn(table), None, ()),
    ),
    *following(
        standing,
        "C22",
        SERVER,
        ruled_concession_where_cards_are_played=lambda table: table.rule("move", turn(table), "concede", ()),
        ruled_card_from_another_slot=lambda table: table.rule(
            "move", turn(table), "play", (*opening(table, turn(table), 1), None)
        ),
        ruled_card_from_another_slot_with_a_false_opening=lambda table: table.rule(
            "move", turn(table), "play", (1, 0, bytes(16), None)
        ),
    ),
    *following(
        lambda: Table("truc-catalan").to("between", index=1),
        "C22",
        SERVER,
        ruled_cut_in_a_place=lambda table: table.rule("move", turn(table), "cut", (5,)),
        ruled_card_at_the_cut=lambda table: table.rule("move", turn(table), "play", (0, 0, bytes(16), None)),
    ),
    *following(
        Table,
        "C24",
        SERVER,
        close_with_another_score=lambda table: altered(
            table, until(table, Close), score=((0, 0, 9), (0, 0, 0))
        ),
        close_for_another_reason=lambda table: altered(table, until(table, Close), reason="ended"),
    ),
    *following(
        sharing_table,
        "C23",
        None,
        act_before_the_share=lambda table: table.act(turn(table), "accept"),
        resign_before_the_share=lambda table: table.players[0].resign(table.ledger),
    ),
    *following(
        lambda: Table(small()),
        "C24",
        SERVER,
        end_for_another_reason=lambda table: altered(table, until(table, End), reason="resigned"),
        end_with_another_score=lambda table: altered(table, until(table, End), score=((5, 0, 0), (0, 0, 0))),
    ),
)


def test_ruling_for_another_seat_is_refused_before_its_card_is_looked_at() -> None:
    """Who decides only the rules know; a verifier without them looks at the card, and names C19."""
    table = standing()
    forged = table.rule("move", 1 - turn(table), "play", (0, 0, bytes(16), None))
    check_refused(Case("C22", SERVER, lambda: (table, forged)))
