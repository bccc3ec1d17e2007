"""Newcomers in the place of a seat that is gone: C4, C7, C10, C11, C20, C26, C28; any key can sign as one, so they blame nobody."""

from protocol.forge import altered, forged, refusals, voided
from protocol.peers import Puppet, Table

from truc_protocol.audit import verify
from truc_protocol.ledger import is_gone, next_call
from truc_protocol.setup import Opts


def newcomer(table: Table, seat: int = 0, **fields):
    """A newcomer's record for a seat, its fields changed and signed by the newcomer."""
    player = Puppet(seat, table.seed, "new ")
    record = player.sub(table.ledger)
    table.players[seat] = player
    return table, altered(table, record, **fields)


def absent(**opts) -> Table:
    """A match between two hands in which seat 0 has been ruled for until it counts as gone."""
    table = Table(opts=Opts(gone_after=1, **opts)).to("hand")
    table.away = frozenset({0})
    return table.run(until=lambda ledger: is_gone(ledger, 0)).to("between", index=2)


def second_substitute_of_a_seat():
    table, record = newcomer(absent(gone=1))
    table.add(record)
    return table, Puppet(0, table.seed, "newer ").sub(table.ledger)


def substitute_signed_for_another_position():
    table = voided(gone=1)
    return newcomer(table, k=table.ledger.k - 1)


def substitute_with_a_weak_key():
    table = voided(gone=1)
    _, record = newcomer(table)
    body = altered(table, record, pk=b"\x01" + bytes(31)).body
    return table, record._replace(body=body, sig=b"\x01" + bytes(63))


def substitute_with_a_weak_key_and_another_signature():
    table, record = substitute_with_a_weak_key()
    return table, record._replace(sig=bytes(64))


def substitute_with_a_weak_key_for_a_seat_that_is_there():
    table = Table().to("between")
    _, record = newcomer(table)
    body = altered(table, record, pk=b"\x01" + bytes(31)).body
    return table, record._replace(body=body, sig=b"\x01" + bytes(63))


def decision_of_a_newcomer_that_nobody_confirmed():
    """A stranger takes a seat that is gone and breaks the rules there; the server has not signed since."""
    table, record = newcomer(voided(gone=1))
    table.add(record)
    return table, table.act(0, "stand")


def decision_of_a_newcomer_that_the_server_confirmed():
    table, record = newcomer(voided(gone=1))
    table.add(record)
    table.add(table.sign(next_call(table.ledger)))
    return table, table.act(0, "stand")


test_forged_newcomer_is_refused = refusals(
    ("C28", None, second_substitute_of_a_seat),
    ("C10", None, substitute_signed_for_another_position),
    ("C4", None, substitute_with_a_weak_key),
    ("C4", None, substitute_with_a_weak_key_and_another_signature),
    ("C4", None, substitute_with_a_weak_key_for_a_seat_that_is_there),
    ("C20", None, decision_of_a_newcomer_that_nobody_confirmed),
    ("C11", "seat 0", decision_of_a_newcomer_that_the_server_confirmed),
    *forged(
        "C28",
        None,
        substitute_where_none_is_admitted=lambda: newcomer(Table().to("between")),
        substitute_of_a_seat_that_is_there=lambda: newcomer(voided(gone=1), seat=1),
        substitute_of_a_seat_that_is_gone_where_none_is_admitted=lambda: newcomer(absent(gone=2)),
        substitute_where_nobody_is_ever_gone=lambda: newcomer(
            Table(opts=Opts(gone=1, gone_after=0)).to("between", index=2)
        ),
        substitute_from_another_index=lambda: newcomer(voided(gone=1), first=1),
        substitute_without_a_readable_name=lambda: newcomer(voided(gone=1), name=b"\xff"),
    ),
    *forged(
        "C7",
        None,
        substitute_with_an_old_anchor=lambda: newcomer(
            voided(gone=1), anchor=Table().players[1].chain.anchor
        ),
        substitute_with_a_weak_box_key=lambda: newcomer(voided(gone=1), x=bytes(32)),
    ),
    *forged("C26", None, substitute_beyond_the_voids_allowed=lambda: newcomer(voided(gone=1, voids=0))),
)


def resigned_by_a_newcomer() -> Table:
    """A newcomer has taken a seat that is gone, and resigned; the server has signed neither."""
    table, record = newcomer(voided(gone=1))
    table.add(record)
    table.add(table.players[0].resign(table.ledger))
    return table


def test_newcomer_that_the_server_has_not_signed_after_counts_for_nothing() -> None:
    table = resigned_by_a_newcomer()
    verdict = verify(table.file())
    told = verdict.records, verdict.reason, verdict.substitutes, verdict.players[0]
    assert told == (table.ledger.k - 2, None, (), "player 0")


def test_record_of_another_seat_behind_such_a_newcomer_counts_for_nothing() -> None:
    table, record = newcomer(voided(gone=1))
    before = table.ledger.k
    table.add(record)
    table.add(table.players[1].resign(table.ledger))
    assert (verify(table.file()).records, verify(table.file()).reason) == (before, None)


def test_newcomer_that_the_server_has_signed_after_counts() -> None:
    table = resigned_by_a_newcomer()
    table.step()
    verdict = verify(table.file())
    told = verdict.records, verdict.reason, len(verdict.substitutes), verdict.players[0]
    assert told == (table.ledger.k, "resigned", 1, "new player 0")
    ((k, _),) = verdict.substitutes
    assert (verdict.players_at(k)[0], verdict.players_at(k + 1)[0]) == ("player 0", "new player 0")
