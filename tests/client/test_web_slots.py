"""The bids of the page: every game has a slot for each kind of move, with a name and a letter of its own."""

import json
from pathlib import Path

import pytest
from clients_elsewhere.programs import in_node, needs_node
from rows import each_row

from truc_rules import Kind
from truc_web.tree import word_files
from truc_words import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "client" / "truc_web"
PRESETS = ROOT / "docs" / "rules" / "presets.json"
BY_CARD = {Kind.PLAY, Kind.BLIND}
IN_MENU = {Kind.PAUSE, Kind.RESUME, Kind.RESIGN}
BY_OPTION = "cover"
"""No preset has it: a table option gives it."""
OPEN_TO_ALL = ("signs", "chat", "menu")

TELL = f"""
import {{ readFileSync }} from 'node:fs'
import {{ encode }} from '{WEB}/lib/index.mjs'
import {{ rulesOf }} from '{WEB}/page/session/plain.mjs'
import {{ slotOf, slotsOf }} from '{WEB}/page/state/slots.mjs'
const slots = Object.values(JSON.parse(readFileSync('{PRESETS}'))).flatMap(({{ document }}) => {{
  const {{ variant, params }} = rulesOf(encode(document))
  return params.players.map((n) => [`${{variant}} ${{n}}`, slotsOf(params, n).map(({{ id }}) => id)])
}})
const kinds = {json.dumps([str(kind) for kind in Kind])}
console.log(JSON.stringify({{ slots, places: kinds.map((kind) => [kind, slotOf({{ kind, key: kind }})]) }}))
"""


@pytest.fixture(scope="module")
def told():
    return json.loads(in_node(TELL))


@needs_node
def test_every_kind_of_move_has_a_place_and_every_game_the_slots_that_it_names(told) -> None:
    places = dict(told["places"])
    assert {kind for kind, place in places.items() if place is None} == BY_CARD
    known = {slot for _, slots in told["slots"] for slot in slots} | {BY_OPTION}
    assert {place for kind, place in places.items() if kind not in BY_CARD | IN_MENU} <= known
    assert all(len(set(slots)) == len(slots) for _, slots in told["slots"])


@needs_node
def test_a_call_that_a_game_lacks_has_no_slot(told) -> None:
    slots = dict(told["slots"])
    with_it = {game for game, each in slots.items() if "real-envido" in each}
    assert {"truco-argentino 2", "truco-uruguayo 6"} <= with_it
    without = {f"{game} {seats}" for game in ("truco-venezolano", "truc-valencia") for seats in (2, 4)}
    assert with_it.isdisjoint(without)


def catalogues():
    files = dict(word_files())
    return [files[f"words/{lang}.json"] for lang in LANGUAGES]


@needs_node
@each_row("words", catalogues)
def test_no_two_slots_of_a_game_have_one_letter(told, words) -> None:
    said = json.loads(words)
    for game, slots in told["slots"]:
        letters = [said["keys"][slot] for slot in (*slots, *OPEN_TO_ALL)]
        assert len(set(letters)) == len(letters), (said["lang"], game)
        assert all(slot in said["slots"] or slot in said["moves"] for slot in slots)


def test_every_preset_has_a_name() -> None:
    named = json.loads(dict(word_files())["words/own.json"])["games"]
    assert named.keys() == json.loads(PRESETS.read_text()).keys()
