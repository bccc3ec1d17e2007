"""Cards played face down that have to be shown all the same: they made the value by which an envido was won."""

from dataclasses import replace

from protocol.forge import SERVER, altered, cheat, open_record, refusals, turn, until
from protocol.peers import Table
from protocol.shared import put

from truc_protocol.bodies import Deal
from truc_protocol.records import Record, parse
from truc_rules import card_named, preset, seat_after, with_options

HELD = ("7o 6o 1b", "1e 2c 3b")
"""Eldest's cards and the dealer's: an envido of 33, and none."""


def covered() -> Table:
    """Eldest has won an envido by 33, laid face down a card that made it, and conceded."""
    options = {"reveal": "match", "flor": "off"}
    variant = replace(with_options(preset("truco-argentino"), options), name="covered", cover_from_trick=2)
    table = Table(variant)
    until(table, Deal)
    eldest = seat_after(table.ledger.call.dealer, 2)
    for seat, names in ((eldest, HELD[0]), (1 - eldest, HELD[1])):
        for slot, name in enumerate(names.split()):
            cheat(table, put(seat, slot, card_named(variant.pack, name)))
    table.step()
    for line in ("envido", "accept", "points 33", "good", "play 1b", "play 2c"):
        table.play(line)
    table.add(table.act(turn(table), "cover", (0,)))
    table.play("concede")
    return table


def shown(**fields) -> tuple[Table, Record]:
    """The server shows the covered card, with another card or salt than were dealt."""
    table = covered()
    record = table.next_record()
    (slot, card, salt), *others = parse(record).openings
    first = (slot, fields.get("card", card), fields.get("salt", salt))
    return table, altered(table, record, openings=(first, *others))


def covered_card_shown_with_another_salt():
    return shown(salt=bytes(16))


def covered_card_shown_as_another():
    return shown(card=0)


def covered_card_left_out_of_what_is_shown():
    table = covered()
    seat = parse(table.next_record()).seat
    table.careless().add(open_record(table, seat, 1))
    return table, table.dealer._close(table.ledger)


test_forged_opening_of_a_covered_card_is_refused = refusals(
    ("C19", SERVER, covered_card_shown_with_another_salt),
    ("C19", SERVER, covered_card_shown_as_another),
    ("C23", SERVER, covered_card_left_out_of_what_is_shown),
)


def test_covered_card_is_among_those_the_server_owes() -> None:
    table = covered()
    assert [slot for slot, _, _ in parse(table.next_record()).openings] == [0, 1]
