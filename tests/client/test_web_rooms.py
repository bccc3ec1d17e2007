"""The screens of the page around the table: what they show, in Node, and as a player meets them in a browser."""

import json
import subprocess
from pathlib import Path

from clients_elsewhere.programs import NODE, needs_node

from truc_protocol.documents import rule_document
from truc_rules import preset, presets, with_options
from truc_rules.variants.options import TABLE_OPTIONS

PAGE = Path(__file__).parents[2] / "client" / "truc_web" / "page"


@needs_node
def test_pure_parts_of_the_screens():
    done = subprocess.run(
        [NODE, "--test", str(Path(__file__).parent / "web_rooms.mjs")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


CHOICES = """
import { choicesOf, presetsOf } from 'PAGE/options.mjs'
import { rulesOf } from 'PAGE/session/plain.mjs'
const told = Object.entries(JSON.parse(process.argv[1])).map(([name, [hex, seats]]) => {
  const rules = rulesOf(Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16)))
  return [name, seats.map((n) => [choicesOf(rules, n), Object.values(presetsOf(rules)).map(({ options }) => options)])]
})
console.log(JSON.stringify(told))
"""


@needs_node
def test_every_option_that_is_offered_for_a_game_is_possible_in_it():
    games = {name: [rule_document(preset(name)).hex(), preset(name).players] for name in presets()}
    script = CHOICES.replace("PAGE", PAGE.as_uri())
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script, json.dumps(games)],
        capture_output=True,
        text=True,
        check=True,
    )
    offered = set()
    for name, by_seats in json.loads(done.stdout):
        for choices, kinds in by_seats:
            for choice in choices:
                for value in choice["values"] if choice["name"] in TABLE_OPTIONS else ():
                    same = with_options(preset(name), {choice["name"]: value}) == preset(name)
                    if choice["usual"] == value:
                        assert same, (name, choice)
                    offered |= set() if same else {(choice["name"], value)}
            for options in kinds:
                with_options(
                    preset(name), {key: value for key, value in options.items() if key in TABLE_OPTIONS}
                )
    missing = {"order"}  # each has a game of its own
    assert {name for name, _ in offered} == set(TABLE_OPTIONS) - missing
