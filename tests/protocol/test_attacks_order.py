"""Records in a wrong place, phase or index: C10 to C12, C42, and what a truncated list says."""

import pytest
from protocol.forge import (
    SERVER,
    SIGNER,
    Forgery,
    altered,
    following,
    place,
    refusals,
    resigned,
    small,
    until,
)
from protocol.peers import Puppet, Table, here

from truc_protocol.audit import Result, verify
from truc_protocol.bodies import Ack, Act, Call, Close, Deal, Draw, End, Release, Share, Void
from truc_protocol.dealer import proxy
from truc_protocol.records import parse, unsigned
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_rules import deciders


def record_of_another_match():
    table, other = Table(), Table(seed=2)
    return table, altered(table, until(other, Call))


def splice_of_a_match_with_the_same_keys():
    table, other = Table().to("hand"), Table(opts=Opts(voids=2)).to("hand")
    assert other.players[0].key == table.players[0].key
    return table, other.act(0, "concede")


def replayed_act():
    table = Table().to("hand")
    act = table.record_of(table.choice())
    table.add(act)
    return table, act


def deleted_record():
    table = Table().to("hand")
    table.step()
    return Forgery(table.document, [*table.records[:-2], table.records[-1]])


def duplicated_record():
    table = Table()
    table.step()
    return table, table.records[-1]


def act_bound_to_another_head():
    table = Table().to("hand")
    return table, altered(table, table.record_of(table.choice()), head=bytes(32))


def act_bound_to_another_position():
    table = Table().to("hand")
    return table, altered(table, table.record_of(table.choice()), k=table.ledger.k + 1)


def close_of_the_hand_before():
    """Whoever writes the list can put a record there again that the server has signed for another place."""
    table = Table().to("hand", index=2)
    return table, next(record for record in table.records if isinstance(parse(record), Close))


def release_under_another_head():
    table = Table()
    return table, altered(table, until(table, Release), head=bytes(32))


def ack_over_another_head():
    table = Table(small())
    return table, altered(table, until(table, Ack), head=bytes(32))


def score_rewritten_after_acks():
    table = Table(small()).run()
    at = next(at for at, record in enumerate(table.records) if isinstance(parse(record), End))
    lie = altered(table, table.records[at - 1], score=((0, 0, 1), (0, 0, 0)))
    assert isinstance(parse(lie), Close)
    return Forgery(table.document, [*table.records[: at - 1], lie])


def release_before_the_call():
    table = Table()
    return table, table.players[0].release(table.ledger)


def second_call_for_an_index():
    table = Table()
    call = until(table, Call)
    table.add(call)
    return table, resigned(table, place(table, parse(call)))


def call_under_another_head():
    """The same call once more, bound to a head that was never: it asks for the same link in another place."""
    table = Table()
    return table, altered(table, until(table, Call), head=bytes(32))


def cut_after_a_call():
    table = Table("truc-catalan")
    until(table, Release)
    table.to("called", index=1)
    seat = (table.ledger.match.dealer + 1) % 2
    return table, table.players[seat].act(table.ledger, "cut", (3,))


def substitute_after_a_call():
    table = Table(opts=Opts(gone=1, gone_after=1)).to("hand")
    gone = deciders(table.ledger.match)[0]
    table.add(table.dealer.move(table.ledger))
    table.away = frozenset({gone})
    table.to("called", index=2)
    return table, Puppet(gone, 1, "new ").sub(table.ledger)


def cut_after_a_release():
    table = Table("truc-catalan")
    until(table, Deal)
    seat = (table.ledger.match.dealer + 1) % 2
    return table, table.players[seat].act(table.ledger, "cut", (3,))


def void_after_the_deal():
    table = Table().to("hand")
    return table, table.sign(Void(*here(table.ledger), 1, "silent", (0,), None))


def substitute_in_a_hand():
    table = Table(opts=Opts(gone=1, gone_after=1)).to("hand")
    table.add(table.dealer.move(table.ledger))
    return table, Puppet(0, 1, "new ").sub(table.ledger)


def deal_between_two_hands():
    table = Table().to("hand")
    deal = parse(table.records[-1])
    table.run(until=lambda ledger: ledger.phase == "between" and ledger.deal_index == 2)
    return table, resigned(table, place(table, deal))


def close_of_no_hand():
    table = Table()
    return table, table.sign(Close(*here(table.ledger), 0, None, ((0, 0, 0), (0, 0, 0)), "hand"))


def end_of_a_match_that_goes_on():
    table = Table(small()).run()
    end = next(parse(record) for record in table.records if isinstance(parse(record), End))
    fresh = Table(small())
    return fresh, resigned(fresh, place(fresh, end))


def act_after_the_end():
    table = Table(small()).run()
    return table, table.act(0, "stand")


def call_after_the_end():
    table = Table(small())
    call = parse(until(table, Call))
    table.run()
    return table, resigned(table, place(table, call))


def release_for_another_index():
    table = Table()
    return table, altered(table, until(table, Release), j=1)


def void_for_another_index():
    table = Table().to("called")
    return table, altered(table, table.dealer.void(table.ledger), j=0)


def act_for_another_index():
    table = Table().to("hand")
    return table, altered(table, table.record_of(table.choice()), j=0)


def proxy_for_a_seat_beyond_the_table():
    table = Table(guests=(0,)).to("hand")
    return table, unsigned(proxy(table.ledger, 7, "stand", ()))


def record_by_a_seat_beyond_the_table():
    table = Table().to("hand")
    return table, Puppet(2, 1).resign(table.ledger)


def substitute_behind_the_end():
    """Anybody can write it: a key of their own is all that it needs."""
    table = Table(small()).run()
    return table, Puppet(1, 1, "stranger ").sub(table.ledger)


test_record_out_of_place_is_refused = refusals(
    ("C10", None, record_of_another_match),
    ("C10", None, splice_of_a_match_with_the_same_keys),
    ("C10", None, replayed_act),
    ("C10", None, deleted_record),
    ("C10", None, duplicated_record),
    ("C10", None, close_of_the_hand_before),
    ("C24", SERVER, score_rewritten_after_acks),
    ("C11", SERVER, second_call_for_an_index),
    ("C10", None, call_under_another_head),
    ("C11", SIGNER, cut_after_a_call),
    ("C11", None, substitute_after_a_call),
    ("C11", SIGNER, cut_after_a_release),
    ("C11", None, substitute_in_a_hand),
    ("C11", SERVER, deal_between_two_hands),
    ("C11", SERVER, end_of_a_match_that_goes_on),
    ("C11", SERVER, call_after_the_end),
    ("C11", None, substitute_behind_the_end),
    ("C10", None, act_bound_to_another_head),
    ("C10", None, act_bound_to_another_position),
    ("C11", SERVER, void_after_the_deal),
    ("C12", SIGNER, act_for_another_index),
    ("C12", None, record_by_a_seat_beyond_the_table),
    ("C10", None, release_under_another_head),
    ("C11", "seat 0", release_before_the_call),
    ("C11", SERVER, close_of_no_hand),
    ("C12", "seat 0", release_for_another_index),
    ("C10", None, ack_over_another_head),
    ("C12", SERVER, void_for_another_index),
    ("C11", "seat 0", act_after_the_end),
    ("C12", None, proxy_for_a_seat_beyond_the_table),
    *following(
        lambda: Table().to("hand"),
        "C12",
        SERVER,
        ruling_for_another_index=lambda table: altered(table, table.dealer.move(table.ledger), j=0),
        ruling_for_a_seat_beyond_the_table=lambda table: altered(
            table, table.dealer.move(table.ledger), seat=2
        ),
        share_for_another_index=lambda table: table.sign(Share(*here(table.ledger), 0, 0, 0, 1, b"")),
    ),
    *following(Table, "C11", None, setup_record_in_the_match=lambda table: table.records[0]),
    *following(
        Table,
        "C12",
        SERVER,
        skipped_index=lambda table: altered(table, until(table, Call), j=1),
        draw_for_another_index=lambda table: altered(table, until(table, Draw), j=1),
        deal_for_another_index=lambda table: altered(table, until(table, Deal), j=2),
        close_for_another_index=lambda table: altered(table, until(table, Close), j=0),
    ),
    *following(
        Table,
        "C12",
        None,
        substitute_beyond_the_table=lambda table: Puppet(2, 1).sub(table.ledger),
        substitute_beyond_the_table_from_elsewhere=lambda table: altered(
            table, Puppet(5, 1).sub(table.ledger), head=bytes(32), first=9
        ),
    ),
    *following(
        lambda: Table().to("called"),
        "C11",
        "seat 0",
        resign_while_called=lambda table: table.players[0].resign(table.ledger),
        rekey_after_a_call=lambda table: table.players[0].rekey(table.ledger),
    ),
)


@pytest.mark.parametrize("left", [1, 3, 5, 20])
def test_truncated_transcript_is_incomplete(left: int) -> None:
    table = Table(small()).run()
    count = len(table.records) - 3 if left == 1 else left
    assert verify(write_transcript(table.document, table.records[:count])).result is Result.INCOMPLETE


def test_missing_ack_is_no_error() -> None:
    table = Table(small()).run()
    assert verify(write_transcript(table.document, table.records[:-2])).result is Result.PROVEN


def test_every_record_after_a_rewritten_one_stands_on_another_head() -> None:
    table = Table().to("hand").to("between", index=2)
    at = next(at for at, record in enumerate(table.records) if isinstance(parse(record), Act))
    act = parse(table.records[at])
    other = altered(table, table.records[at], kind="redeal" if act.kind == "stand" else "stand")
    verdict = verify(write_transcript(table.document, [*table.records[:at], other, *table.records[at + 1 :]]))
    assert verdict.refutation.check in ("C10", "C20")


def test_proxies_after_the_last_signature_are_left_out() -> None:
    table = Table(guests=(0, 1)).to("hand")
    signed = verify(table.file())
    table.add(table.act(0, "resign"))
    verdict = verify(table.file())
    assert (verdict.reason, verdict.records, verdict.unsigned) == (None, signed.records, (signed.records,))


def test_proxies_that_a_signature_follows_count() -> None:
    table = Table(guests=(0, 1)).to("hand")
    table.add(table.act(0, "resign"))
    table.step()
    verdict = verify(table.file())
    assert (verdict.reason, verdict.unsigned) == ("resigned", ())


def test_auditor_takes_nothing_after_a_refusal() -> None:
    table = Table().to("hand")
    auditor = table.audit()
    bad = table.players[0].resign(table.ledger)._replace(sig=bytes(64))
    for record in (bad, table.players[0].resign(table.ledger)):
        with pytest.raises(Exception, match="C3"):
            auditor.feed(record)


def test_swapped_records_are_refused_at_the_first_of_them() -> None:
    table = Table().to("hand").to("between", index=2)
    *before, first, second = table.records
    verdict = verify(write_transcript(table.document, [*before, second, first]))
    assert (verdict.refutation.check, verdict.refutation.k) == ("C10", table.ledger.k - 2)
