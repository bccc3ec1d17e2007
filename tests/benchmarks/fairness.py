"""Milliseconds of fairness work in one hand: `python tests/benchmarks/fairness.py [--rounds N]`.

The hand is described in `one_hand.py`. Two things are measured, for the server and for one client (the mean of the
seats), and for the server's deal record apart:

* `alone`: the fairness work by itself, each record through the very functions that do it: its shape and place, its
  signature, the head, links of chains, openings against leaves, boxes, the recomputed deal, and the signing of own records.
* `in match`: the same records through the ledger or the auditor, as a server or client takes them in a match, less what
  the rules engine takes for the same moves by itself. So it holds the keeping of the match's state, too.

Not in it: sockets, the journal, the private boxes of options. The prototype's figures are set beside ours at the price
of the primitives they consist of, timed in the same run: so the ratio compares between machines. It grows on a busy one,
which slows the interpreter more than it slows signatures. The prototype's figures are for the work alone, in which a client
does not verify what it has just signed; its auditor in a match does. They were taken without the call, whose signature is
added to them.
"""

import argparse
import copy
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measuring import PROTOTYPE, Primitives, median_of, primitives, spent_us
from benchmarks.one_hand import BETS, CARDS, Hand, Step, played_hand, rules_of_client, rules_of_server

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

BOUND = 1.3
"""How many times the prototype's figure the work alone may take."""


class Figures(NamedTuple):
    """Milliseconds of one hand: the server's work, making the deal record of it, and one client's work."""

    server: float
    deal: float
    client: float


class Sizes(NamedTuple):
    """Bytes of one hand: its deal record, and all its records but the call."""

    deal: int
    records: int


PROTOTYPE_FIGURES = {
    2: (Figures(1.44, 0.081, 1.11), Sizes(526, 2_835)),
    4: (Figures(2.36, 0.108, 2.09), Sizes(890, 4_671)),
    6: (Figures(3.26, 0.136, 2.98), Sizes(1_254, 6_507)),
}
"""What the prototype took for each number of seats, without the call."""


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


def prototype(seats: int, costs: Primitives) -> Figures:
    """Return the prototype's figures, the call's signature added, at what the primitives cost here."""
    leaves, own = CARDS * seats, 1 + CARDS + BETS / seats
    signed, hashes = seats * own, 2 * leaves + 3
    server = Primitives(sign=2, verify=signed, derive=seats, seal=seats, hash=hashes + signed)
    deal = Primitives(sign=1, derive=seats, seal=seats, hash=hashes)
    client = Primitives(sign=own, verify=signed - own + 2, derive=1, seal=1, hash=hashes + signed)
    figures, _ = PROTOTYPE_FIGURES[seats]
    return Figures(
        server=priced(figures.server, server, costs) + costs.sign / 1000,
        deal=priced(figures.deal, deal, costs),
        client=priced(figures.client, client, costs) + costs.verify / 1000,
    )


def priced(figure: float, counts: Primitives, costs: Primitives) -> float:
    """Return a figure at what things cost here: its primitives, and the rest, which is the interpreter's, as a hash is."""
    rest = figure - counts * PROTOTYPE / 1000
    return counts * costs / 1000 + rest * costs.hash / PROTOTYPE.hash


def times(hand: Hand, rounds: int) -> list[str]:
    """Measure a hand; return its rows of the table of times."""
    costs, alone, in_match = [], [], []
    for _ in range(rounds):
        costs.append(primitives())
        alone.append(measure_alone(hand))
        in_match.append(measure_in_match(hand))
    wanted = prototype(hand.seats, median_of(costs))
    server, client = medians(in_match)
    return [
        row(hand.seats, name, came, scaled, whole)
        for name, came, scaled, whole in zip(
            Figures._fields, medians(alone), wanted, (server, None, client), strict=True
        )
    ]


def medians(measured: list[tuple[float, ...]]) -> list[float]:
    """Return the median of each figure."""
    return [statistics.median(figures) for figures in zip(*measured, strict=True)]


def row(seats: int, name: str, came: float, scaled: float, whole: float | None) -> str:
    """Write one figure."""
    held = "yes" if came <= BOUND * scaled else "no"
    matched = "" if whole is None else f"{whole:9.3f} {whole / scaled:6.2f}"
    return f"{seats:5}  {name:6} {scaled:9.3f} {came:9.3f} {came / scaled:6.2f} {held:>10} {matched}"


def sizes(hand: Hand) -> str:
    """Return a hand's row of the table of bytes."""
    lengths = {type(step.body): len(pack_record(step.record)) for step in hand.steps}
    rest = sum(len(pack_record(step.record)) for step in hand.steps) - lengths[Call]
    _, wanted = PROTOTYPE_FIGURES[hand.seats]
    return f"{hand.seats:5} {lengths[Deal]:6} {wanted.deal:9} {rest:8} {wanted.records:9} {lengths[Call]:6}"


def main() -> None:
    """Print the times at each number of seats, then the bytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    hands = [played_hand(seats) for seats in PROTOTYPE_FIGURES]
    print(
        f"{'seats':>5}  {'ms':6} {'prototype':>9} {'alone':>9} {'ratio':>6} {f'<= {BOUND}':>10} {'in match':>9} {'ratio':>6}"
    )
    for hand in hands:
        print("\n".join(times(hand, rounds)), flush=True)
    print(
        f"\n{'seats':>5} {'deal B':>6} {'prototype':>9} {'others B':>8} {'prototype':>9} {'call B':>6}",
        *map(sizes, hands),
        sep="\n",
    )


if __name__ == "__main__":
    main()
