"""Names and talk that no honest server lets through: markup, marks that turn the writing, floods of accents, kilobytes."""

import json

import pytest
from client.browser import needs_browser
from page.bent_line import bent_line
from page.playing import NAMES, is_proven, people
from page.test_interruptions import KEPT

pytestmark = [pytest.mark.slow, needs_browser]

STRANGE = (
    "<img src=x onerror=hostile()></script><script>hostile()</script><b class=hostile>"
    "\u202eturned\u2066\u0007" + "Z" + "\u0335\u0489" * 300 + "W" * 4096
)
BEGINS = "<img src=x onerror"
SAID = "good evening"


def strangely(value):
    """Return a message in which whoever plays, and whatever they say, is called something strange."""
    match value:
        case dict():
            return {key: strangely(each) for key, each in value.items()}
        case list():
            return [strangely(each) for each in value]
        case str() if value in (*NAMES, SAID):
            return STRANGE
        case _:
            return value


def changed(message):
    told = [strangely(message)]
    if message["t"] == "lobby":
        told.append({"t": "host_says", "text": STRANGE})
    return told


WRONG = """(() => {
  const wrong = [...document.querySelectorAll('img, iframe, object, .hostile, [onerror], #app script')].map((it) => it.outerHTML.slice(0, 200))
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`scrolls to ${document.documentElement.scrollWidth}`)
  const isCut = (it) => it !== document.body && (getComputedStyle(it).overflowX !== 'visible' || isCut(it.parentElement))
  for (const it of document.querySelectorAll('#app *')) {
    const { right, left, width } = it.getBoundingClientRect()
    if (width > 0 && (right > innerWidth + 1 || left < -1) && !isCut(it.parentElement) && !it.closest('svg'))
      wrong.push(`${left} to ${right}: ${it.outerHTML.slice(0, 120)}`)
  }
  if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent)) wrong.push('the writing is turned')
  return wrong
})()"""


def looked_at(page, name):
    """Return what is wrong with a screen that shows strange words, by its name."""
    page.wait_until(f"document.body.textContent.includes({json.dumps(BEGINS)})")
    wrong = page.look(WRONG)
    return {name: wrong} if wrong else {}


def test_strange_words_add_nothing_to_a_screen_and_cover_nothing(chrome, web_server, tmp_path) -> None:
    with (
        bent_line(web_server.real, tmp_path / "home", changed) as link,
        people(chrome, web_server, 2) as (first, second),
    ):
        page, wrong = first.page, {}
        page.resize(390, 844, is_phone=True)
        page.visit(link)
        page.wait_until("document.querySelector('header a.chip')")
        options = {"match": 1, "target": 3, "transcript": "all"}
        code = second.create(NAMES[1], "truc-french", 2, options, is_private=False)
        second.ask("chat", {"text": SAID})
        wrong |= looked_at(page, "lobby")
        first.go(f"/t/{code}")
        page.wait_until("document.querySelector('form input[name=name]')")
        wrong |= looked_at(page, "sit")
        page.click("input[name=name]")
        page.type("Caterina")
        page.press("Enter")
        page.wait_until("document.querySelector('.hand')")
        second.ask("chat", {"table": code, "text": SAID})
        wrong |= looked_at(page, "table")
        page.look("document.querySelector('header [aria-label=Chat]').click()")
        wrong |= looked_at(page, "log")
        page.look("document.querySelector('.side .shut').click()")
        first.begin(1)
        second.begin(2)
        assert all(player.play()["isOver"] for player in (first, second))
        wrong |= looked_at(page, "end")
        assert is_proven(first.saved())
        match = page.wait_for(KEPT)
        for path, there in ((f"/m/{match}", ".replay"), ("/history", ".past"), ("/best", ".room")):
            first.go(path)
            page.wait_until(f"document.querySelector({json.dumps(there)})")
            wrong |= looked_at(page, path)
        wrong |= {"title": page.look("document.title")} if BEGINS in page.look("document.title") else {}
        assert wrong == {}
