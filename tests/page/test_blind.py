"""The page at tables whose host sees no card: whole matches, what comes between, and what is said of them."""

import json

import pytest
from client.browser import needs_browser
from page.playing import (
    NAMES,
    SHORT,
    Match,
    Person,
    bots,
    people,
    play_match,
    without_lost_connections,
    words,
)
from page.test_interruptions import KEPT, own_server, some_moves

from truc_protocol.audit import verify

pytestmark = [pytest.mark.slow, needs_browser]
__all__ = ("own_server",)

DEALS = {**SHORT, "mode": "blind"}
MATCHES = [Match("truco-argentino", 2, 1, {**DEALS, "target": 8}), Match("truco-paulista", 4, 1, DEALS)]
SEALED = words()["sealed"]
OF_A_NEW_TABLE = words()["new_table"]
REPLAYED = "document.querySelector('.replay .badge.ok')?.textContent"
WAITED = """beside.addEventListener('message', ({ data }) => {
  if (data.what === 'line' && data.state === 'waiting') globalThis.hasWaited = true
})"""
BADGE = "document.querySelector('.badge.ok')?.textContent"


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: f"{match.variant}-{match.seats}")
def test_match_whose_host_sees_no_card_comes_to_a_proven_end(chrome, web_server, tmp_path, match):
    play_match(chrome, web_server, tmp_path, match)


def choose(person: Person, field: str, value: str) -> None:
    """Choose in a list of the screen."""
    person.page.wait_until(f"document.querySelector('select[name={field}]')")
    person.page.look(
        f"(() => {{ const it = document.querySelector('select[name={field}]'); it.value = {json.dumps(value)};"
        " it.dispatchEvent(new Event('change', { bubbles: true })) })()"
    )


def test_a_match_outlives_a_reload_and_a_killed_server_within_a_hand(chrome, own_server, tmp_path) -> None:
    with people(chrome, own_server, 1) as (player,):
        page = player.page
        code = player.create(NAMES[0], "truc-french", 2, DEALS)
        with bots(own_server, code, 1, tmp_path):
            page.wait_until("document.querySelector('.hand .k')")
            some_moves(player, 1)
            page.reload()
            page.wait_until("document.querySelector('.hand .k')")
            some_moves(player, 3)
            own_server.real.kill()
            own_server.real.start()
            player.begin(5, is_first=True)
            assert player.play()["isOver"]
        page.wait_until(
            f"{BADGE} === {json.dumps(SEALED['badge'])}"
        )  # the bot's acknowledgement has been checked
        assert verify(player.saved()).host_saw_no_card
        player.go(f"/m/{page.wait_for(KEPT)}")
        page.wait_until(f"{REPLAYED} === {json.dumps(SEALED['badge'])}")
        without_lost_connections(page)


def test_two_pages_deal_where_one_loses_its_connection_while_what_deals_is_loaded(chrome, web_server) -> None:
    with people(chrome, web_server, 2) as players:
        first, second = players
        code = first.create(NAMES[0], "truc-french", 2, DEALS)
        first.page.withheld("*/lib/blind/dealing.mjs")
        first.page.look(WAITED)
        second.page.visit(web_server.link(code))
        second.page.wait_until(f"document.body.textContent.includes({json.dumps(SEALED['promise'])})")
        second.say_name(NAMES[1])
        first.page.wait_until("globalThis.hasWaited")
        first.page.withheld()
        for player in players:
            player.page.wait_until("document.querySelector('.hand .k')")
            without_lost_connections(player.page)


def test_a_new_table_says_why_the_server_deals_and_opens_where_the_players_may(chrome, web_server) -> None:
    with people(chrome, web_server, 1) as (person,):
        page = person.page
        page.visit(web_server.link())
        person.say_name(NAMES[0])
        page.wait_until("document.querySelector('header a.chip')")
        person.go("/play")
        choose(person, "variant", "truco-uruguayo")
        told = OF_A_NEW_TABLE["mode_dealt_only"].format(why=SEALED["not_flor"])
        page.wait_until(f"document.body.textContent.includes({json.dumps(told)})")
        assert not page.look("document.querySelector('select[name=mode]')")
        choose(person, "flor", "off")
        choose(person, "mode", "blind")
        page.wait_until(f"document.body.textContent.includes({json.dumps(SEALED['how'])})")
        button = f"[...document.querySelectorAll('button')].find((it) => it.textContent === {json.dumps(OF_A_NEW_TABLE['open'])})"
        page.look(f"{button}.click()")
        url = page.wait_until("document.querySelector('.url')?.textContent")
        code = url.rpartition("/")[2]
        assert page.wait_for(f"fetch('/t/{code}.json').then((answer) => answer.json())")["mode"] == "blind"
