"""Every vector of mode blind is recomputed: scalars, points, what a seat draws, whole deals, openings."""

from typing import Any

import pytest
from protocol.sealed_deals import SealedDeal
from rows import each_row
from vectors.shape import kept_tests

from truc_protocol.blind_mode import points
from truc_protocol.blind_mode.sealed_pack import (
    GrantedRedeal,
    MaskStep,
    PackPlace,
    PackPlan,
    PlayedUnseen,
    SealedPack,
    begin,
    find_card,
    leaves,
    opens_place,
    take_step,
    turned_up,
)
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import first_difference
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import box_key, in_prime_subgroup

h = bytes.fromhex


def number_of(text: str) -> int:
    return int.from_bytes(h(text), "little")


def value(item: Any) -> Any:
    return h(item["bin"]) if isinstance(item, dict) else item


def rep(_group, test):
    try:
        return points.encoded(number_of(test["number"])) == h(test.get("scalar", ""))
    except points.ScalarError:
        return False


def hashed_scalar(_group, test):
    return points.encoded(points.scalar(test["tag"], *map(value, test["fields"]))) == h(test["scalar"])


def fixed(_group, test):
    scalar = h(test["scalar"])
    return points.is_scalar(scalar) and points.encoded(points.decoded(scalar)) == scalar


def card(_group, test):
    scalar = points.encoded(points.card_scalar(test["card"]))
    return (scalar, points.card_point(test["card"])) == (h(test["scalar"]), h(test["point"]))


def sound(_group, test):
    return in_prime_subgroup(h(test["point"]))


def seat_secrets(_group, test):
    made = SeatSecrets(h(test["link"]), h(test["mid"]), test["j"], test["deck"])
    single = (points.encoded(made.mask()).hex(), made.order(), made.nonce().hex())
    each = [
        [points.encoded(draw(at)).hex() for at in range(len(test[name]))]
        for name, draw in (("blinds", made.blind), ("locks", made.lock), ("boxes", made.box))
    ]
    return single == (test["mask"], test["order"], test["nonce"]) and each == [
        test[name] for name in ("blinds", "locks", "boxes")
    ]


def projected(step: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Say a step as the vectors do, with as many of its points as are given there."""
    match step:
        case GrantedRedeal(d):
            return {"kind": "redeal", "d": d}
        case PlayedUnseen(place):
            return {"kind": "blind", "place": place}
    said = {"kind": type(step).__name__.removesuffix("Step").lower(), **step._asdict()}
    if isinstance(step, MaskStep):
        said |= {"sha256": sha256(b"".join(step.points)), "points": step.points[: len(given["points"])]}
    return {
        name: [each.hex() for each in field]
        if isinstance(field, tuple)
        else field.hex()
        if isinstance(field, bytes)
        else field
        for name, field in said.items()
    }


def blind_deal(_group, test):
    xs = tuple(box_key(h(x)) for x in test["x"])
    shape = [test[name] for name in ("j", "deck", "seats", "dealer", "ncards", "cut", "turned", "unseen")]
    deal = SealedDeal(
        **{name: test[name] for name in ("seats", "dealer", "ncards", "cut", "deck", "turned", "unseen")}
    )
    plan = PackPlan(h(test["mid"]), *shape, tuple(x.public for x in xs))
    deal.xs, deal.links, deal.pack = list(xs), [h(link) for link in test["links"]], begin(plan)
    deal.secrets = [SeatSecrets(link, plan.mid, plan.j, plan.deck) for link in deal.links]
    hands = []
    for given in test["steps"]:
        match given["kind"]:
            case "redeal":
                deal.pack = take_step(deal.pack, GrantedRedeal(given["d"]))
            case "blind":
                deal.pack = take_step(deal.pack, PlayedUnseen(given["place"]))
            case "lend":
                deal.take(deal.lend(given["seat"], given["receiver"]))
            case _:
                deal.take(deal.next_step())
        assert projected(deal.pack.steps[-1], given) == given
        if given["kind"] == "keys" and len(deal.pack.keyed) == plan.seats and not plan.unseen:
            hands.append([deal.hand(seat) for seat in range(plan.seats)])
    told = [
        [[[each.card, [key.hex() for key in each.keys]] for each in hand] for hand in row] for row in hands
    ]
    digests = [[[leaf.hex() for leaf in row] for row in leaves(deal.pack, d)] for d in range(deal.pack.d + 1)]
    assert not deal.exposed()
    return (list(deal.pack.order), told, list(turned_up(deal.pack)), digests) == tuple(
        test[name] for name in ("order", "hands", "up", "leaves")
    )


def one_place(group) -> SealedPack:
    """An index of which one place is known."""
    commitments = tuple((seat, h(commitment)) for seat, commitment in group["commitments"])
    place = PackPlace(0, 0, h(group["point"]), h(group["locked"]), commitments)
    xs = (bytes(32),) * len(commitments)
    plan = PackPlan(h(group["mid"]), group["j"], group["deck"], len(commitments), 1, 3, 0, 0, False, xs)
    return begin(plan)._replace(places=(place,) * (group["place"] + 1))


def blind_opening(group, test):
    return opens_place(one_place(group), group["place"], test["card"], [h(key) for key in test["keys"]])


RECOMPUTED = {
    "rep": rep,
    "scalar": hashed_scalar,
    "fixed": fixed,
    "card": card,
    "sound": sound,
    "seat-secrets": seat_secrets,
    "blind-deal": blind_deal,
    "blind-opening": blind_opening,
}
KEPT = [*kept_tests("blind")]


@each_row("group, test", KEPT)
def test_vector_is_recomputed(group, test):
    assert ("valid" if RECOMPUTED[group["type"]](group, test) else "invalid") == test["result"], test[
        "comment"
    ]


def test_tests_are_numbered_and_every_kind_of_group_is_there():
    assert [test["tcId"] for _, test in KEPT] == list(range(1, len(KEPT) + 1))
    assert {group["type"] for group, _ in KEPT} == set(RECOMPUTED)


def test_the_keys_of_a_card_have_one_product_by_which_it_opens():
    group, _ = next(kept_tests("blind", "blind-opening"))
    keys = tuple(h(key) for key in group["tests"][0]["keys"])
    product = points.encoded(points.product([points.decoded(key) for key in keys]))
    assert product.hex() == "d0f2eca7b54540b41a3785a59c03af4195a53ac2dbef890b3702912f87dab77b"
    assert find_card(one_place(group).places[group["place"]], keys, group["deck"]) == 23


@pytest.mark.parametrize("number", [8, 2**120, points.ORDER - 8])
def test_class_without_an_encoding_is_refused_and_not_changed(number):
    with pytest.raises(points.ScalarError):
        points.encoded(number)


def test_point_whose_logarithm_is_known_is_multiplied_also_where_the_product_has_no_encoding():
    number = points.scalar("lock", b"any")
    known = points.Logarithms(40)
    for product in (8, 9):
        log = product * points.inverse(number) % points.ORDER
        point = points.times(log).times(points.BASE)
        known.note(point, log, points.BASE)
        assert known.times(number, point) == points.times(number).times(point)
    with pytest.raises(points.ScalarError):
        known.times(8, points.BASE)


def test_another_link_exposes_whoever_took_a_step():
    deal = SealedDeal().deal()
    assert [first_difference(deal.pack, seat, deal.links[seat]) for seat in (0, 1)] == [None, None]
    assert [first_difference(deal.pack, seat, deal.links[1 - seat]) for seat in (0, 1)] == [0, 1]
