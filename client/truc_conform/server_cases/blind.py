"""Cases S3: tables whose host sees no card. The kit's two players deal, and the server refuses whoever does it wrongly."""

from collections.abc import Callable, Sequence
from typing import Final

from truc_conform.blind_seat import (
    BlindSeat,
    StepCheat,
    in_short_boxes,
    in_shut_boxes,
    reordered,
    too_short,
    unsound,
    with_one_twice,
)
from truc_conform.expectations import Map, UnofferedError, check_refusal, expect, expect_ok
from truc_conform.raw_seat import RawSeat, bodies
from truc_conform.server_visit import (
    ServerVisit,
    all_ready,
    case,
    case_rows,
    dealt,
    is_asked,
    only_cut,
    play_on,
)
from truc_protocol.bodies import Act, Deal, Keys
from truc_protocol.errors import Code
from truc_protocol.own_steps import Duty, garbled_body
from truc_protocol.wire.capabilities import BLIND_TABLES

_BLIND: Final = "play.md#a-table-whose-host-sees-no-card"
_MODE: Final = {"mode": "blind"}
NOTHING: Final = bytes(32)


async def _table(visit: ServerVisit, **options: int | str) -> tuple[BlindSeat, BlindSeat]:
    """Return two players at a table whose host sees no card, of the first game that can be played so."""
    (await visit.player()).need(BLIND_TABLES)
    first, second = await visit.dealer(0), await visit.dealer(1)
    # Not every game can be played so; `bad_option` says why (play.md, "A table whose host sees no card").
    for game in first.client.games():
        reply = await first.open_table({**_MODE, **options}, game=game)
        if reply["t"] == "ok":
            expect_ok(await second.join(first.table), "a seat at the table")
            return first, second
    raise UnofferedError("no game for two of this server can be played in mode blind")


async def in_match(visit: ServerVisit, *withheld: Duty, **options: int | str) -> tuple[BlindSeat, BlindSeat]:
    """Return two players who have said ready, and withhold some of what they owe."""
    seats = await _table(visit, **options)
    for seat in seats:
        seat.withheld = frozenset(withheld)
    await all_ready(seats)
    return seats


def waits_for(wanted: Duty) -> Callable[[RawSeat], bool]:
    """Return what tells whether a player knows that the match waits, here and now, for a kind of step."""
    what = "opening" if wanted is Duty.LINK else wanted

    def told(seat: RawSeat) -> bool:
        waiting = seat.waiting
        return waiting is not None and (waiting["at"], waiting.get("what")) == (seat.next, what)

    return told


def has_closed(seat: RawSeat) -> bool:
    """Tell whether a player has seen the close of the first hand."""
    return seat.auditor is not None and seat.ledger.deal_index > 1


async def go_on(seats: Sequence[BlindSeat]) -> None:
    """Let both players do what they have withheld, up to the first decision of the hand."""
    for seat in seats:
        await seat.do_withheld()
    await play_on(seats, is_asked, chooses=only_cut)


def _conceding(message: Map, options: list[Map]) -> Map | None:
    """Give the hand up."""
    quick = next((option for option in options if option["kind"] == "concede"), options[0])
    return quick if message["must"] else None


@case("S3.blind-hand", _BLIND)
async def _hand(visit: ServerVisit) -> None:
    """A hand is dealt by the seats, played and opened, and the match proven."""
    seats = await in_match(visit)
    await play_on(seats, has_closed)
    await seats[0].resign()
    await play_on(seats)
    for seat in seats:
        verdict = seat.proven()
        expect(verdict.host_saw_no_card, "hands dealt by the seats", verdict)


@case("S3.blind-shown", _BLIND)
async def _shown(visit: ServerVisit) -> None:
    """The table is shown with its mode."""
    first, _ = await _table(visit)
    reply = await first.client.ask({"t": "tables"})
    shown = [
        each.get("mode") for each in (*reply["tables"], *first.client.came("table")) if _is_of(each, first)
    ]
    expect(shown and set(shown) == {"blind"}, "the mode blind", shown)


def _is_of(table: Map, seat: BlindSeat) -> bool:
    return bool(table.get("table") == seat.table)


@case("S3.blind-unwanted", _BLIND)
async def _unwanted(visit: ServerVisit) -> None:
    """A client that does not want `blind` gets not_now to join, and bad_option to create."""
    first, second = await _table(visit)
    await second.ask({"t": "leave", "table": first.table})
    plain = await visit.seat(2)
    check_refusal(await plain.join(first.table), Code.NOT_NOW)
    check_refusal(await plain.open_table(_MODE), Code.BAD_OPTION, field="options/mode")


@case("S3.blind-keys-held", _BLIND)
async def _keys_held(visit: ServerVisit) -> None:
    """No keys are sent before those of every seat are in; then all are, and the deal."""
    seats = await in_match(visit, Duty.KEYS)
    await play_on(seats, waits_for(Duty.KEYS))
    await seats[0].do_withheld()
    # Its reply stands behind whatever was sent before it.
    await seats[1].ask({"t": "tables"})
    expect(not seats[1].bodies(Keys), "no keys yet", seats[1].bodies(Keys))
    await go_on(seats)
    told = [type(body) for body in bodies(seats[1].records) if isinstance(body, Keys | Deal)]
    # play.md: the server writes and sends them when every seat that owes keys has sent its own.
    expect(told[:3] == [Keys, Keys, Deal], "keys of both seats and the deal", told)


@case_rows(
    _BLIND,
    "{what} gets {code}, and the right one is taken",
    ("S3.blind-mask-unsound", "A mask with an unsound point (C44)", Duty.MASK, unsound, Code.ILLEGAL_ACTION),
    (
        "S3.blind-mask-twice",
        "A mask with a point twice (C45)",
        Duty.MASK,
        with_one_twice,
        Code.ILLEGAL_ACTION,
    ),
    ("S3.blind-mask-short", "A mask of too few points (C43)", Duty.MASK, too_short, Code.NOT_NOW),
    ("S3.blind-lock-unsound", "A lock with an unsound point (C44)", Duty.LOCK, unsound, Code.ILLEGAL_ACTION),
    (
        "S3.blind-lock-twice",
        "A lock with a point twice (C45)",
        Duty.LOCK,
        with_one_twice,
        Code.ILLEGAL_ACTION,
    ),
    ("S3.blind-lock-short", "A lock of too few points (C43)", Duty.LOCK, too_short, Code.NOT_NOW),
    (
        "S3.blind-keys-short",
        "Keys in boxes of a wrong length (C46)",
        Duty.KEYS,
        in_short_boxes,
        Code.ILLEGAL_ACTION,
    ),
)
async def _step_refused(visit: ServerVisit, *, wanted: Duty, cheat: StepCheat, code: Code) -> None:
    seats = await in_match(visit, wanted)
    # Where the pack is not cut, one card may be dealt, and one point be locked.
    await play_on(seats, waits_for(wanted), chooses=only_cut)
    mover = next(seat for seat in seats if seat.duty() is wanted)
    # play.md: `not_now` for C43, C48 and C49, `illegal_action`
    # for C14 and C44 to C46; a right step may follow.
    check_refusal(await mover.hand_in(mover.body_of(cheat(mover.step(wanted)))), code)
    await go_on(seats)


@case("S3.blind-out-of-turn", _BLIND)
async def _out_of_turn(visit: ServerVisit) -> None:
    """A mask out of turn gets not_now (C43)."""
    seats = await in_match(visit, Duty.MASK)
    await play_on(seats, waits_for(Duty.MASK))
    mover, other = sorted(seats, key=lambda seat: seat.duty() is None)
    step = mover.step(Duty.MASK)
    check_refusal(await other.hand_in(other.body_of(step._replace(seat=other.seat))), Code.NOT_NOW)
    await go_on(seats)


@case("S3.blind-early-link", _BLIND)
async def _early_link(visit: ServerVisit) -> None:
    """A link before the hand is over gets not_now (C49)."""
    mover, _ = await dealt(await _table(visit))
    check_refusal(await mover.hand_in(mover.opening()), Code.NOT_NOW)
    expect_ok(await mover.move(), "the match to go on after a refusal")


@case("S3.blind-link", _BLIND)
async def _other_link(visit: ServerVisit) -> None:
    """A link off its chain gets illegal_action (C14), and the right one closes the hand."""
    seats = await in_match(visit, Duty.LINK)
    await play_on(seats, waits_for(Duty.LINK), chooses=_conceding)
    check_refusal(await seats[0].hand_in(seats[0].opening(NOTHING)), Code.ILLEGAL_ACTION)
    for seat in seats:
        await seat.do_withheld()
    await play_on(seats, has_closed)


@case("S3.blind-card", _BLIND)
async def _another_card(visit: ServerVisit) -> None:
    """A card that does not lie there gets illegal_action (C19)."""
    mover, _ = await dealt(await _table(visit))
    play = next((option for option in mover.offered if option["kind"] == "play"), None)
    if play is None:
        raise UnofferedError("this game offers no card to play at the first decision")
    slot, card, *rest = play["args"]
    held = {each.card for each in mover.hand()}
    # A card that this seat does not hold, of which it has no keys.
    other = next(each for each in range(mover.ledger.setup.terms.table.deck) if each not in held | {card})
    body: Act = mover.act_of(play, args=(slot, other, *rest))
    check_refusal(await mover.hand_in(body), Code.ILLEGAL_ACTION)
    expect_ok(await mover.move(), "the match to go on after a refusal")


@case_rows(
    _BLIND,
    "{what} loses by a forfeit when the links are open",
    ("S3.blind-exposed", "A seat whose link shows that it masked otherwise (C50)", reordered),
    ("S3.blind-garbled", "A seat whose boxes do not open, as the other says,", in_shut_boxes),
)
async def _exposed(visit: ServerVisit, *, cheat: StepCheat) -> None:
    first, second = seats = await in_match(visit)
    second.cheats = cheat
    await play_on(seats, chooses=_conceding)
    _expect_forfeit(first, second.seat)


def _expect_forfeit(player: BlindSeat, seat: int) -> None:
    """Check that a match has ended by the forfeit of a seat that is exposed."""
    told = player.rulings()
    expect(told[-1:] == [("forfeit", seat, "cheat")], "the forfeit of the seat that cheats", told)
    player.proven()


@case("S3.blind-false-claim", _BLIND)
async def _false_claim(visit: ServerVisit) -> None:
    """A seat that says of a sound hand that it is garbled loses by a forfeit when the links are open (C48)."""
    seats = await dealt(await _table(visit))
    mover, other = seats
    expect_ok(await other.hand_in(garbled_body(other.ledger, other.seat)), "ok to garbled")
    await play_on(seats)
    _expect_forfeit(mover, other.seat)


@case("S3.blind-early-claim", _BLIND)
async def _early_claim(visit: ServerVisit) -> None:
    """garbled before all keys are in gets not_now (C48), and the deal goes on."""
    seats = await in_match(visit, Duty.LOCK)
    await play_on(seats, waits_for(Duty.LOCK))
    player, _ = seats
    check_refusal(await player.hand_in(garbled_body(player.ledger, player.seat)), Code.NOT_NOW)
    await go_on(seats)
