"""Every two signed statements that contradict each other: whom they convict, and that honest parties convict nobody.

A row is what an accuser would hand to `truc verify`. What both parties of a row have signed is theirs; who has written
the lists is nobody's business.
"""

from collections.abc import Callable

from protocol.forge import altered, small, until
from protocol.peers import Table, here
from protocol.recomputing import shown
from rows import each_row

from truc_protocol.bodies import Act, Call, Release
from truc_protocol.evidence_file import read_refusal, write_evidence
from truc_protocol.records import Record, encode, parse
from truc_protocol.transcript import write_transcript
from truc_rules import Variant, deciders, preset, with_options

FLOR = with_options(preset("truco-argentino-flor"), {"reveal": "hand"})
Files = tuple[bytes, ...]


def lists(table: Table, *ends: Record | tuple[Record, ...]) -> Files:
    """Return a file for each end: what has been played, and then that."""
    each = ((end,) if isinstance(end, Record) else end for end in ends)
    return tuple(write_transcript(table.document, (*table.records, *more)) for more in each)


def refusal(table: Table, refused: Record, code: str = "illegal_action") -> bytes:
    """Return the evidence that the server refused a body."""
    read = read_refusal(table.dealer.refuse(table.setup.mid, refused.body, code))
    return write_evidence([] if read is None else [read])


def in_hand(variant: Variant | str = "truc-french") -> tuple[Table, int]:
    """Return a match in a hand, and the seat whose decision it is."""
    table = Table(variant).to("hand")
    return table, deciders(table.ledger.match)[0]


def moved_on(table: Table, record: Record) -> tuple[Record, Record]:
    """Return a record, and one that the server signs behind it."""
    later = Table(table.variant, seed=table.seed).to("hand")
    assert later.ledger == table.ledger
    later.add(record)
    return record, later.dealer.move(later.ledger)


# the server


def two_rulings() -> Files:
    table, _ = in_hand()
    return lists(table, table.dealer.move(table.ledger), table.dealer.abandon(table.ledger, "server"))


def ruling_and_one_without_a_cause() -> Files:
    table, seat = in_hand()
    return lists(table, table.dealer.move(table.ledger), table.rule("forfeit", seat, "absent"))


def ruling_and_one_under_another_head() -> Files:
    table, _ = in_hand()
    honest = table.dealer.move(table.ledger)
    return lists(table, honest, altered(table, honest, head=bytes(32)))


def call_and_one_with_another_cut() -> Files:
    table = Table().to("between", index=1)
    call = table.dealer.next_record(table.ledger)
    return lists(table, call, altered(table, call, cut=9))


def end_and_one_with_the_other_winner() -> Files:
    table = Table(small()).run(until=lambda ledger: ledger.phase == "over")
    end = table.next_record()
    return lists(table, end, altered(table, end, winner=1 - parse(end).winner))


def record_that_comes_again_otherwise_much_later() -> Files:
    table, _ = in_hand()
    early = altered(table, table.records[-1], cut=9)
    return lists(table, table.dealer.move(table.ledger), early)


def two_calls_for_one_index() -> Files:
    table = Table().to("between", index=1)
    short = [*table.records, until(table, Call)]
    table.add(table.players[0].rekey(table.ledger))
    later = until(table, Call)
    return write_transcript(table.document, short), *lists(table, later)


def releases_in_two_orders() -> Files:
    found = []
    for order in ((0, 1), (1, 0)):
        table = Table().to("called", index=0)
        for seat in order:
            table.add(table.players[seat].release(table.ledger))
        table.step()
        found += lists(table, ())
    return tuple(found)


def two_tables_with_one_nonce() -> Files:
    table = Table()
    other = altered(table, table.records[0], time=1)
    return table.file(), write_transcript(table.document, [other])


def two_tables_with_one_nonce_one_of_them_under_other_rules() -> Files:
    table = Table()
    other = altered(table, table.records[0], rules=bytes(32))
    return table.file(), write_transcript(table.document, [other])


def two_matches_on_one_table() -> Files:
    table = Table()
    seat = altered(table, table.records[2], name=b"somebody else")
    again = table.dealer.match_record(table.terms, (table.records[1], seat))
    return table.file(), write_transcript(table.document, [*table.records[:2], seat, again])


def two_matches_on_one_table_one_of_them_of_no_seats() -> Files:
    table = Table()
    other = altered(table, table.records[3], seats=(bytes(32), bytes(32)))
    return table.file(), write_transcript(table.document, [*table.records[:3], other])


def refused_and_taken() -> Files:
    table, seat = in_hand()
    act = table.act(seat, "stand")
    return *lists(table, moved_on(table, act)), refusal(table, act)


def refused_as_late_and_taken() -> Files:
    table, seat = in_hand()
    act = table.act(seat, "stand")
    return *lists(table, moved_on(table, act)), refusal(table, act, "stale_position")


def refused_though_the_rules_allow_it() -> Files:
    table, seat = in_hand()
    act = table.act(seat, "stand")
    return *lists(table, act), refusal(table, act)


def refused_resignation() -> Files:
    table, seat = in_hand()
    resign = table.players[seat].resign(table.ledger)
    return *lists(table, resign), refusal(table, resign, "not_now")


def refused_chain() -> Files:
    table = Table().to("between", index=1)
    rekey = table.players[0].rekey(table.ledger)
    return *lists(table, rekey), refusal(table, rekey, "terms_refused")


def refused_play_of_a_game_with_a_flor_whose_cards_are_open_now() -> Files:
    """Under `hand` the close opens all cards: then everybody can judge what was refused before."""
    table = Table(FLOR).to("hand")
    act = table.record_of(table.choice())
    table.add(act)
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.hand is None)
    return table.file(), refusal(table, act)


def framing() -> Files:
    """The server refuses a legal act; the seat decides again, and both its acts are published as its own doing."""
    table, seat = in_hand()
    first, second = table.act(seat, "stand"), table.act(seat, "redeal")
    return *lists(table, first, second), refusal(table, first)


# a seat


def two_acts() -> Files:
    table, seat = in_hand()
    return lists(table, table.act(seat, "stand"), table.act(seat, "redeal"))


def act_and_resignation() -> Files:
    table, seat = in_hand()
    return lists(table, table.act(seat, "stand"), table.players[seat].resign(table.ledger))


def two_releases() -> Files:
    first, second = Table().to("between", index=1), Table().to("between", index=1)
    second.add(second.players[1].rekey(second.ledger))
    for table in (first, second):
        until(table, Release)
        table.add(table.players[0].release(table.ledger))
    return first.file(), second.file()


# nobody


def act_and_one_that_the_rules_forbid() -> Files:
    """A seat may sign what its server offers: an act that no rule allows accuses nobody beside another."""
    table, seat = in_hand()
    return lists(table, table.act(seat, "stand"), table.act(seat, "accept"))


def act_and_one_that_only_hidden_cards_forbid() -> Files:
    table = Table(FLOR).to("hand").careless()
    seat = deciders(table.ledger.match)[0]
    return lists(table, table.act(seat, "flor"), table.act(seat, "concede"))


def refused_as_hidden_cards_forbid_it() -> Files:
    """The server knows that the seat holds no flor; others take the word of its list for it."""
    table = Table(FLOR).to("hand").careless()
    act = table.act(deciders(table.ledger.match)[0], "flor")
    return *lists(table, act), refusal(table, act)


def refused_resignation_from_a_match_that_hidden_cards_have_won() -> Files:
    """The server knows whose envido is better, and that the match is over; others cannot see it before the close."""
    game = with_options(preset("truc-valencia"), {"match": 1, "target": 2})
    table = Table(game).to("hand")
    for line in ("envido", "accept", "concede"):
        table.play(line)
    assert table.ledger.match.winner is not None
    resign = table.players[0].resign(table.ledger)
    return *lists(table, resign), refusal(table, resign)


def refused_as_the_rules_forbid_it() -> Files:
    table, seat = in_hand()
    act = table.act(seat, "accept")
    return *lists(table, act), refusal(table, act)


def refused_as_late() -> Files:
    """A server that signs also what it refuses for being late: another record stands there."""
    table, seat = in_hand()
    act = table.act(seat, "stand")
    return *lists(table, act, table.dealer.move(table.ledger)), refusal(table, act, "stale_position")


def act_and_the_ruling_that_came_first() -> Files:
    table, seat = in_hand()
    return lists(table, table.act(seat, "stand"), table.dealer.move(table.ledger))


def act_sent_again_after_a_crash() -> Files:
    table, seat = in_hand()
    return lists(table, table.act(seat, "stand"), moved_on(table, table.act(seat, "stand")))


def release_refused_when_it_came_a_second_time() -> Files:
    table = Table().to("called")
    release = table.players[0].release(table.ledger)
    return *lists(table, release), refusal(table, release, "not_now")


def new_chain_and_resignation() -> Files:
    table = Table().to("between", index=1)
    return lists(table, table.players[0].rekey(table.ledger), table.players[0].resign(table.ledger))


def refused_chain_and_another() -> Files:
    """Somebody has copied the anchor of the first and brought it before."""
    table = Table().to("between", index=1)
    return lists(table, *(table.players[0].rekey(table.ledger) for _ in range(2)))


def acts_of_two_seats() -> Files:
    table, seat = in_hand()
    return lists(table, table.act(seat, "stand"), table.act(1 - seat, "pause"))


def record_of_the_server_that_a_seat_has_changed() -> Files:
    table, seat = in_hand()
    honest = table.dealer.move(table.ledger)
    body = encode(Act(*here(table.ledger), 1, seat, "stand", ()))
    return lists(table, honest, Record(0, body, honest.sig), honest._replace(body=honest.body + b"\x00"))


def acks_that_are_missing_in_one_list() -> Files:
    table = Table().run()
    return table.file(), write_transcript(table.document, table.records[:-1])


SHOWN: dict[str, tuple[set[tuple[str, str]], tuple[Callable[[], Files], ...]]] = {
    "one history": (
        {("C33", "server")},
        (
            two_rulings,
            ruling_and_one_without_a_cause,
            ruling_and_one_under_another_head,
            call_and_one_with_another_cut,
            end_and_one_with_the_other_winner,
            record_that_comes_again_otherwise_much_later,
            two_calls_for_one_index,
            releases_in_two_orders,
        ),
    ),
    "one table": (
        {("C36", "server")},
        (
            two_tables_with_one_nonce,
            two_tables_with_one_nonce_one_of_them_under_other_rules,
            two_matches_on_one_table,
            two_matches_on_one_table_one_of_them_of_no_seats,
        ),
    ),
    "refusals": (
        {("C35", "server")},
        (
            refused_and_taken,
            refused_as_late_and_taken,
            refused_though_the_rules_allow_it,
            refused_resignation,
            refused_chain,
            refused_play_of_a_game_with_a_flor_whose_cards_are_open_now,
            framing,
        ),
    ),
    "one decision": (
        {("C34", "seat")},
        (
            two_acts,
            act_and_resignation,
        ),
    ),
    "one release": ({("C33", "server"), ("C34", "seat")}, (two_releases,)),
    "honest parties": (
        set(),
        (
            act_and_one_that_the_rules_forbid,
            act_and_one_that_only_hidden_cards_forbid,
            refused_as_hidden_cards_forbid_it,
            refused_resignation_from_a_match_that_hidden_cards_have_won,
            refused_as_the_rules_forbid_it,
            refused_as_late,
            act_and_the_ruling_that_came_first,
            act_sent_again_after_a_crash,
            release_refused_when_it_came_a_second_time,
            new_chain_and_resignation,
            refused_chain_and_another,
            acts_of_two_seats,
            record_of_the_server_that_a_seat_has_changed,
            acks_that_are_missing_in_one_list,
        ),
    ),
}


@each_row("expected, build", [(expected, build) for expected, builds in SHOWN.values() for build in builds])
def test_two_signed_statements_convict_who_signed_both_and_honest_parties_nobody(expected, build):
    files = build()
    for order in (files, files[::-1]):
        assert {(check, culprit.split()[0]) for check, culprit in shown(order)} == expected
