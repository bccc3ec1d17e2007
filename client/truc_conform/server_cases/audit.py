"""Cases S3: whole matches, proven from their records, and what the sizes of messages give away."""

from collections import defaultdict
from functools import partial
from typing import Final

from truc_conform.expectations import Map, expect, expect_ok
from truc_conform.raw_seat import RawSeat, bodies
from truc_conform.result import CaseOutcome, CaseVerdict
from truc_conform.server_visit import ServerVisit, case, case_rows, is_asked, play_on
from truc_protocol.bodies import Deal
from truc_protocol.boxes import BLOCK_BYTES, COUNTER_BYTES
from truc_protocol.crypto.keys import TAG_BYTES

LONG: Final = 1_000  # points of a match that nobody wins
_SHORT: Final = 3
_SIZED_HANDS: Final = 6  # enough for hands whose options differ in length before they are padded
_DECISION_MS: Final = 40_000
_WHOLE: Final = "play.md#the-end"
_VIEWS: Final = "views.md#who-sees-what"


def closed_hands(seat: RawSeat) -> int:
    """Return how many hands have been closed in a player's match."""
    return 0 if seat.auditor is None else len(seat.auditor.hands)


@case("S3.match", _WHOLE)
async def _match(visit: ServerVisit) -> None:
    """Two keys play a match to its end; both prove it from the same records."""
    seats = await visit.match(await visit.seats(target=_SHORT))
    await play_on(seats)
    for seat in seats:
        seat.proven()
    expect(seats[0].records == seats[1].records, "the same records for both seats", "different ones")


@case_rows(
    _WHOLE,
    "A guest {what}",
    ("S3.match-guest", "without x plays a match by its options", False),
    ("S3.match-guest-boxed", "with x plays a match by its boxed options", True),
)
async def _by_options(visit: ServerVisit, *, boxed: bool) -> None:
    seats = await visit.match(await visit.seats(guests=(1,), boxed=boxed, target=_SHORT))
    await play_on(seats)
    seats[0].proven()
    expect(seats[0].records == seats[1].records, "the same records for both seats", "different ones")


@case("S3.match-guests", _WHOLE)
async def _match_guests(visit: ServerVisit) -> None:
    """Two guests play a match."""
    seats = await visit.match(await visit.seats(guests=(0, 1), target=2))
    await play_on(seats)
    expect(seats[0].records == seats[1].records, "the same records for both seats", "different ones")


@case("S3.match-again", _WHOLE)
async def _match_again(visit: ServerVisit) -> None:
    """After a match the next one starts at the same table."""
    seats = await visit.match(await visit.seats(target=_SHORT))
    await play_on(seats)
    before = seats[0].ledger.setup.mid
    for seat in seats:
        expect_ok(await seat.ready(), "ok to ready after the match")
    await play_on(seats, lambda seat: seat.ledger.setup.mid != before)


async def hands_played(visit: ServerVisit, hands: int) -> list[RawSeat]:
    """Return two players after this many hands, each at the first decision of the next."""
    seats = await visit.match(await visit.seats(target=LONG))
    for seat in seats:
        seat.chooses = partial(_until_closed, seat, hands)
    await play_on(seats, partial(_rests, hands=hands))
    return seats


def _until_closed(seat: RawSeat, hands: int, message: Map, options: list[Map]) -> Map | None:
    """Choose as long as fewer hands have been closed."""
    return None if closed_hands(seat) >= hands else seat.pick(message, options)


def _rests(seat: RawSeat, *, hands: int) -> bool:
    return closed_hands(seat) >= hands and is_asked(seat)


@case("S3.audit", "../fairness/specification.md#11-checks")
async def _audit(visit: ServerVisit) -> CaseOutcome:
    """Every deal of many hands is proven."""
    seats = await hands_played(visit, visit.hands)
    # A match to 1,000 points ends by nothing else; `end` opens
    # all that is still closed (specification.md, "End").
    await seats[0].resign()
    await play_on(seats)
    for seat in seats:
        seat.proven()
    return CaseOutcome(CaseVerdict.PASS, f"{closed_hands(seats[0])} hands, {seats[0].next} records, proven")


@case("S3.boxed-key", _VIEWS)
async def _boxed_key(visit: ServerVisit) -> None:
    """Options for a key come in a box, its cards never in clear."""
    mover, _ = await visit.in_hand()
    options = mover.options or {}
    expect("box" in options and "list" not in options, "options for a key in a box", sorted(options))
    expect(not mover.cards, "no cards in clear for a key", "some")


@case("S3.boxed-guest", _VIEWS)
async def _boxed_guest(visit: ServerVisit) -> None:
    """Options for a guest with x come in a box, its cards never in clear."""
    mover, _ = await visit.in_hand(await visit.seats(guests=(0, 1), boxed=True))
    options = mover.options or {}
    expect("box" in options, "options for a guest with x in a box", sorted(options))
    expect(not mover.cards, "no cards in clear for a guest with x", "some")


@case("S3.sizes", _VIEWS)
async def _sizes(visit: ServerVisit) -> None:
    """Boxes are padded: their sizes do not depend on the cards.

    Over many deals, what is in the same place of a hand must be equally long, whatever the cards are.
    """
    seats = await hands_played(visit, min(visit.hands, _SIZED_HANDS))
    # specification.md, "Checks", C5: a card's index is one byte, so that all boxes of a deal are as long.
    boxes = {tuple(map(len, body.boxes)) for body in seats[0].bodies(Deal)}
    lengths = {length for each in boxes for length in each}
    expect(len(lengths) == 1, "boxes of one length in all deals", lengths)
    for seat in seats:
        _check_padding(seat)
    _check_first_options(seats)


def _check_padding(seat: RawSeat) -> None:
    overhead = COUNTER_BYTES + TAG_BYTES
    sealed = [len(message["box"]) for message in seat.client.came("options")]
    # specification.md, "Boxes": pad fills up to a multiple of 256; which one must not depend on hidden cards.
    expect(all((n - overhead) % BLOCK_BYTES == 0 for n in sealed), "options padded to 256 bytes", set(sealed))


def _check_first_options(seats: list[RawSeat]) -> None:
    """The first options after a deal are public in kind: neither their size nor who gets them may reveal the cards."""
    shapes: dict[tuple[bool, bool], set[int]] = defaultdict(set)
    for seat in seats:
        deals = {k for k, body in enumerate(bodies(seat.played)) if isinstance(body, Deal)}
        for message in seat.client.log:
            if message["t"] == "options" and message["at"] - 1 in deals:
                # These two are public: who decides is known to everybody.
                shapes[message["must"], message["deadline_ms"] is not None].add(len(message["box"]))
    expect(all(len(sizes) == 1 for sizes in shapes.values()), "first options of one size", dict(shapes))


@case("S3.deadline", "play.md#decisions")
async def _deadline(visit: ServerVisit) -> None:
    """deadline_ms is the time that is left."""
    mover, _ = await visit.in_hand(await visit.seats(decision_ms=_DECISION_MS, bank_ms=0))
    left = (mover.options or {}).get("deadline_ms")
    expect(left is not None and 0 < left <= _DECISION_MS, f"deadline_ms of at most {_DECISION_MS}", left)


@case("S3.no-clock", "play.md#terms-and-setup")
async def _no_clock(visit: ServerVisit) -> None:
    """decision_ms 0 means no deadline."""
    mover, _ = await visit.in_hand(await visit.seats(decision_ms=0))
    expect("deadline_ms" not in (mover.options or {}), "no deadline without a clock", mover.options)


@case("S3.ruled", "play.md#decisions")
async def _ruled(visit: ServerVisit) -> None:
    """The server rules, and signs, for a player whose time is up."""
    mover, other = await visit.in_hand(await visit.seats(decision_ms=1_000, bank_ms=0))
    before = mover.next
    await other.play(lambda seat: seat.next > before)
    # specification.md, "Rulings": the server signs that time ran out, and nobody acts in the seat's name.
    expect(other.records[-1].signer == 0, "a ruling, signed by the server", other.records[-1])
