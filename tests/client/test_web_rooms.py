"""The screens of the page around the table: what they show, in Node, and as a player meets them in a browser."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest
from chaos.servers import free_port
from client.browser import Browser, Page, needs_browser
from client.running import Process
from client.serving import RealServer
from clients_elsewhere.programs import in_node, needs_node, node

from truc_client.home.home import export_seed, import_seed
from truc_protocol.documents import rule_document
from truc_protocol.setup import blind_hindrance
from truc_rules import preset, presets, with_options
from truc_rules.variants.options import TABLE_OPTIONS
from truc_web.tree import read_tree

PAGE = Path(__file__).parents[2] / "client" / "truc_web" / "page"


@needs_node
def test_pure_parts_of_the_screens():
    done = node("--test", Path(__file__).with_name("web_rooms.mjs"))
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
    offered = set()
    for name, by_seats in json.loads(in_node(CHOICES.replace("PAGE", PAGE.as_uri()), json.dumps(games))):
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


DEALT = """
import { readFileSync } from 'node:fs'
import { whyDealt } from 'PAGE/options.mjs'
import { rulesOf } from 'PAGE/session/plain.mjs'
const told = JSON.parse(readFileSync(0)).map(([hex, options]) =>
  whyDealt(rulesOf(Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16))), options))
console.log(JSON.stringify(told))
"""


@needs_node
def test_players_may_deal_where_the_protocol_lets_them():
    asked = [
        (game, options)
        for game in map(preset, presets())
        for options in ({}, {"flor": "off"}, {"flor": "on"}, {"reveal": "match"}, {"signals": "off"})
        if ("flor" not in options or game.envido) and ("signals" not in options or game.signals)
    ]
    given = json.dumps([[rule_document(game).hex(), options] for game, options in asked])
    told = json.loads(in_node(DEALT.replace("PAGE", PAGE.as_uri()), given=given))
    hindered = [blind_hindrance(with_options(game, options), 0) is not None for game, options in asked]
    assert [why is not None for why in told] == hindered
    assert set(told) == {None, "flor", "truth", "reveal"}


DRAWN = """
import { readFileSync } from 'node:fs'
import { sitScreen } from 'PAGE/view/sit.mjs'
import { Speech } from 'PAGE/words.mjs'
import { FIRST } from 'PAGE/state/state.mjs'
const html = (shown) => 'text' in shown ? shown.text.replaceAll('\u00a0', '&nbsp;') :
  `<${shown.name}${Object.entries(shown.props).filter(([name, value]) => ['string', 'number', 'boolean'].includes(typeof value) && !['value', 'data-focus'].includes(name))
    .map(([name, value]) => ` ${name}="${value === true ? '' : value}"`).join('')}>${shown.children.map(html).join('')}` + (shown.name === 'input' ? '' : `</${shown.name}>`)
const ui = { drawings: null, speech: new Speech(JSON.parse(readFileSync(0)), {}), state: { ...FIRST, answers: {} }, find: () => new Promise(() => {}) }
console.log(html(sitScreen(ui, 'K7PQ2')))
"""


@needs_node
@pytest.mark.parametrize("lang", ["en", "fr"])
def test_what_is_painted_before_any_module_is_there_is_what_the_page_draws_first(lang):
    tree = read_tree()
    given = tree.files[f"words/{lang}-seat.json"].decode()
    drawn = in_node(DRAWN.replace("PAGE", PAGE.as_uri()), given=given)
    painted = re.search(r'<div id="app">(.*)</div>', tree.page({}, lang, is_link=True).decode())[1]
    assert unescape(painted.replace(" autofocus", "")) == unescape(drawn.strip())
    assert '<div id="app"></div>' in tree.page({}, lang).decode()


class Rooms:
    """Somebody who goes through the screens around the table."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin = page, origin

    def go(self, path: str) -> None:
        self.page.visit(self.origin + path)
        self.until(
            "document.querySelector('main h1, header h1') && !document.querySelector('.wait, .trouble')"
        )

    def until(self, condition: str) -> None:
        """Wait until something holds in the page."""
        self.page.wait_until(f"!!({condition})")

    def press(self, text: str, within: str = "body") -> None:
        """Press the first control in it with this text, as soon as it is there."""
        found = f"[...document.querySelectorAll('{within} :is(button, a, summary)')].find((each) => each.textContent.includes({json.dumps(text)}))"
        self.until(found)
        self.page.look(f"{found}.click()")

    def says(self, text: str) -> None:
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def name(self, name: str) -> None:
        self.page.look(
            f"(() => {{ const field = document.querySelector('input[name=name]'); field.value = {json.dumps(name)};"
            " field.dispatchEvent(new Event('input', { bubbles: true })); field.form.requestSubmit() })()"
        )
        self.until(f"document.querySelector('.me')?.textContent === {json.dumps(name)}")


@contextmanager
def rooms(chrome: Browser, tmp_path: Path) -> Iterator[tuple[Rooms, RealServer]]:
    web = free_port()
    with (
        RealServer(tmp_path / "server", {"TRUC_WEB_LISTEN": f"127.0.0.1:{web}"}) as server,
        chrome.somebody() as page,
    ):
        yield Rooms(page, f"http://localhost:{web}"), server
        assert page.complaints == []


@needs_browser
def test_a_player_in_the_screens_around_the_table(chrome, tmp_path):
    with (
        rooms(chrome, tmp_path) as (player, server),
        Process(
            tmp_path / "bot", "bot", server.url, "--name", "North", "--create", "truc-french", "--seats", "2"
        ),
    ):
        player.go("/")
        player.name("South")
        player.says("1 waiting")
        open_a_table(player)
        text = keep_the_key(player)
        assert export_seed(import_seed(text)) == text
        lose_a_match(player)
        find_it_again(player)


def open_a_table(player: Rooms) -> None:
    player.go("/play")
    player.press("Among friends")
    player.until("document.querySelector('[name=private]').checked")
    player.press("Open the table")
    player.until("document.querySelector('.url') && document.querySelector('svg.qr')")
    assert len(player.page.look("document.querySelector('.url').textContent").rpartition("/")[2]) == 16
    player.go("/")
    player.press("Back to it")
    player.until("/^.t.[A-Z2-7]{16}$/.test(location.pathname)")


def keep_the_key(player: Rooms) -> str:
    """Return the text of the key, which can be had until it is locked."""
    player.go("/settings")
    tag = player.page.look("document.querySelector('.tag').textContent")
    player.press("Show it")
    player.until("document.querySelector('.key pre')")
    text = player.page.look("document.querySelector('.key pre').textContent")
    player.press("I have saved it")
    player.press("Lock it here")
    player.press("Press once more", ".key")
    player.says("The key is locked in this browser")
    player.go("/settings")
    player.says("The key is locked in this browser")
    assert player.page.look("document.querySelector('.tag').textContent") == tag
    return text


def lose_a_match(player: Rooms) -> None:
    player.go("/")
    player.press("Sit", ".rows")
    player.until("document.querySelector('.hand .k')")
    player.page.look("document.querySelector('.bar .ic:last-child').click()")
    player.press("Resign the match", ".sheet")
    player.press("Really? Press once more", ".sheet")
    player.says("resigned")
    player.press("Leave")  # or the match would be resumed, and kept, by every page that is loaded from now on
    player.until("location.pathname === '/'")


def find_it_again(player: Rooms) -> None:
    """The match is kept with a verdict; where it was lost, it is fetched and judged again."""
    player.go("/history")
    player.says("✓ lost")
    player.page.wait_for(
        """new Promise((done) => { indexedDB.open('truc').onsuccess = ({ target: { result } }) => {
            result.transaction('matches', 'readwrite').objectStore('matches').clear().onsuccess = () => done(null)
        } })"""
    )
    player.go("/history")
    player.says("not checked here")
    player.press("Fetch and check")
    player.says("✓ lost")
