"""`truc report`: a match as one page, which needs nothing beside itself and can be stepped through."""

import re
from functools import cache
from html.parser import HTMLParser

import pytest
from client.browser import needs_browser
from client.running import truc
from client.viewed import FRENCH, KEPT, TRANSCRIPTS, replayed_file
from protocol.forge import small
from protocol.peers import Puppet, Table
from rows import each_row

from truc_protocol.transcript import write_transcript
from truc_terminal.replay_model.stages import replay_of
from truc_terminal.report.page import hand_views, page


class Reader(HTMLParser):
    """Gathers what a page refers to, its tags, and what its reader is told: its text, its titles and labels."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: set[str] = set()
        self.told: list[str] = []
        self._is_code = False
        self.feed(source)
        self.text = "".join(self.told)

    def handle_starttag(self, tag, attrs) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        self.links += [given[name] or "" for name in ("href", "src") if name in given]
        self.ids |= {given["id"] or ""} if "id" in given else set()
        self.told += [given[name] or "" for name in ("title", "aria-label") if name in given]
        self._is_code = tag in ("style", "script")

    def handle_data(self, data) -> None:
        self.told += [] if self._is_code else [data]


@cache
def page_of(name: str, lang: str = "en") -> str:
    return page(replayed_file(KEPT / f"{name}.truc", lang), lang=lang)


@each_row("file", TRANSCRIPTS)
def test_page_has_every_hand_and_record_and_refers_to_nothing_outside_it(file) -> None:
    replayed = replayed_file(file)
    read = Reader(page_of(file.stem))
    stages = [given["data-stage"] for tag, given in read.tags if tag == "li" and "data-stage" in given]
    assert sorted(map(int, stages)) == [stage.number for stage in replayed.stages]
    assert {f"hand-{hand.number}" for hand in replayed.hands} <= read.ids
    assert set(read.links) <= {f"#{name}" for name in read.ids}


@each_row("file", TRANSCRIPTS)
def test_card_that_took_a_trick_is_marked(file) -> None:
    replayed = replayed_file(file)
    won = [trick for hand in hand_views(replayed, "en") for row in hand.rows for trick in row.tricks]
    best = [next((it for it in trick.laid if it.seat == trick.best), None) for trick in won]
    sides = [trick.side for hand in replayed.hands for trick in replayed.stages[hand.last].tricks]
    assert [None if it is None else it.seat % 2 for it in best] == sides
    assert page_of(file.stem).count('class="best"') == sum(it is not None for it in best)


def test_what_cannot_be_read_or_written_has_a_sentence_and_status_2(tmp_path) -> None:
    (tmp_path / "a.truc").write_bytes(FRENCH.read_bytes()[:-9])
    broken = truc("report", tmp_path / "a.truc", "-o", tmp_path / "a.html")
    assert (broken.exit_code, (tmp_path / "a.html").exists()) == (2, False)
    lost = truc("report", FRENCH, "-o", tmp_path / "none" / "a.html")
    assert lost.exit_code == 2
    assert "cannot write" in lost.output


def test_names_are_shown_and_not_obeyed(monkeypatch) -> None:
    monkeypatch.setattr(Puppet, "name", b"<img src=x>&\x1b[2J")
    read = Reader(page(replay_of(Table(small(target=2)).run().file(), lang="en"), lang="en"))
    assert "<img src=x>&[2J" in read.text
    assert "\x1b" not in read.text
    assert [tag for tag, _ in read.tags if tag in ("img", "script")] == ["script"]


def test_record_that_fails_is_named_and_the_status_is_1(tmp_path) -> None:
    table = Table(small(target=2)).run()
    forged = table.records[-1]._replace(sig=bytes(64))
    file = write_transcript(table.document, (*table.records[:-1], forged))
    (tmp_path / "a.truc").write_bytes(file)
    told = truc("report", tmp_path / "a.truc", "-o", tmp_path / "a.html")
    assert (told.exit_code, "REFUTED" in told.output) == (1, True)
    read = Reader((tmp_path / "a.html").read_text("utf-8"))
    assert "The record that fails" in read.text
    assert ("header", {"class": "refuted"}) in read.tags


@each_row("n", [0, 1, 3, 6])
def test_match_that_breaks_off_before_its_first_hand_has_a_page(n) -> None:
    table = Table(small(target=2)).run()
    replayed = replay_of(write_transcript(table.document, tuple(table.records[:n])), lang="en")
    read = Reader(page(replayed, lang="en"))
    assert ("header", {"class": "incomplete"}) in read.tags
    assert f"{n} record{'' if n == 1 else 's'}: the terms, who sat down, and the draw" in read.text


def test_covered_card_is_drawn_as_it_was_known_in_the_end() -> None:
    covered = re.findall(r'class="card covered( closed)?"[^>]*>.*?#card-(\w+)"', page_of("paulista-4-blind"))
    assert len(covered) == 3
    assert {closed for closed, _ in covered} == {""}


@needs_browser
@pytest.mark.slow
def test_page_is_stepped_through_in_a_browser(chrome, tmp_path) -> None:
    (tmp_path / "match.html").write_text(page_of("truc-catalan-4"))
    with chrome.somebody() as shown:
        shown.open(tmp_path / "match.html")

        def hands() -> list[str]:
            return shown.look("[...document.querySelectorAll('.hand:not([hidden])')].map((hand) => hand.id)")

        def seen(what: str) -> int:
            return shown.look(f"document.querySelectorAll('.hand:not([hidden]) {what}:not([hidden])').length")

        assert (hands(), seen(".laid")) == (["hand-1", "hand-2", "hand-3"], 14)
        shown.press("ArrowRight")
        assert (hands(), seen(".laid")) == (["hand-1"], 0)
        shown.look("while (!caption.textContent.includes('plays')) next.click()")
        assert shown.look("caption.textContent") == '"player 1" plays 6c · "player 1" asks for 2 (“truc”)'
        assert (seen(".laid"), seen(".held .tick")) == (1, 1)
        shown.press("ArrowLeft")
        assert seen(".laid") == 0
        shown.look("document.getElementById('as-seen').click()")
        assert seen(".held .closed") == 4
        shown.look("document.getElementById('next-hand').click()")
        assert hands() == ["hand-2"]
        shown.look("location.hash = '#stage-30'")
        assert hands() == ["hand-2"]
        shown.press("Escape")
        assert (hands(), seen(".laid")) == (["hand-1", "hand-2", "hand-3"], 14)
        assert shown.complaints == []
