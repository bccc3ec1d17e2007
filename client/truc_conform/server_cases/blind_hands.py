"""Cases S3 at tables whose host sees no card: hands that only some games have, seats that are lost, silent or late, and false words.

A case about a game asks for one of this project's; a server that offers it under no name of these is not judged there.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import trio

from truc_conform.blind_seat import BlindSeat
from truc_conform.expectations import Map, check_refusal, expect, expect_ok
from truc_conform.raw_client import PAIR
from truc_conform.raw_seat import Pick, RawSeat, bodies
from truc_conform.server_cases.blind import go_on, has_closed, in_match, waits_for
from truc_conform.server_visit import ServerVisit, all_ready, case, case_rows, only_cut, play_on, sit_down
from truc_protocol.blind_mode.points import encoded, scalar
from truc_protocol.blind_mode.sealed_pack import KeysStep
from truc_protocol.bodies import Act, Deal, Keys, Lend, Lock, Mask, Void
from truc_protocol.errors import Code
from truc_protocol.ledger import next_share
from truc_protocol.own_steps import Duty
from truc_protocol.wire.capabilities import BLIND_TABLES

_BLIND: Final = "play.md#a-table-whose-host-sees-no-card"
_FRENCH: Final = "truc-french"
_PAULISTA: Final = "truco-paulista"
_MINEIRO: Final = "truco-mineiro-2"
_ARGENTINO: Final = "truco-argentino"
_FOUR: Final = 4
_SILENCE_MS: Final = 2_000
"""How long a step with the pack is awaited where a seat is silent."""
_IS_VOIDED: Final = "loses, by a forfeit silent after a void that names it"
_HOLDS_UP: Final = "loses, by a forfeit opening"
_BEST: Final = 33
"""The highest value of an envido."""


async def _seats(visit: ServerVisit, game: str, count: int = PAIR, **options: int | str) -> list[BlindSeat]:
    """Return players at a table of a game whose host sees no card, all of them ready."""
    (await visit.player()).need(BLIND_TABLES)
    seats = [await visit.dealer(number) for number in range(count)]
    seats[0].client.need_game(game, count)
    await sit_down(seats, {"mode": "blind", "decision_ms": 0, **options}, game=game)
    await all_ready(seats)
    return seats


def _first_of(*kinds: str) -> Pick:
    """Return what chooses the first option of these kinds, in this order, where one has to be chosen."""

    def choose(message: Map, options: list[Map]) -> Map | None:
        found = (option for kind in kinds for option in options if option["kind"] == kind)
        return next(found, None) if message["must"] else None

    return choose


async def _proven(seats: Sequence[BlindSeat]) -> None:
    """Play on to the end of a match, and check that it is proven."""
    await play_on(seats)
    for seat in seats:
        seat.proven()


def _has_new_cards(seat: RawSeat) -> bool:
    return any(body.d for body in seat.bodies(Deal))


@case("S3.blind-redeal", _BLIND)
async def _redeal(visit: ServerVisit) -> None:
    """New cards of a hand are locked and get keys, and no mask; then they are dealt."""
    seats = await _seats(visit, _FRENCH)
    await play_on(seats, _has_new_cards, chooses=_first_of("redeal", "accept", "play"))
    steps = [type(body) for body in bodies(seats[0].records) if isinstance(body, Mask | Lock | Keys | Deal)]
    second = steps[steps.index(Deal) + 1 : steps.index(Deal, steps.index(Deal) + 1)]
    # blind.md, "The steps": whoever locks first locks once more at the end.
    expect(second == [*[Lock] * (PAIR + 1), *[Keys] * PAIR], "three locks and the keys of both", second)
    await seats[0].resign()
    await _proven(seats)


@case("S3.blind-turned-up", _BLIND)
async def _turned_up(visit: ServerVisit) -> None:
    """A key of the card turned up that has not the digest of its lock gets illegal_action (C46); with the right one it is turned up."""
    seats = await _seats(visit, _PAULISTA)
    for seat in seats:
        seat.withheld = frozenset({Duty.KEYS})
    await play_on(seats, waits_for(Duty.KEYS))
    step = seats[0].step(Duty.KEYS)
    if isinstance(step, KeysStep):
        # A key in its only encoding, so that nothing but the digest of the lock can refuse it (C46).
        step = step._replace(opened=(encoded(scalar("lock", b"another key")),))
    check_refusal(await seats[0].hand_in(seats[0].body_of(step)), Code.ILLEGAL_ACTION)
    await go_on(seats)
    deals = seats[1].bodies(Deal)
    expect([len(body.up) for body in deals] == [1], "one card turned up", deals)


def _owes_a_lend(seat: RawSeat) -> bool:
    return seat.auditor is not None and seat.ledger.hand is not None and next_share(seat.ledger) is not None


@case("S3.blind-lends", _BLIND)
async def _lends(visit: ServerVisit) -> None:
    """Before the partners at their last point have lent their cards an act gets not_now (C43); then both lend, and it is taken."""
    seats = await _seats(visit, _MINEIRO, _FOUR, target=3, match=1)
    for seat in seats:
        seat.withheld = frozenset({Duty.LEND})
        seat.chooses = _first_of("play", "decline") if seat.seat % 2 else _first_of("concede", "play")
    await play_on(seats, _owes_a_lend)
    giver, receiver = next_share(seats[0].ledger) or (0, 0)
    answer = Act(*_here(seats[receiver]), seats[receiver].ledger.deal_index, receiver, "accept", ())
    check_refusal(await seats[receiver].hand_in(answer), Code.NOT_NOW)
    for seat in seats:
        seat.withheld = frozenset()
    await seats[giver].follow()
    await play_on(seats, lambda seat: len(seat.bodies(Lend)) == PAIR)
    for seat in seats:
        seat.chooses = seat.pick
    await seats[giver].resign()
    await _proven(seats)


def _here(seat: RawSeat) -> tuple[bytes, int, bytes]:
    return seat.ledger.setup.mid, seat.ledger.k, seat.ledger.head


@case("S3.blind-unseen", _BLIND)
async def _unseen(visit: ServerVisit) -> None:
    """A hand of two sides at their last point has no boxes; each card gets the keys of both seats when it is played."""
    seats = await _seats(visit, _PAULISTA, target=2, match=1, blind="on")
    for seat in seats:
        seat.chooses = partial(_towards_a_tie, seat)
    await _proven(seats)
    given = seats[0].bodies(Keys)
    of_hand = [body for body in given if body.j == given[-1].j]
    expect(all(body.box is None and not body.boxes for body in of_hand), "no boxes", of_hand)
    expect(len(of_hand) > PAIR, "keys of the cards played, besides those of the deal", of_hand)


def _towards_a_tie(seat: BlindSeat, message: Map, options: list[Map]) -> Map | None:
    """Concede where only the own side is at its last point, ask for nothing, and play whatever comes first."""
    match = seat.ledger.match
    if match is None:
        return None
    own, other = (match.score[side].points for side in (seat.seat % 2, 1 - seat.seat % 2))
    return _first_of(*(("decline", "concede") if own > other else ("play", "blind", "accept")))(
        message, options
    )


@case("S3.blind-false-value", _BLIND)
async def _false_value(visit: ServerVisit) -> None:
    """A seat that says another value than its cards have loses by a forfeit when the links are open (C25)."""
    seats = await _seats(visit, _ARGENTINO, match=1)
    for seat in seats:
        seat.chooses = partial(_saying_a_false_one, seat)
    await play_on(seats, has_closed)
    liars = [body.seat for body in seats[0].bodies(Act) if body.kind == "points"][:1]
    told = seats[0].rulings()
    expect(liars and told == [("forfeit", liars[0], "false")], "the forfeit of the seat that lies", told)
    await _proven(seats)


def _saying_a_false_one(seat: BlindSeat, message: Map, options: list[Map]) -> Map | None:
    """Bring about an envido, and then give the hand up; whoever is first to say its value says a false one.

    Only the first may say any value: after the best there is no other to be said.
    """
    chosen = _first_of("accept", "envido", "points", "good", "concede")(message, options)
    if chosen is None or chosen["kind"] != "points" or seat.seat != seat.pack().plan.eldest:
        return chosen
    # The best value, or the one below if the best is the seat's own.
    return {**chosen, "args": (_BEST - (chosen["args"] == (_BEST,)),)}


@case_rows(
    _BLIND,
    "A seat whose connection was lost when its {what} is due comes back, and it is taken",
    ("S3.blind-lost-mask", "mask", Duty.MASK),
    ("S3.blind-lost-lock", "lock", Duty.LOCK),
    ("S3.blind-lost-keys", "keys", Duty.KEYS),
    ("S3.blind-lost-opening", "link", Duty.LINK),
)
async def _lost(visit: ServerVisit, *, wanted: Duty) -> None:
    seats = await in_match(visit, wanted)
    chooses = _first_of("concede", "cut", "play") if wanted is Duty.LINK else only_cut
    await play_on(seats, waits_for(wanted), chooses=chooses)
    mover = next(seat for seat in seats if seat.duty() is wanted)
    await trio.aclose_forcefully(mover.client.stream)
    expect_ok(await mover.come_back(await visit.connect()), "ok to resume")
    if wanted is not Duty.LINK:
        await go_on(seats)
        return
    for seat in seats:
        await seat.do_withheld()
    await play_on(seats, has_closed)


@case("S3.blind-keys-again", _BLIND)
async def _keys_again(visit: ServerVisit) -> None:
    """Keys that are held and come again on another connection are answered there, with the place at which they are written."""
    seats = await in_match(visit, Duty.KEYS)
    await play_on(seats, waits_for(Duty.KEYS))
    first, second = seats
    given = first.sign(first.body_of(first.step(Duty.KEYS)))
    await first.act(given)
    expect_ok(await first.come_back(await visit.connect()), "ok to resume")
    number = await first.client.send(given)
    await second.do_withheld()
    await play_on([second], lambda seat: seat.auditor is not None and seat.ledger.hand is not None)
    while (reply := await first.client.receive()).get("re") != number:
        await first.react(reply)
    expect_ok(reply, "ok to the keys")
    written = _place_of_keys(second, first.seat)
    expect(reply.get("k") == written, f"position {written}", reply)


def _place_of_keys(seat: RawSeat, of: int) -> int | None:
    """Return where the keys of a seat stand in the match, as another has been told."""
    found = enumerate(bodies(seat.played))
    return next((k for k, body in found if isinstance(body, Keys) and body.seat == of), None)


@case_rows(
    _BLIND,
    "A seat that {what}",
    ("S3.blind-silent-mask", f"does not mask {_IS_VOIDED}", Duty.MASK, "silent"),
    ("S3.blind-silent-lock", f"does not lock {_IS_VOIDED}", Duty.LOCK, "silent"),
    ("S3.blind-silent-keys", f"gives no keys {_HOLDS_UP}", Duty.KEYS, "opening"),
    ("S3.blind-silent-opening", f"does not open a hand that is over {_HOLDS_UP}", Duty.LINK, "opening"),
)
async def _silent(visit: ServerVisit, *, wanted: Duty, kind: str) -> None:
    seats = await in_match(visit, release_ms=_SILENCE_MS)
    silent, other = seats[1], seats[0]
    silent.withheld = frozenset({wanted})
    await play_on(seats, waits_for(wanted), chooses=_first_of("concede", "cut", "play"))
    await play_on(seats, _is_ended)
    named = [(body.reason, body.seats) for body in other.bodies(Void)]
    # play.md, "A table whose host sees no card": before the
    # deal a void names who is silent, later only a forfeit.
    voids = [("silent", (silent.seat,))] if kind == "silent" else []
    expect(named == voids, f"{len(voids)} voids, for silence", named)
    rules = other.rulings()
    expect(rules[-1:] == [("forfeit", silent.seat, kind)], f"a forfeit {kind} of the silent seat", rules)


def _is_ended(seat: RawSeat) -> bool:
    return seat.auditor is not None and seat.ledger.outcome is not None
