"""What comes between: a page loaded anew, a cut line, a killed server, a second tab; the match goes on to a proven end.

And a stranger may see it again where the table allows that.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from client.browser import Browser, needs_browser
from page.bent_line import LOST, bent_line
from page.playing import (
    NAMES,
    SAID,
    Person,
    WebServer,
    bots,
    is_proven,
    people,
    without_lost_connections,
    words,
)

pytestmark = [pytest.mark.slow, needs_browser]

FEW = 2  # presses of somebody between two interruptions: the hand goes on
SECOND = "document.querySelector('[role=alert] button')"


@pytest.fixture
def own_server(tmp_path):
    """Return a server of the test's own, which may be killed."""
    with WebServer(tmp_path / "server") as server:
        yield server


@contextmanager
def at_a_table(
    browser: Browser,
    server: WebServer,
    home: Path,
    target: int = 2,
    *,
    room: int | None = None,
    listens: str = "null",
) -> Iterator[tuple[Person, str]]:
    """Let somebody play with a bot, at a table with this code; their page runs a script before the bot comes."""
    with people(browser, server, 1) as (person,):
        person.page.room(server.origin, room)
        code = person.create(NAMES[0], "truc-french", 2, {"match": 1, "target": target, "transcript": "all"})
        person.page.look(listens)
        with bots(server, code, 1, home):
            yield person, code


def some_moves(player: Person, seed: int) -> None:
    """Let somebody press a few times, and no more."""
    player.begin(seed, is_first=True, most=FEW)
    assert not player.play()["isOver"]


def to_the_end(player: Person, seed: int) -> None:
    """Let somebody play on, to a proven end."""
    player.begin(seed, is_first=True)
    assert player.play()["isOver"]
    assert is_proven(player.saved())


def test_a_match_outlives_what_comes_between(chrome, own_server, tmp_path) -> None:
    with at_a_table(chrome, own_server, tmp_path, 6) as (player, _):
        page = player.page
        some_moves(player, 1)
        page.reload()
        some_moves(player, 3)
        page.network(is_there=False)
        page.network(is_there=True)
        some_moves(player, 4)
        page.look("globalThis.ticks = 0; setInterval(() => { ticks += 1 }, 10); null")
        page.freeze(is_frozen=True)
        before = page.look("ticks")
        own_server.real.kill()
        own_server.real.start()
        assert page.look("ticks") == before
        page.freeze(is_frozen=False)
        to_the_end(player, 5)
        without_lost_connections(page)


TROUBLE = "document.querySelector('main .trouble')"


def test_whoever_writes_while_the_connection_comes_back_goes_on_writing(chrome, web_server) -> None:
    with people(chrome, web_server, 1) as (person,):
        page = person.page
        page.visit(web_server.link())
        person.say_name(NAMES[0])
        page.wait_until(f"document.querySelector('aside input[name=text]') && !{TROUBLE}")
        page.network(is_there=False)
        page.wait_until(TROUBLE)
        page.look("document.querySelector('aside input[name=text]').focus()")
        page.network(is_there=True)
        page.wait_until(f"!{TROUBLE}")
        page.type("here again")
        assert page.look("document.querySelector('aside input[name=text]').value") == "here again"
        without_lost_connections(page)


def test_one_tab_plays_and_another_can_take_over(chrome, web_server, tmp_path) -> None:
    with at_a_table(chrome, web_server, tmp_path, 3) as (player, code):
        some_moves(player, 1)
        beside = Person(chrome, web_server, player.page.context)
        beside.page.visit(web_server.link(code))
        beside.page.wait_until(SECOND)
        beside.page.look(f"{SECOND}.click()")
        player.page.wait_until(SECOND)
        to_the_end(beside, 2)
        beside.page.close()


KEPT = """new Promise((resolve) => {
  const open = indexedDB.open('truc')
  open.onsuccess = () => {
    const keys = open.result.transaction('matches').objectStore('matches').getAllKeys()
    keys.onsuccess = () => resolve(keys.result[0])
  }
})"""
HEAR = """beside.addEventListener('message', ({ data }) => {
  if (data.what === 'told' && data.message.t === 'options' && data.message.must) globalThis.offered = data.message
  if (data.what === 'failed') globalThis.failed = data
})"""
TWICE = """for (const { key } of offered.list.slice(0, 2)) {
  beside.postMessage({ do: 'choose', table: offered.table, at: offered.at, key })
}"""


def test_two_wishes_at_once_sign_one_act(chrome, web_server, tmp_path) -> None:
    with at_a_table(chrome, web_server, tmp_path, listens=HEAR) as (player, _):
        player.page.wait_until("globalThis.offered?.list.length > 1")
        player.page.look(TWICE)
        to_the_end(player, 2)
        assert player.page.look("globalThis.failed ?? null") is None
        match = player.page.wait_for(KEPT)
        with people(chrome, web_server, 1) as (stranger,):
            stranger.page.visit(f"{web_server.origin}/m/{match}")
            stranger.page.wait_until("document.querySelector('.replay .badge.ok')")
            stranger.page.press("ArrowRight")
            stranger.page.wait_until("location.hash.length > 1")


PRESSES = """{
  const { table, at, list: [{ key }] } = offered
  beside.addEventListener('message', ({ data }) => {
    if (data.what === 'line' && data.state === 'greeting') beside.postMessage({ do: 'choose', table, at, key })
    if (data.what === 'told' && data.message.t === 'record' && data.message.k === at) globalThis.hasGone = true
  })
}"""


def test_a_choice_between_two_connections_goes_over_the_next_one(chrome, web_server, tmp_path) -> None:
    with at_a_table(chrome, web_server, tmp_path, listens=HEAR) as (player, _):
        player.page.wait_until("globalThis.offered?.list.length > 1")
        player.page.look(PRESSES)
        player.page.network(is_there=False)
        player.page.network(is_there=True)
        player.page.wait_until("globalThis.hasGone")
        to_the_end(player, 1)
        without_lost_connections(player.page)


SIGNED = """new Promise((resolve) => {
  const open = indexedDB.open('truc')
  open.onsuccess = () => {
    const tables = open.result.transaction('tables').objectStore('tables').getAll()
    tables.onsuccess = () => resolve(Object.keys(tables.result[0].signed))
  }
})"""
FILL = """new Promise((resolve) => {
  const open = indexedDB.open('filling')
  open.onupgradeneeded = () => open.result.createObjectStore('all', { autoIncrement: true })
  open.onsuccess = async () => {
    for (const size of [16384, 1024, 64]) for (;;) {
      const writing = open.result.transaction('all', 'readwrite')
      writing.objectStore('all').put(crypto.getRandomValues(new Uint8Array(size)))
      if (!await new Promise((done) => { writing.oncomplete = () => done(true); writing.onabort = () => done(false) })) break
    }
    resolve(true)
  }
})"""
SERVER_NOT_PROVED = words()["errors"]["server_not_proved"]
STOPPED = "document.querySelector('main > [role=alert]')"


def test_an_act_for_which_there_is_no_room_is_not_sent_and_the_match_goes_on_once_there_is(
    chrome, web_server, tmp_path
) -> None:
    with at_a_table(chrome, web_server, tmp_path, room=300_000, listens=HEAR) as (player, _):
        page = player.page
        page.wait_until("globalThis.offered?.list.length > 1")
        page.wait_for(FILL)
        player.begin(2, is_first=True)
        page.wait_until(STOPPED)
        assert SAID["no_room_more"] in page.look(f"{STOPPED}.innerText")
        assert f"act {page.look('offered.at')}" not in page.wait_for(SIGNED)
        page.room(web_server.origin, None)
        page.loaded(lambda: page.look(f"{STOPPED}.querySelector('button').click()"))
        page.wait_until("document.querySelector('.dock')")
        to_the_end(player, 2)


def test_a_wish_whose_answer_a_lost_connection_took_along_is_told_so(chrome, web_server, tmp_path) -> None:
    lost = [None]

    def losing(message):
        if message.get("t") == "ok" and "standings" in message and not lost:
            lost.append(message)
            raise LOST
        return [message]

    with (
        # nor does one that comes to the server together with the login cost the next connection
        bent_line(web_server.real, tmp_path / "home", losing, gathered_s=0.3) as link,
        people(chrome, web_server, 1) as (person,),
    ):
        person.page.visit(link)
        person.page.wait_until("document.querySelector('header a.chip')")
        lost.clear()
        wish = {"variant": "truc-french", "seats": 2}
        assert person.ask("leaderboard", wish)["code"] == "no_line"
        while person.ask("leaderboard", wish)["t"] != "ok":
            assert person.page.look("document.querySelector('main > [role=alert]')") is None


def test_a_server_with_another_key_is_told_nothing(chrome, own_server, tmp_path) -> None:
    with people(chrome, own_server, 1) as (person,):
        person.page.visit(own_server.link())
        person.page.wait_until("document.querySelector('header a.chip')")
        own_server.real.kill()
        own_server.real.data = tmp_path / "somebody else"
        own_server.real.start()
        for _ in range(2):
            person.page.wait_until(STOPPED)
            assert SERVER_NOT_PROVED in person.page.look(f"{STOPPED}.innerText")
            person.page.reload()
        without_lost_connections(person.page)


HOLD = """const Held = globalThis.Worker
globalThis.wished = []
globalThis.Worker = class extends Held {
  async postMessage(wish) {
    if (wish.do === 'begin') {
      await this.opened()
      await held()
    }
    super.postMessage(wish)
    wished.push(wish.do)
  }
  /** Kept once the worker has read what is kept a first time. */
  opened() {
    super.postMessage({ do: 'key', n: 1000001 })
    return new Promise((resolve) => this.addEventListener('message', ({ data }) => data.n === 1000001 && resolve()))
  }
}
/** From then on nothing that is kept can be read, until `letGo` is true. */
const held = () => new Promise((resolve) => {
  indexedDB.open('truc').onsuccess = ({ target: { result } }) => {
    const self = result.transaction('self', 'readwrite').objectStore('self')
    const again = () => { self.get('none').onsuccess = () => { if (!globalThis.letGo) again() } }
    again()
    resolve()
  }
})"""


def test_a_name_that_is_said_while_what_is_kept_is_read_is_not_lost(chrome, web_server) -> None:
    with people(chrome, web_server, 2) as (first, second):
        link = web_server.link(first.create(NAMES[0], "put", 2))
        second.page.visit(link)
        second.page.wait_until("document.querySelector('form input[name=name]')")
        second.page.before(HOLD)
        second.page.visit(link)
        second.page.wait_until("wished.includes('begin')")
        second.say_name(NAMES[1])
        second.page.wait_until("wished.includes('name')")
        second.page.look("setTimeout(() => { letGo = true }, 200); null")
        second.page.wait_until("document.querySelector('.hand')")
