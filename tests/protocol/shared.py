"""Tables at which cards are shared, played unseen, covered, ordered or turned up."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from protocol.forge import cheat, turn, until, with_card
from protocol.peers import Table

from truc_protocol.bodies import Deal, Share
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.records import parse
from truc_rules import (
    LastPoint,
    Seat,
    Variant,
    card_named,
    is_blind,
    preset,
    seat_after,
    seats_after,
    with_options,
)


def sharing_table(*, seats: int = 4, guests: tuple[int, ...] = ()) -> Table:
    """Seats of Catalan at the deal where a side at its last point is shown its partners' cards."""
    last_point = LastPoint(at=11, stake=3, decline=1, share=True)
    players = (2, 4) if seats == 4 else (2, 4, seats)
    variant = replace(preset("truc-catalan"), players=players, last_point=last_point, name="shared")
    table = Table(variant, seats=seats, guests=guests, boxed_guests=False)
    table.run(until=lambda ledger: owes_share(table))
    return table


def paulista(**options: Any) -> Variant:
    """Truco paulista that is soon at the last point."""
    return with_options(preset("truco-paulista"), {"target": 2, **options})


def blind_table(*, phase: str = "hand", **options: Any) -> Table:
    """A hand in which both sides are at their last point, and nobody has seen a card."""
    variant = paulista(blind="on", reveal=options.pop("reveal", "hand"))
    for seed in range(100):
        table = Table(variant, seed=seed, **options)
        table.run(
            until=lambda ledger: ledger.phase == phase and ledger.match is not None and is_blind(ledger.match)
        )
        if table.ledger.phase == phase:
            return table
    raise AssertionError("no match came to the last point of both sides")


def covering_table(*, reveal: str = "hand") -> Table:
    """A hand of Paulista, for points enough, at its second trick: cards may be covered."""
    table = Table(paulista(cover_from_trick=2, reveal=reveal, target=30)).to("hand")
    for _ in range(2):
        table.add(table.dealer.move(table.ledger))
    return table


def governed(*, reveal: str = "hand", **options: Any) -> Table:
    """A hand of Partnership Truc that eldest has begun to play."""
    variant = with_options(preset("truc-partnership"), {"target": 2, "match": 1, "reveal": reveal})
    table = Table(variant, seats=4, **options).to("hand")
    table.play("stand")
    return table


def argentine(
    *hands: str, reveal: str = "match", target: int = 30, flor: str = "on", **options: Any
) -> Table:
    """A hand of Truco argentino in which the seats hold these cards, eldest first; the shuffle gave others.

    So it is for what a reader sees before the server's link is open.
    """
    variant = with_options(preset("truco-argentino"), {"reveal": reveal, "target": target, "flor": flor})
    table = Table(variant, seats=len(hands), **options)
    until(table, Deal)
    eldest = seat_after(Seat(table.ledger.call.dealer), len(hands))
    for seat, names in zip(seats_after(Seat(table.ledger.call.dealer), len(hands)), hands, strict=True):
        for slot, name in enumerate(names.split()):
            cheat(table, put(seat, slot, card_named(variant.pack, name)))
    table.step()
    assert turn(table) == eldest
    return table


def put(seat: int, slot: int, card: int) -> Callable[[DealtCards], DealtCards]:
    return lambda cards: with_card(cards, seat, slot, Opening(card, cards.hands[seat][slot].salt))


def owes_share(table: Table) -> bool:
    record = table.dealer.next_record(table.ledger)
    return record is not None and isinstance(parse(record), Share)
