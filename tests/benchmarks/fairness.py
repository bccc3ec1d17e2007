"""Milliseconds of fairness work in one hand: `python tests/benchmarks/fairness.py [--rounds N]`.

The hand is described in `one_hand.py`. Two things are measured, for the server and for one client (the mean of the
seats), and for the server's deal record apart:

* `alone`: the fairness work by itself, each record through the very functions that do it: its shape and place, its
  signature, the head, links of chains, openings against leaves, boxes, the recomputed deal, and the signing of own records.
* `in match`: the same records through the ledger or the auditor, as a server or client takes them in a match, less what
  the rules engine takes for the same moves by itself. So it holds the keeping of the match's state, too.

Not in it: sockets, the journal, the private boxes of options.
"""

import argparse
import copy
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measuring import spent_us
from benchmarks.one_hand import Hand, Step, played_hand, rules_of_client, rules_of_server

from truc_protocol import boxes, dealing
from truc_protocol.acts import read_act
from truc_protocol.audit.hands import _recompute
from truc_protocol.bodies import Act, Call, Close, Deal, Release
from truc_protocol.crypto import keys
from truc_protocol.dealer import Dealer
from truc_protocol.ledger import Ledger, check_place, fold
from truc_protocol.ledger.deals import open_link
from truc_protocol.ledger.play import _check_opening
from truc_protocol.records import SERVER, link, parse
from truc_protocol.transcript import pack_record

SEATS = (2, 4, 6)


class Figures(NamedTuple):
    """Milliseconds of one hand: the server's work, making the deal record of it, and one client's work."""

    server: float
    deal: float
    client: float


def serve_alone(hand: Hand) -> None:
    """Do the server's fairness work."""
    dealer = hand.dealer
    for step in hand.steps:
        if step.record.signer == SERVER:
            record = dealer.next_record(step.ledger)
            parse(record)
        else:
            check_record(step)
            check_signature(step)
            check_content(step, hand)
        link(step.ledger.head, step.record)


def check_record(step: Step) -> None:
    """Check the shape and place of a record."""
    check_place(step.ledger, step.record, parse(step.record))


def check_signature(step: Step) -> None:
    """Verify a record's signature."""
    author = step.ledger.contributors[step.record.signer]
    if not keys.verify(author.public, step.record.body, step.record.sig):
        raise AssertionError("an honest signature was refused")


def check_content(step: Step, hand: Hand) -> None:
    """Check what a seat opens: a link of its chain, or a card."""
    match step.body:
        case Release(link=opened):
            open_link(step.ledger, step.record.signer, opened)
        case Act(seat=seat, kind=kind, args=args):
            move = read_act(seat, kind, args, deck=len(hand.log.start.variant.pack))
            for opening in move.openings:
                _check_opening(step.ledger.hand.deals[-1], set(), seat, opening, "a seat")
        case _:
            pass


def attend_alone(hand: Hand, seat: int) -> None:
    """Do the fairness work of a seat's client."""
    for step in hand.steps:
        if step.record.signer == seat + 1:
            sign(step, hand, seat)
        else:
            check_signature(step)
        check_record(step)
        check_content(step, hand)
        if isinstance(step.body, Deal):
            open_box(step, hand, seat)
        if isinstance(step.body, Close):
            recompute(step, hand)
        link(step.ledger.head, step.record)


def sign(step: Step, hand: Hand, seat: int) -> None:
    """Make a seat's own record."""
    player = hand.players[seat]
    if isinstance(step.body, Release):
        player.chain.link(step.body.j + 1)
    player.sign(step.body)


def open_box(step: Step, hand: Hand, seat: int) -> None:
    """Open a seat's own cards and compare them with their leaves."""
    body, table = step.body, step.ledger.setup.terms.table
    shared, place = hand.players[seat].x.exchange(table.x), {"j": body.j, "d": body.d, "seat": seat}
    opened = boxes.open_hand(shared, body.mid, box=body.boxes[seat], **place)
    leaves = (
        dealing.leaf(body.mid, **place, slot=slot, opening=opening) for slot, opening in enumerate(opened)
    )
    if tuple(leaves) != body.leaves[seat]:
        raise AssertionError("an honest box was refused")


def recompute(step: Step, hand: Hand) -> None:
    """Check the server's link and deal the whole hand again."""
    open_link(step.ledger, SERVER, step.body.link)
    _recompute(step.ledger.setup, hand.log, step.body.link)


def serve(hand: Hand) -> None:
    """Do the server's work in a match."""
    dealer, ledger = hand.dealer, hand.steps[0].ledger
    for step in hand.steps:
        if step.record.signer == SERVER:
            ledger = dealer.take(ledger, dealer.next_record(ledger))
        else:
            ledger = accept(ledger, step)


def accept(ledger: Ledger, step: Step) -> Ledger:
    """Take a seat's record in the order in which the server compares and verifies."""
    body = parse(step.record)
    check_place(ledger, step.record, body)
    check_signature(step)
    return fold(ledger, step.record, body).ledger


def attend(hand: Hand, seat: int) -> None:
    """Do the work of a seat's client in a match."""
    auditor = copy.copy(hand.auditors[seat])
    for step in hand.steps:
        if step.record.signer == seat + 1:
            sign(step, hand, seat)
        auditor.feed(step.record)


def make_deal(dealer: Dealer, ledger: Ledger) -> None:
    """Make the deal record, from the links to the signature."""
    dealer._shuffled = None
    dealer.next_record(ledger)


def measure_alone(hand: Hand) -> Figures:
    """Measure the fairness work once."""
    deal = next(step.ledger for step in hand.steps if isinstance(step.body, Deal))
    clients = statistics.mean(spent_us(attend_alone, hand, seat) for seat in range(hand.seats))
    made = spent_us(make_deal, hand.dealer, deal)
    return Figures(spent_us(serve_alone, hand) / 1000, made / 1000, clients / 1000)


def measure_in_match(hand: Hand) -> tuple[float, float]:
    """Measure the work of the server and of a client in a match once, less the rules engine's."""
    server = spent_us(serve, hand) - spent_us(rules_of_server, hand)
    clients = [
        spent_us(attend, hand, seat) - spent_us(rules_of_client, hand, seat) for seat in range(hand.seats)
    ]
    return server / 1000, statistics.mean(clients) / 1000


def row(hand: Hand, rounds: int) -> str:
    """Measure a hand; return its row: medians."""
    alone = medians([measure_alone(hand) for _ in range(rounds)])
    in_match = medians([measure_in_match(hand) for _ in range(rounds)])
    lengths = {type(step.body): len(pack_record(step.record)) for step in hand.steps}
    others = sum(len(pack_record(step.record)) for step in hand.steps) - lengths[Call] - lengths[Deal]
    times = " ".join(f"{figure:8.3f}" for figure in (*alone, *in_match))
    return f"{hand.seats:5} {times} {lengths[Deal]:6} {others:8} {lengths[Call]:6}"


def medians(measured: list[tuple[float, ...]]) -> list[float]:
    """Return the median of each figure."""
    return [statistics.median(figures) for figures in zip(*measured, strict=True)]


def main() -> None:
    """Print a row for each number of seats: milliseconds alone and in a match, then bytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    times = " ".join(f"{name:>8}" for name in (*Figures._fields, "server", "client"))
    print(f"{'':5} {'alone, ms':>26} {'in match, ms':>17}")
    print(f"{'seats':>5} {times} {'deal B':>6} {'others B':>8} {'call B':>6}")
    for seats in SEATS:
        print(row(played_hand(seats), rounds), flush=True)


if __name__ == "__main__":
    main()
