"""Cases of servers about hands at tables whose host sees no card, whatever cards are dealt: none may hang on luck."""

import pytest
from conform.judging import CASES, judge_server
from rules.played import known
from server.conftest import running

from truc_conform.raw_seat import RawSeat
from truc_conform.result import CaseVerdict
from truc_protocol import dealing
from truc_protocol.blind_mode import sealed_pack, seat_secrets
from truc_rules import preset

STEPS = [
    case.name
    for case in CASES.values()
    if case.name.startswith(("S3.blind-mask", "S3.blind-lock", "S3.blind-keys"))
]
HANDS = {
    "both have the best": ("7e 6e 1o", "7o 6o 1c"),
    "the best is second": ("4e 10o 1c", "7o 6o 1e"),
    "the best is first": ("7o 6o 1e", "4e 10o 1c"),
    "one below the best is second": ("7e 6e 1o", "7o 5o 1c"),
}
"""For two, the cards of who is first to decide, and of the other."""


def stack(monkeypatch, pack, hands, *, dealer):
    """Let every pack come in this order, nobody shuffle it, and the draw fall on this dealer."""
    dealt = [known(pack, name) for cards in zip(*map(str.split, hands), strict=True) for name in cards]
    rest = [card for card in range(len(pack.pack)) if card not in dealt]
    monkeypatch.setattr(seat_secrets, "shuffle", lambda _seed, size: list(range(size)))
    monkeypatch.setattr(sealed_pack, "shuffle", lambda _seed, _size: (*dealt, *rest))
    monkeypatch.setattr(dealing, "first_dealer", lambda *_: dealer)


def deals_one(seat, message, options):
    """Choose what leads to a deal of one card each, where that is offered."""
    found = [option for option in options if option["key"] in ("tap", "deal 1")]
    return (found or options)[0] if message["must"] else None


async def test_step_that_is_done_wrongly_is_refused_however_few_cards_are_dealt(tmp_path, monkeypatch):
    monkeypatch.setattr(RawSeat, "pick", deals_one)
    async with running(tmp_path / "data") as server:
        outcomes = {name: await judge_server(server.port, name, patience_s=5.0) for name in STEPS}
    assert {name: it.came for name, it in outcomes.items() if it.verdict is not CaseVerdict.PASS} == {}


@pytest.mark.parametrize("dealer", [0, 1])
@pytest.mark.parametrize("hands", HANDS.values(), ids=HANDS)
async def test_seat_that_lies_can_do_so_with_any_cards(tmp_path, monkeypatch, hands, dealer):
    stack(monkeypatch, preset("truco-argentino"), hands, dealer=dealer)
    async with running(tmp_path / "data") as server:
        outcome = await judge_server(server.port, "S3.blind-false-value", patience_s=5.0)
    assert outcome.verdict is CaseVerdict.PASS, outcome
