"""Transcripts of the test vectors are stepped through from end to end and back, in the terminal and on their page."""

from itertools import cycle
from pathlib import Path

import pytest
from client.browser import needs_browser
from client.viewed import replayed_file
from prompt_toolkit.application import DummyApplication, create_app_session
from prompt_toolkit.application.current import set_app
from prompt_toolkit.output import DummyOutput
from rows import each_row

from truc_terminal.replay_model.stages import ReplayedMatch
from truc_terminal.report.page import hand_views, is_quiet, page
from truc_terminal.screen import replaying
from truc_terminal.screen.replaying import Replay, ReplayStep
from truc_words import LANGUAGES

VECTORS = Path(__file__).parent.parent / "vectors"
FILES = sorted(VECTORS.rglob("*.truc"))
SPOKEN = [*zip(FILES, cycle(LANGUAGES), strict=False)]
STEPPED_THROUGH = SPOKEN[::4]  # how it steps is the same on all
STEPPED = """(() => {
  const look = () => {
    const hand = document.querySelector('.hand:not([hidden])');
    const now = hand.querySelector('.records li.now');
    return [hand.id, Number(now.dataset.stage), hand.querySelectorAll('.laid:not([hidden])').length, caption.textContent];
  };
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  const steps = Number(slider.max), forth = [], back = [];
  press('Home');
  for (let n = 0; n <= steps; n += 1) { forth.push(look()); press('ArrowRight'); }
  for (let n = 0; n <= steps; n += 1) { back.unshift(look()); press('ArrowLeft'); }
  return {forth, back, lang: document.documentElement.lang};
})()"""
"""What a page shows at each of its steps, on the way there and on the way back."""


def steps_of(replayed: ReplayedMatch, lang: str) -> list[list[object]]:
    """Return what a page is to show at each of its steps: the hand, the stage, how many cards are on the table, what is said."""
    return [
        [f"hand-{at.hand}", at.number, sum(len(trick.laid) for trick in at.tricks), " · ".join(at.said)]
        for hand in hand_views(replayed, lang)
        for at in hand.stages
        if not is_quiet(at.record)
    ]


def test_transcripts_are_those_of_the_vectors() -> None:
    assert {file.stem for file in FILES} >= {"session", "truc-french", "truc-catalan-4", "argentine-match"}
    assert {lang for _, lang in SPOKEN} == {lang for _, lang in STEPPED_THROUGH} == {*LANGUAGES}


@each_row("file, lang", STEPPED_THROUGH)
def test_terminal_shows_the_same_on_the_way_back(file, lang) -> None:
    replayed = replayed_file(file, lang)
    position = replaying.ReplayPosition(Replay(replayed, lang, is_plain=False), 0)
    last = len(replayed.stages) - 1
    with create_app_session(output=DummyOutput()), set_app(DummyApplication()):
        forth = [replaying._drawn(position).value]
        for _ in range(last):
            position.step(ReplayStep.FORWARD)
            forth.append(replaying._drawn(position).value)
        assert position.at == last
        back = [replaying._drawn(position).value]
        for _ in range(last):
            position.step(ReplayStep.BACK)
            back.append(replaying._drawn(position).value)
    assert (position.at, back[::-1]) == (0, forth)
    assert len({*forth}) == len(forth)


@needs_browser
@pytest.mark.slow
def test_page_shows_every_step_in_a_browser_on_the_way_there_and_back(chrome, tmp_path) -> None:
    with chrome.somebody() as shown:
        for file, lang in STEPPED_THROUGH:
            replayed = replayed_file(file, lang)
            (tmp_path / f"{file.stem}.html").write_text(page(replayed, lang=lang), "utf-8")
            shown.open(tmp_path / f"{file.stem}.html")
            seen = shown.look(STEPPED)
            assert (seen["lang"], seen["back"]) == (lang, seen["forth"])
            assert seen["forth"] == steps_of(replayed, lang)
        assert shown.complaints == []
