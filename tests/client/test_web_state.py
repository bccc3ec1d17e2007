"""What the page makes of what it is told: over every trace of the protocol, and over hands of every game at random.

One process of Node for all of it: web_state.mjs has the tests.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client.playing import tables_in_turn
from clients_elsewhere.programs import needs_node, node, node_version
from rules.chance import random_hand, with_each_option

from truc_protocol.documents import rule_document
from truc_protocol.ledger.facts import event_fact
from truc_protocol.ledger.state import side_scores
from truc_rules import (
    REST,
    ContraflorAsk,
    EnvidoAsk,
    LastPointAsk,
    Match,
    RedealAsk,
    Seat,
    StakeAsk,
    Variant,
    awaits_deal,
    deciders,
    legal,
    move_line,
    preset,
)
from truc_rules.moves import described
from truc_web.tree import word_files
from truc_words import LANGUAGES

pytestmark = [pytest.mark.slow, needs_node]

BLIND = Path(__file__).parents[1] / "vectors" / "blind"
PROGRAM = Path(__file__).with_name("web_state.mjs")
ANSWERING = {
    StakeAsk: "stake",
    EnvidoAsk: "envido",
    ContraflorAsk: "flor",
    RedealAsk: "redeal",
    LastPointAsk: "last-point",
}


def games() -> Iterator[tuple[Variant, int]]:
    for name, seats in tables_in_turn():
        yield preset(name), seats
    yield from {each[2:]: each[:2] for each in with_each_option()}.values()


def told(variant: Variant, seats: int, seed: str) -> dict[str, Any]:
    """Play a hand at random, and tell it record by record, with what each seat is sent."""
    steps, index = [], 0
    for step in random_hand(variant, seats, random.Random(f"{variant.name} {seats} {seed}")):
        match = step.after
        facts = [event_fact(event, variant.pack) for event in step.events]
        called = []
        if step.action is None and not step.before.hand.dealt.redeals:
            index += 1
            called = [
                {"what": "called", "index": index, "dealer": match.dealer, "cards": match.hand.dealt.each}
            ]
        options = [options_of(match, Seat(seat)) for seat in range(seats)]
        steps.append(
            {
                "means": [*called, *facts, state_of(match)],
                "cards": cards_of(match) if step.action is None else None,
                "options": options,
                "answers": answered_in(match, options),
                "chosen": step.action and {"seat": step.action.seat, "key": move_line(variant, step.action)},
            }
        )
    return {"document": rule_document(variant).hex(), "seats": seats, "steps": steps}


def options_of(match: Match, seat: Seat) -> list[dict[str, Any]]:
    return [
        {"key": line, "kind": line.split()[0], "hints": dict(hints)}
        for line, hints in described(match, legal(match, seat))
    ]


def cards_of(match: Match) -> list[list[str] | None]:
    """Return the cards of each seat that may see its own."""
    hands = match.hand.dealt.cards
    return [[match.variant.pack[card] for card in hand] for hand in hands]


def answered_in(match: Match, options: list[list[dict[str, Any]]]) -> str:
    """Return what an answer would be to, as the catalogues call it."""
    if not match.hand.offers:
        return ""
    offer = match.hand.offers[-1]
    takes = [each for mine in options for each in mine if each["key"] == "raise rest"]
    if (
        isinstance(offer, StakeAsk)
        and offer.stake == REST
        and any("declined" not in each["hints"] for each in takes)
    ):
        return "rest"
    return ANSWERING.get(type(offer), "")


def state_of(match: Match) -> dict[str, Any]:
    bets = match.hand.bets
    return {
        "what": "state",
        "phase": "between" if awaits_deal(match) else "hand",
        "score": side_scores(match),
        "dealer": match.dealer,
        "stake": bets.stake if bets.locked is None else "game" if bets.locked == REST else bets.locked,
        "tricks": [trick.side for trick in match.hand.row.tricks],
        "waiting": sorted(deciders(match)),
    }


def test_state_and_screens_in_node() -> None:
    files = {path: json.loads(text) for path, text in word_files()}
    catalogues = {lang: files[f"words/{lang}.json"] for lang in LANGUAGES}
    hands = [told(variant, seats, "state") for variant, seats in games()]
    given = json.dumps({"catalogues": catalogues, "own": files["words/own.json"], "hands": hands})
    done = node(PROGRAM, given=given)
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    assert "\n# fail 0\n" in done.stdout


@pytest.mark.parametrize("database", ["throws", "hangs"])
def test_tab_that_has_lost_the_key_before_its_session_began_begins_none(database) -> None:
    done = node(PROGRAM.with_name("web_lock.mjs"), database)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(
    node_version() < 20, reason="node 20 or later, in which a module can be lost, is not installed"
)
def test_wish_whose_module_cannot_be_fetched_is_answered_so_and_granted_the_next_time() -> None:
    done = node(PROGRAM.with_name("web_loading.mjs"), BLIND / "french-redeals.truc")
    assert (done.returncode, done.stderr) == (0, "")
