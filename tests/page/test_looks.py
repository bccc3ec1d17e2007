"""What every screen has to be: readable, reachable, told in order; `python -m page.access` looks at all of it.

The pictures of `python -m page.pictures` are compared here only with themselves, and with another theme.
"""

import pytest
from client.browser import needs_browser
from page.access import Access
from page.looks import SCREENS, SIZES, Looks, read
from page.pictures import MOST_BLOCKS, difference, drawn

from truc_words import LANGUAGES

pytestmark = [pytest.mark.slow, needs_browser]

TALKATIVE = ("sit", "lobby", "duel", "four", "end")
"""Where most is said: looked at in every language."""
NARROW = {"six": ("small phone",), "sample": ("small phone", "200 %")}
"""What is looked at where there is least room for it, and at no other size here."""
HEARD = """globalThis.heard = []
new MutationObserver((changes) => heard.push(...changes.flatMap(({ addedNodes }) => [...addedNodes].map(({ data }) => data))))
  .observe(document.querySelector('[aria-live=polite]'), { childList: true })"""
FROM_END = "(({ scrollHeight, clientHeight, scrollTop }) => [scrollHeight > clientHeight, Math.round(scrollTop)])(document.querySelector('.log'))"
"""Whether the log is longer than what is seen of it, and where it stands: 0 at its end, less above."""


@pytest.fixture(scope="module")
def access(chrome, web_server):
    looker = Access(chrome, web_server.origin)
    yield looker
    assert looker.page.complaints == []
    looker.page.close()
    looker.glass.close()


def test_every_screen_can_be_used_by_everybody(access) -> None:
    access.looks.open(lang="en", theme="dark")
    found = [
        each
        for screen in SCREENS
        for each in access.look_at(screen, NARROW.get(screen, ("phone", "desktop")), is_measured=True)
    ]
    assert found == []


def test_no_language_is_cut_off_and_light_is_as_readable(access) -> None:
    found = []
    for lang in LANGUAGES:
        access.looks.open(lang=lang, theme="light")
        for screen in TALKATIVE:
            seen = access.look_at(screen, ("small phone",), is_measured=lang == "fr")
            found += [f"{lang}: {each}" for each in seen]
    assert found == []


def test_no_name_lies_on_a_card_after_a_match(access) -> None:
    found = []
    for is_large in (False, True):
        access.looks.open(lang="en", theme="dark", isLarge=is_large)
        access.page.resize(320, 568, is_phone=True)
        for kind in ("duel", "four", "six"):
            access.looks.over(kind)
            found += access.page.look("overlaps()")
    access.page.resize(*SIZES["desktop"])
    assert found == []


def test_own_name_lies_on_no_card_on_a_short_phone(access) -> None:
    access.looks.open(lang="en", theme="dark")
    access.page.resize(320, 568, is_phone=True)
    found = []
    for kind in ("duel", "four", "six"):
        access.looks.table(kind)
        own = access.page.look("document.querySelector('.seat.at-s .who').textContent")
        found += [each for each in access.page.look("overlaps()") if own in each]
    access.page.resize(*SIZES["desktop"])
    assert found == []


def test_what_happens_is_told_in_order_and_the_log_shows_its_end_or_where_somebody_reads(access) -> None:
    page, told = access.page, read("duel-spanish")
    access.looks.open(lang="en", theme="dark")
    page.look(HEARD)
    *first, last = told["events"]
    for event in first:
        access.looks.tell([event])
    access.looks.go(f"/t/{told['code']}")
    page.wait_until("document.querySelector('.log li')")
    lines = page.look("[...document.querySelectorAll('.log .ev')].map(({ textContent }) => textContent)")
    sentences = [each for each in " ".join(page.look("heard")).replace(". ", ".\n").split("\n") if each]
    assert [each for each in sentences if each in lines] == lines
    assert page.look(FROM_END) == [True, 0]
    page.look("document.querySelector('.log').scrollTop = -40")
    access.looks.tell([last])
    page.wait_for("drawn()")
    assert page.look(FROM_END)[1] <= -40


SLIDES = """(async () => {
  const { h, show } = await import(document.querySelector('link[href$="/page/h.mjs"]').href)
  const list = document.createElement('ul')
  const lines = ['a', 'b', 'c'].map((text) => h('li', null, text))
  const before = show(list, [], lines)
  const [, second] = list.children
  show(list, before, lines.slice(1), h('li', null, 'd'))
  return [list.textContent, list.children[0] === second]
})()"""


def test_what_was_drawn_once_stays_itself_where_others_come_and_go(access) -> None:
    access.looks.open(lang="en", theme="dark")
    assert access.page.wait_for(SLIDES) == ["bcd", True]


def test_pictures_are_the_same_twice_and_others_in_another_theme(chrome, access) -> None:
    looks: Looks = access.looks
    shots = []
    for theme in ("dark", "dark", "light"):
        looks.open(lang="en", theme=theme)
        shots.append(drawn(looks, "duel", "desktop"))
    assert difference(access.glass, shots[0], shots[1]) <= MOST_BLOCKS
    assert difference(access.glass, shots[0], shots[2]) > 0.5
