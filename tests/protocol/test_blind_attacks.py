"""Attacks on the deal of mode blind: which check refuses each, whom it names, and what the cheat has seen by then.

A cheat here changes its own steps and knows its own secrets. Whatever it does in a mask, a lock, its keys or its boxes, its
opened link names it (C50); what is refused sooner, and what is read before, differs.
"""

from fractions import Fraction
from math import comb
from pathlib import Path
from typing import NamedTuple

import pytest
from protocol.sealed_deals import KeysStep, LockStep, MaskStep, SealedDeal, link_of, replaced
from rows import each_row

from protocol import edwards
from truc_protocol.blind_mode.points import (
    BASE,
    ORDER,
    card_point,
    card_scalar,
    card_times,
    decoded,
    encoded,
    inverse,
    product,
    scalar,
    times,
)
from truc_protocol.blind_mode.sealed_pack import key_digest, opens_place, turn_places, turned_up
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import (
    GarbledError,
    make_keys,
    make_lend,
    make_lock,
    make_mask,
    read_lend,
)
from truc_protocol.checks import CheckError
from truc_protocol.crypto import curve
from truc_protocol.crypto.keys import multiplier

DECK = 16
ELDEST, DEALER = 0, 1
SMALL = curve.montgomery(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))
T = scalar("lock", b"a number of the cheat's")


def added(first: bytes, second: bytes) -> bytes:
    """Add two points given by their u; which of the two signs each has does not matter to a cheat."""
    return curve.montgomery(edwards.encode(edwards.add(_lifted(first), _lifted(second))))


def _lifted(u: bytes):
    number = int.from_bytes(u, "little")
    y = (number - 1) * pow(number + 1, -1, curve.FIELD) % curve.FIELD
    point = edwards.decode(y.to_bytes(32, "little"))
    assert point is not None
    return point


def refused(deal: SealedDeal, step) -> tuple[str, str | None]:
    with pytest.raises(CheckError) as caught:
        deal.take(step)
    return caught.value.check, caught.value.culprit


def test_point_that_is_not_of_prime_order_on_the_curve_is_refused_wherever_it_stands():
    deal = SealedDeal(deck=DECK)
    mask = deal.until(MaskStep, DEALER)
    assert refused(deal, mask._replace(points=replaced(mask.points, {5: SMALL}))) == ("C44", "seat 1")
    lock = deal.until(LockStep, DEALER)
    assert refused(deal, lock._replace(points=replaced(lock.points, {1: SMALL}))) == ("C44", "seat 1")
    keys = deal.until(KeysStep, DEALER)
    assert refused(deal, keys._replace(box=SMALL)) == ("C44", "seat 1")


def test_point_that_came_before_or_is_plain_is_refused():
    deal = SealedDeal(deck=DECK)
    mask = deal.until(MaskStep, DEALER)
    first = deal.pack.steps[0]
    for point in (mask.points[0], first.points[3], BASE, card_point(3)):
        changed = mask._replace(points=replaced(mask.points, {7: point}))
        assert refused(deal, changed) == ("C45", "seat 1")
    lock = deal.until(LockStep, DEALER)
    for point in (lock.points[2], mask.points[0], BASE, deal.pack.steps[2].points[1]):
        assert refused(deal, lock._replace(points=replaced(lock.points, {1: point}))) == ("C45", "seat 1")
    keys = deal.until(KeysStep, DEALER)
    assert refused(deal, keys._replace(box=lock.points[0])) == ("C45", "seat 1")


def test_step_of_another_seat_kind_shape_or_sub_deal_is_refused():
    deal = SealedDeal(deck=DECK, turned=1)
    early = make_mask(deal.pack, deal.secrets[DEALER], DEALER)
    assert refused(deal, early) == ("C43", "seat 1")
    mask = deal.until(MaskStep, DEALER)
    assert refused(deal, mask._replace(points=mask.points[2:])) == ("C43", "seat 1")
    nonce = deal.until(LockStep, ELDEST)
    assert refused(deal, nonce._replace(nonce=None)) == ("C43", "seat 0")
    assert refused(deal, nonce._replace(d=1)) == ("C43", "seat 0")
    assert refused(deal, mask) == ("C43", "seat 1")
    lock = deal.until(LockStep, DEALER)
    assert refused(deal, lock._replace(nonce=bytes(32))) == ("C43", "seat 1")
    for short in ({"points": lock.points[1:]}, {"commitments": lock.commitments[1:]}):
        assert refused(deal, lock._replace(**short)) == ("C43", "seat 1")
    early = KeysStep(0, DEALER, BASE, (), (b"", b""))
    assert refused(deal, early) == ("C43", "seat 1")
    keys = deal.until(KeysStep, ELDEST)
    for changed in ({"box": None}, {"boxes": ()}, {"opened": ()}, {"opened": keys.opened * 2}, {"d": 1}):
        assert refused(deal, keys._replace(**changed)) == ("C43", "seat 0")
    deal.take(keys)
    assert refused(deal, keys) == ("C43", "seat 0")
    assert refused(deal, lock) == ("C43", "seat 1")


def test_key_that_does_not_fit_is_refused():
    deal = SealedDeal(deck=DECK, turned=1)
    keys = deal.until(KeysStep, DEALER)
    other = encoded(deal.secrets[DEALER].lock(0))
    assert refused(deal, keys._replace(opened=(other,))) == ("C46", "seat 1")
    for boxes in ((keys.boxes[0][1:], b""), (b"", b""), (keys.boxes[0], keys.boxes[0])):
        assert refused(deal, keys._replace(boxes=boxes)) == ("C46", "seat 1")


def test_key_that_is_written_otherwise_is_refused_though_its_digest_was_shown():
    deal = SealedDeal(deck=DECK, turned=1)
    lock, p = deal.until(LockStep, DEALER), deal.plan.first_place(1) - 1
    key = encoded(deal.secrets[DEALER].lock(p))
    loose = bytes([key[0] | 1]) + key[1:]
    shown = key_digest(deal.plan, p=p, seat=DEALER, key=loose)
    at = turn_places(deal.pack).index(p)
    deal.take(lock._replace(commitments=replaced(lock.commitments, {at: shown})))
    keys = deal.until(KeysStep, DEALER)
    assert refused(deal, keys._replace(opened=(loose,))) == ("C46", "seat 1")


def cheated(*cheats, **table) -> SealedDeal:
    return SealedDeal(**{"deck": DECK, "cheats": cheats, **table}).deal()


def outcome(deal: SealedDeal, seat: int) -> str:
    """What an honest seat makes of its hand: the check that names a giver at once, garbled, or its cards."""
    try:
        return "plays" if deal.hand(seat) else ""
    except GarbledError:
        return "garbled"
    except CheckError as error:
        return f"{error.check} {error.culprit}"


class Noticed(NamedTuple):
    """What the other side makes of its hand, before any link is open."""

    eldest: str
    dealer: str


def noticed(deal: SealedDeal) -> Noticed:
    return Noticed(outcome(deal, ELDEST), outcome(deal, DEALER))


def instead(seat: int, kind, change, *, when=lambda _deal, _step: True):
    """A cheat that makes something else of the steps of a kind that a seat takes."""

    def cheat(deal: SealedDeal, step):
        is_its = type(step) is kind and step.seat == seat and when(deal, step)
        return change(deal, step) if is_its else step

    return cheat


def is_last(deal, _step) -> bool:
    return deal.pack.turn == deal.plan.seats


def is_between(deal, _step) -> bool:
    return 0 < deal.pack.turn < deal.plan.seats


def is_without_a_nonce(_deal, step) -> bool:
    return step.nonce is None


class Mixed:
    """Secrets of a seat, some of which are drawn otherwise than its link says."""

    def __init__(self, deal: SealedDeal, seat: int, *names: str) -> None:
        real = deal.secrets[seat]
        self._real, self._names = real, names
        self._other = SeatSecrets(link_of(seat, 99), real.mid, real.j, real.deck)

    def __getattr__(self, name: str):
        return getattr(self._other if name in self._names else self._real, name)


def with_secrets(seat: int, kind, *names: str):
    """A cheat that draws some secret otherwise than its link says."""
    make = {MaskStep: make_mask, LockStep: make_lock, KeysStep: make_keys}[kind]
    return instead(seat, kind, lambda deal, _step: make(deal.pack, Mixed(deal, seat, *names), seat))


def exchanged(seat: int):
    """Exchange two of the places that a seat locks."""

    def change(_deal, step):
        (one, other, *points), (shown, next_shown, *rest) = step.points, step.commitments
        return step._replace(points=(other, one, *points), commitments=(next_shown, shown, *rest))

    return instead(seat, LockStep, change, when=is_without_a_nonce)


def scaled(step, at: int, number: int):
    """Return a step with one of its points times a number."""
    return step._replace(points=replaced(step.points, {at: times(number).times(step.points[at])}))


def scaled_lock(seat: int):
    """Another number for Q than the digest is of."""
    return instead(seat, LockStep, lambda _deal, step: scaled(step, 0, T))


def misboxed(seat: int, change):
    def boxed(deal, step):
        return step._replace(boxes=tuple(change(deal, box) if box else box for box in step.boxes))

    return instead(seat, KeysStep, boxed)


def sealed_wrongly(deal, _box):
    """A box that opens, onto the key of another place."""
    return make_keys(deal.pack, Mixed(deal, DEALER, "lock"), DEALER).boxes[ELDEST]


def other_sub_deal(deal, _box):
    """The box that would be right in another sub-deal, under the point of this one."""
    again = make_keys(deal.pack._replace(plan=deal.plan._replace(j=2)), deal.secrets[DEALER], DEALER)
    return again.boxes[ELDEST]


PLAYS, GARBLED = "plays", "garbled"
NAMED = [
    # who, what it does, what the eldest and the dealer make of their hands
    (DEALER, with_secrets(DEALER, MaskStep, "order"), (PLAYS, PLAYS)),
    (ELDEST, with_secrets(ELDEST, MaskStep, "order"), (PLAYS, PLAYS)),
    (DEALER, with_secrets(DEALER, MaskStep, "blind"), (PLAYS, PLAYS)),
    (DEALER, with_secrets(DEALER, MaskStep, "mask"), (GARBLED, GARBLED)),
    (ELDEST, with_secrets(ELDEST, LockStep, "nonce"), (PLAYS, PLAYS)),
    (DEALER, with_secrets(DEALER, LockStep, "lock"), ("C46 seat 1", GARBLED)),
    (ELDEST, with_secrets(ELDEST, LockStep, "mask"), (GARBLED, GARBLED)),
    (DEALER, exchanged(DEALER), ("C46 seat 1", GARBLED)),
    (DEALER, scaled_lock(DEALER), (GARBLED, PLAYS)),
    (ELDEST, scaled_lock(ELDEST), (GARBLED, GARBLED)),
    (DEALER, misboxed(DEALER, lambda _deal, box: bytes(len(box))), ("C46 seat 1", PLAYS)),
    (DEALER, misboxed(DEALER, sealed_wrongly), ("C46 seat 1", PLAYS)),
    (DEALER, misboxed(DEALER, other_sub_deal), ("C46 seat 1", PLAYS)),
    (DEALER, with_secrets(DEALER, KeysStep, "box"), (PLAYS, PLAYS)),
]


@each_row("seat, cheat, expected", NAMED)
def test_whatever_a_link_does_not_say_names_its_seat_and_nobody_else(seat, cheat, expected):
    deal = cheated(cheat)
    assert noticed(deal) == expected
    assert deal.exposed() == [seat]


# What a cheat reads before it is named.


def opened_by(keys_of, place_point: bytes, shown: bytes, deck: int) -> int | None:
    """The card whose point in a place is `shown`, once every number in `keys_of` is taken off it."""
    bare = times(inverse(product(keys_of))).times(shown)
    return next((card for card in range(deck) if card_times(card).times(place_point) == bare), None)


def copied(seat: int, pairs, *, when, masked: bool = True):
    """Put t times the Q of one place, as it was masked or is locked by now, into another while locking, times the own lock."""

    def change(deal, step):
        secrets, pack = deal.secrets[seat], deal.pack
        unmask, points = inverse(secrets.mask()), list(step.points)
        for into, source in pairs(deal):
            locked = pack.pairs[pack.order[source]][1] if masked else pack.places[source].locked
            at = turn_places(pack).index(into)
            points[at] = times(T * secrets.lock(into) * unmask).times(locked)
        return step._replace(points=tuple(points))

    return instead(seat, LockStep, change, when=when)


def places_of(deal, seat: int, d: int = 0) -> list[int]:
    return [deal.plan.place(d, seat, slot) for slot in range(deal.plan.ncards)]


def read_copies(deal, reader: int, pairs) -> list[int | None]:
    """What the reader makes of the copies in its places: it has the keys of all, and knows what was put there."""
    found = []
    for into, source in pairs(deal):
        keys = [deal.secrets[seat].lock(into) for seat in range(deal.plan.seats)]
        place = deal.pack.places[into]
        found.append(opened_by([T, *keys], deal.pack.places[source].point, place.locked, deal.plan.deck))
    assert all(deal.pack.places[into].seat == reader for into, _ in pairs(deal))
    return found


def pairing(reader: int, victim: int):
    return lambda deal: list(zip(places_of(deal, reader), places_of(deal, victim), strict=True))


@each_row("thrown_in, masked", [(True, True), (True, False), (False, True), (False, False)])
def test_new_cards_give_no_second_chance_to_copy_the_old_or_the_new_ones(thrown_in, masked):
    def pairs(deal):
        sources = places_of(deal, ELDEST, 0 if thrown_in else 1)
        return list(zip(places_of(deal, DEALER, 1), sources, strict=True))

    def in_the_redeal(deal, step) -> bool:
        return step.d == 1 and is_between(deal, step)

    deal = cheated(copied(DEALER, pairs, when=in_the_redeal, masked=masked)).redeal()
    assert read_copies(deal, DEALER, pairs) == [None] * 3
    assert outcome(deal, ELDEST) == PLAYS
    assert deal.exposed() == [DEALER]


@each_row("masked", [True, False])
def test_dealer_and_eldest_cannot_copy_what_the_other_side_holds(masked):
    own_places = pairing(DEALER, ELDEST)
    deal = cheated(copied(DEALER, own_places, when=is_between, masked=masked))
    assert read_copies(deal, DEALER, own_places) == [None] * 3
    assert outcome(deal, ELDEST) == PLAYS
    assert deal.exposed() == [DEALER]
    own_places = pairing(ELDEST, DEALER)
    deal = cheated(copied(ELDEST, own_places, when=is_last, masked=masked))
    assert read_copies(deal, ELDEST, own_places) == [None] * 3
    assert deal.exposed() == [ELDEST]


COPIES = [
    # cheat, reader, victim, whether it reads; seats 0 and 2 against 1 and 3, the dealer
    (1, 3, 0, False),
    (1, 3, 2, False),
    (3, 1, 0, False),
    (2, 0, 3, False),
    (1, 0, 3, True),  # the first to lock the reader's places is in the plot, from the other side
]


@each_row("cheat, reader, victim, reads", COPIES)
def test_only_a_plot_across_sides_can_copy_with_four_seats(cheat, reader, victim, reads):
    pairs = pairing(reader, victim)
    deal = cheated(copied(cheat, pairs, when=is_between), seats=4)
    assert read_copies(deal, reader, pairs) == (deal.cards(victim) if reads else [None] * 3)
    assert deal.exposed() == [cheat]


def test_place_put_where_a_card_is_turned_up_shows_that_card_and_ends_the_hand():
    pairs = lambda deal: [(6, deal.plan.place(0, ELDEST, 1))]  # noqa: E731
    deal = cheated(copied(DEALER, pairs, when=is_between), turned=1)
    source = deal.pack.places[deal.plan.place(0, ELDEST, 1)]
    keys = [T, *(decoded(keys.opened[0]) for keys in deal.pack.keyed)]
    assert opened_by(keys, source.point, deal.pack.places[6].locked, DECK) is not None
    assert turned_up(deal.pack) == (None,)
    assert noticed(deal) == (GARBLED, GARBLED)
    assert deal.exposed() == [DEALER]


def chosen(seat: int, cards):
    """Whoever locks its own places last puts there what (T + c)·u_c·P is, for cards c that it likes."""

    def change(deal, step):
        points = list(step.points)
        for into, card in zip(places_of(deal, seat), cards, strict=True):
            number = (T + card) * card_scalar(card)
            points[turn_places(deal.pack).index(into)] = times(number).times(deal.pack.places[into].point)
        return step._replace(points=tuple(points))

    return instead(seat, LockStep, change, when={DEALER: is_between, ELDEST: is_last}[seat])


@each_row("seat", [ELDEST, DEALER])
def test_last_to_lock_its_own_places_could_choose_its_cards_if_only_the_product_of_the_keys_were_bound(seat):
    """Why each lock shows a digest of its key: with a chain C = b·C before, the cheat makes its key up afterwards."""
    deal = cheated(chosen(seat, (0, 1, 2)))
    assert outcome(deal, 1 - seat) == PLAYS
    for slot, card in enumerate((0, 1, 2)):
        p = deal.plan.place(0, seat, slot)
        place, honest = deal.pack.places[p], encoded(deal.secrets[1 - seat].lock(p))
        made_up = encoded((T + card) * inverse(decoded(honest)))  # it is told the other's key after its lock
        keys = (made_up, honest) if seat == ELDEST else (honest, made_up)
        # as a product, and as a chain of points from G whose last one the cheat has made from T + c, all fits
        assert times(product([card_scalar(card), *map(decoded, keys)])).times(place.point) == place.locked
        chain = multiplier(made_up).times(multiplier(honest).times_base())
        assert chain == times(T + card).times_base()
        assert not opens_place(deal.pack, p, card, keys)
    assert outcome(deal, seat) == GARBLED
    assert deal.exposed() == [seat]


def guessed(seat: int, guess: int, wanted: int):
    """Turn the card that lies in the own first place into another, by a guess at what it is."""
    number = card_scalar(wanted) * inverse(card_scalar(guess))

    def change(deal, step):
        return scaled(step, turn_places(deal.pack).index(places_of(deal, seat)[0]), number)

    return instead(seat, LockStep, change, when=is_without_a_nonce)


def test_card_can_be_exchanged_by_a_right_guess_at_what_it_is_and_else_is_garbled():
    there = SealedDeal(deck=DECK).deal().cards(DEALER)[0]
    free = next(card for card in range(DECK) if card not in SealedDeal(deck=DECK).deal().cards(DEALER))
    deal = cheated(guessed(DEALER, there, free))
    assert deal.cards(DEALER)[0] == free
    assert deal.exposed() == [DEALER]
    deal = cheated(guessed(DEALER, (there + 1) % DECK, free))
    assert noticed(deal) == (PLAYS, GARBLED)
    assert deal.exposed() == [DEALER]


def with_known_points(count: int):
    """The last to mask puts s·G for some P: their logarithms are known to it, but what lies there is no card."""
    changes = {2 * k: times(T + k).times_base() for k in range(count)}
    return instead(DEALER, MaskStep, lambda _deal, step: step._replace(points=replaced(step.points, changes)))


def test_points_of_the_cheats_own_making_are_no_card_wherever_the_nonce_puts_them():
    deal = cheated(with_known_points(DECK))
    assert noticed(deal) == (GARBLED, GARBLED)
    deal = cheated(with_known_points(1))
    assert deal.exposed() == [DEALER]
    hit = {p: deal.pack.order[p] == 0 for p in range(6)}
    expected = [GARBLED if any(hit[p] for p in places_of(deal, seat)) else PLAYS for seat in (0, 1)]
    assert noticed(deal) == tuple(expected)


def test_one_pair_that_holds_several_cards_tells_where_they_lie_but_is_no_card():
    """The last to mask adds the Q of three pairs in a fourth; in its own hand it finds the three, and has no card there."""
    lands = SealedDeal(deck=DECK).deal()
    fat = lands.pack.order[lands.plan.place(0, DEALER, 0)]
    sources = [k for k in range(DECK) if k != fat][:2]

    def change(_deal, step):
        together = added(*(step.points[2 * k + 1] for k in sources))
        return step._replace(points=replaced(step.points, {2 * fat + 1: times(T).times(together)}))

    deal = cheated(instead(DEALER, MaskStep, change))
    assert noticed(deal) == (PLAYS, GARBLED)
    place = deal.pack.places[deal.plan.place(0, DEALER, 0)]
    keys = [deal.secrets[seat].lock(deal.plan.place(0, DEALER, 0)) for seat in (0, 1)]
    bare = times(inverse(product([T, *keys]))).times(place.locked)
    bases = [deal.pack.pairs[k][0] for k in sources]
    others = {card_times(card).times(bases[1]): card for card in range(DECK)}
    sums = ((card, each) for card in range(DECK) for each in _sums(bare, card_times(card).times(bases[0])))
    found = [(card, others[each]) for card, each in sums if each in others]
    assert len(found) == 1
    assert deal.exposed() == [DEALER]


def _sums(first: bytes, second: bytes) -> set[bytes]:
    """A u stands for two points: both of their sums."""
    one, other = _lifted(first), _lifted(second)
    negative = edwards.multiply(ORDER - 1, other)
    return {curve.montgomery(edwards.encode(edwards.add(one, each))) for each in (other, negative)}


def doubled(copies: int):
    """The dealer masks the first pairs several times instead of the others."""

    def change(_deal, step):
        kept, points = DECK // copies, list(step.points)
        for k in range(kept, DECK):
            source = k % kept
            number = T + k
            points[2 * k] = times(number).times(points[2 * source])
            points[2 * k + 1] = times(number).times(points[2 * source + 1])
        return step._replace(points=tuple(points))

    return instead(DEALER, MaskStep, change)


def test_pack_of_doubled_cards_deals_one_card_to_two_seats():
    deal = cheated(doubled(DECK))
    assert noticed(deal) == (GARBLED, GARBLED)
    deal = cheated(doubled(2), run=3)
    places = deal.pack.places
    lies = {p: deal.pack.order[p] % (DECK // 2) for p in range(6)}
    twice = [p for p in places_of(deal, DEALER) if lies[p] in [lies[q] for q in places_of(deal, ELDEST)]]
    assert len(places) == 6
    assert deal.exposed() == [DEALER]
    if PLAYS == outcome(deal, ELDEST) == outcome(deal, DEALER):
        assert len(set(deal.cards(ELDEST)) & set(deal.cards(DEALER))) == len(twice)


def composed(cards):
    """The eldest, who masks the plain pack, makes it of cards of its choice."""

    def change(deal, step):
        secrets, points = deal.secrets[ELDEST], []
        for k in range(DECK):
            blind = secrets.blind(k)
            number = blind * secrets.mask() * card_scalar(cards[k % len(cards)])
            points += [times(blind).times_base(), times(number).times_base()]
        return step._replace(points=tuple(points))

    return instead(ELDEST, MaskStep, change)


def test_first_to_mask_can_choose_which_cards_are_in_the_pack_but_not_where():
    deal = cheated(composed(range(DECK // 2)))
    seen = [deal.cards(seat) for seat in (0, 1) if outcome(deal, seat) == PLAYS]
    assert all(card < DECK // 2 for cards in seen for card in cards)
    assert deal.exposed() == [ELDEST]
    deal = cheated(composed([5]))
    assert noticed(deal) == (GARBLED, GARBLED)


def test_pack_built_from_one_guessed_card_is_garbled_where_the_guess_is_wrong():
    def from_guess(right: bool):
        def change(deal, step):
            first, second = deal.pack.pairs[0]
            card = deal.secrets[ELDEST].order()[0]
            guess = card if right else (card + 1) % DECK
            mask, points = deal.secrets[DEALER].mask(), []
            for k in range(DECK):
                number = T + k
                ratio = number * mask * card_scalar(k) * inverse(card_scalar(guess))
                points += [times(number).times(first), times(ratio).times(second)]
            return step._replace(points=tuple(points))

        return instead(DEALER, MaskStep, change)

    wrong, lucky = cheated(from_guess(right=False)), cheated(from_guess(right=True))
    assert noticed(wrong) == (GARBLED, GARBLED)
    assert noticed(lucky) == (PLAYS, PLAYS)
    assert wrong.exposed() == lucky.exposed() == [DEALER]


def test_ratio_to_another_card_is_not_found_again_after_the_masks():
    """t times the pair of the best card in place of another: no two pairs behind an honest mask are t times each other."""

    def change(_deal, step):
        changes = {2: times(T).times(step.points[0]), 3: times(T).times(step.points[1])}
        return step._replace(points=replaced(step.points, changes))

    deal = SealedDeal(deck=DECK, cheats=[instead(ELDEST, MaskStep, change)])
    deal.until(LockStep, ELDEST)
    points = [point for pair in deal.pack.pairs for point in pair]
    assert not {times(T).times(point) for point in points} & set(points)
    assert deal.deal().exposed() == [ELDEST]


@each_row("cheat, expected", [(ELDEST, PLAYS), (DEALER, PLAYS)])
def test_lock_copied_from_an_earlier_place_or_index_is_named(cheat, expected):
    """Another's lock times a number of one's own passes as a point, and is the cheat's own difference."""

    def replay(deal, step):
        into = places_of(deal, cheat)[0]
        at = turn_places(deal.pack).index(into)
        old = deal.pack.steps[2]
        points = replaced(step.points, {at: times(T).times(old.points[0])})
        return step._replace(points=points, commitments=replaced(step.commitments, {at: old.commitments[0]}))

    deal = cheated(instead(cheat, LockStep, replay, when=is_without_a_nonce))
    assert outcome(deal, 1 - cheat) == expected
    assert outcome(deal, cheat) == GARBLED
    assert deal.exposed() == [cheat]


def test_lent_cards_that_do_not_open_their_places_are_refused_by_the_receiver():
    deal = SealedDeal(deck=DECK, seats=4).deal()
    honest = deal.lend(0, 2)
    hand = deal.hand(0)
    wrong = [
        hand[::-1],
        (*hand[:2], hand[2]._replace(card=(hand[2].card + 1) % DECK)),
        hand[:2],
        deal.hand(1),
    ]
    lends = [make_lend(deal.pack, deal.secrets[0], seat=0, receiver=2, hand=each) for each in wrong]
    lends += [honest._replace(box=bytes(len(honest.box))), honest._replace(box=deal.lend(0, 1).box)]
    for lend in lends:
        with pytest.raises(CheckError) as caught:
            read_lend(deal.pack, lend, deal.xs[2])
        assert (caught.value.check, caught.value.culprit) == ("C19", "seat 0")
        trial = SealedDeal(deck=DECK, seats=4)
        trial.pack = deal.pack
        trial.take(lend)
        assert trial.exposed() == [0]


def test_every_secret_of_a_voided_index_differs_from_those_of_the_next():
    drawn = [
        {s.mask(), s.nonce(), *(s.lock(p) for p in range(6)), *(s.blind(k) for k in range(6))}
        for s in (SeatSecrets(link_of(0), BASE, 1, DECK), SeatSecrets(link_of(0, 1), BASE, 2, DECK))
    ]
    assert not drawn[0] & drawn[1]


def coincidences(deal: SealedDeal, victim: int, known) -> list[int | None]:
    """Search the victim's places with every number a coalition has, among every point of the deal.

    A card is found where, with the numbers taken off or put on, some point of its place becomes a card's multiple of P.
    """
    found: list[int | None] = []
    for p in places_of(deal, victim):
        place = deal.pack.places[p]
        points = {place.locked, deal.pack.pairs[deal.pack.order[p]][1]}
        shown = {times(number).times(point) for point in points for number in known(p)}
        shown |= {times(inverse(number)).times(point) for point in points for number in known(p)}
        cards = (card for card in range(deal.plan.deck) if card_times(card).times(place.point) in shown)
        found.append(next(cards, None))
    return found


def test_coalition_of_all_but_one_that_keeps_to_the_protocol_finds_no_card_of_the_last():
    deal = SealedDeal(deck=DECK, seats=4).deal()

    def known(seats):
        def numbers(p: int):
            locks = [deal.secrets[seat].lock(p) for seat in seats]
            masks = [deal.secrets[seat].mask() for seat in seats]
            return [
                1,
                product(locks),
                product(masks),
                product(locks + masks),
                product(locks) * inverse(product(masks)),
            ]

        return numbers

    for victim in range(4):
        rest = [seat for seat in range(4) if seat != victim]
        assert coincidences(deal, victim, known(rest)) == [None] * 3
        assert coincidences(deal, victim, known(range(4))) == deal.cards(victim)


def test_mask_made_of_two_packs_with_one_link_tells_the_order_so_no_seat_may_make_a_second():
    """Why a client stores before it sends (C51): two histories of one index would show where its cards went."""
    honest, other = SealedDeal(deck=DECK), SealedDeal(deck=DECK)
    honest.until(MaskStep, DEALER)
    mask = other.until(MaskStep, DEALER)
    pairs = list(other.pack.pairs)
    pairs[4] = (times(T).times(pairs[4][0]), times(T).times(pairs[4][1]))
    second = make_mask(other.pack._replace(pairs=tuple(pairs)), other.secrets[DEALER], DEALER)
    differs = [k for k in range(DECK) if mask.points[2 * k] != second.points[2 * k]]
    assert [other.secrets[DEALER].order()[k] for k in differs] == [4]


def test_figures_of_the_chapter_for_packs_of_doubled_cards_are_calculated():
    chapter = (Path(__file__).parents[2] / "docs/fairness/blind.md").read_text(encoding="utf-8")
    for copies in (2, 4):
        others = copies - 1
        unseen = Fraction(comb(39 - others, 3), comb(39, 3))
        alone = Fraction((39 - others) * (38 - others - others), 39 * 38)
        row = f"| {copies} | {float(3 * (1 - unseen)):.2f} of 3 | {float(100 * (1 - alone)):.0f} % |"
        assert row in chapter, row
