"""The hand on a rules page is one that was played: the rules make of it what a kept transcript says."""

from pathlib import Path
from typing import get_args

from rows import each_row

from truc_protocol.ledger.facts import fact_name
from truc_rules import Event, preset, presets
from truc_terminal.replay_model.annotating import Annotator
from truc_words import LANGUAGES
from truc_words.rules_page import facts_of, hand_of, played_hands, rules_page, told_hand

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "transcripts"
EVENTS = {fact_name(event.__name__) for event in get_args(Event)}


def kept_hand(file, number):
    """Return what the rules say of the hand of this number in a transcript."""
    hands = [[]]
    for record in Annotator((FOLDER / file).read_bytes()).records():
        hands[-1] += [fact for fact in record.facts if fact["what"] in EVENTS]
        if record.kind == "close":
            hands.append([])
    return hands[number - 1]


@each_row("words", played_hands())
def test_hand_is_told_as_it_was_played(words):
    hand = played_hands()[words]
    assert [fact for facts in facts_of(hand) for fact in facts] == kept_hand(*hand.of)


@each_row("lang", LANGUAGES)
def test_every_game_shows_a_hand_in_every_language(lang):
    assert all(hand_of(preset(name).words) is not None for name in presets())
    for hand in played_hands().values():
        lines, page = told_hand(hand, lang), rules_page(preset(hand.variant), lang)
        assert len(lines) >= len(hand.moves)
        assert all(f"1. {line}\n" in page for line in lines)
