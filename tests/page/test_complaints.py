"""What a page test must not overlook: a broken policy, and a mistake in a script of the page or of its worker."""

import pytest
from client.browser import needs_browser
from page.playing import Person

pytestmark = [pytest.mark.slow, needs_browser]

MISTAKES = {
    "Content Security Policy": "new Image().src = 'https://elsewhere.example/'",
    "TrustedHTML": "document.body.innerHTML = '<p>'",
    "of the page": "setTimeout(() => { throw new Error('of the page') })",
    "of its worker": "beside.postMessage({ do: 'import', text: null })",
}


def test_what_a_page_or_its_worker_does_wrong_is_a_complaint(chrome, web_server) -> None:
    person = Person(chrome, web_server)
    person.page.visit(web_server.link())
    person.page.wait_until("document.querySelector('header a.chip')")
    assert person.page.complaints == []
    for mistake in MISTAKES.values():
        person.page.look(f"setTimeout(() => {{ {mistake} }}); null")
    person.page.wait_until("document.querySelector('main > [role=alert]')")
    heard = str(person.page.complaints)
    assert [words for words in MISTAKES if words not in heard and words != "of its worker"] == []
    assert "trim" in heard
    person.page.close()
