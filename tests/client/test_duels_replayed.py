"""A match of six in which two play each other at a time: every duel is told by itself, in the replay and on the page."""

from dataclasses import replace

import pytest
from client.browser import needs_browser
from protocol.forge import small
from protocol.peers import Table

from truc_rules.variants.variant import Pica
from truc_terminal.replay_model.stages import MatchStage, ReplayedMatch, replay_of
from truc_terminal.report.page import HandView, hand_views
from truc_terminal.report.page import page as page_of
from truc_terminal.screen.replaying import Replay, page


@pytest.fixture(scope="module")
def replayed() -> ReplayedMatch:
    variant = replace(small("truco-argentino-6", target=12), pica=Pica(min=0, max=30))
    return replay_of(Table(variant, seats=6, seed=1).run().file(), lang="en")


def of_duels(replayed: ReplayedMatch) -> list[tuple[MatchStage, HandView]]:
    """Return the hands of duels: the last stage of each, and how the page shows it."""
    views = zip(replayed.hands, hand_views(replayed, "en"), strict=True)
    shown = ((replayed.stages[hand.last], view) for hand, view in views)
    return [(stage, view) for stage, view in shown if stage.board.duel is not None]


def begun(replayed: ReplayedMatch, hand: int) -> list[tuple[int, int]]:
    facts = (fact for stage in replayed.stages if stage.hand == hand for fact in stage.record.facts)
    return [(fact["seat"], fact["opponent"]) for fact in facts if fact["what"] == "duel_begun"]


def test_every_duel_has_a_row_of_the_page_with_the_cards_of_its_two_players_and_what_came_of_it(
    replayed,
) -> None:
    shown = of_duels(replayed)
    assert shown
    for stage, view in shown:
        duels = begun(replayed, stage.hand)
        assert [row.duel.text for row in view.rows] == [f"player {a} - player {b}" for a, b in duels]
        for row, seats in zip(view.rows, duels, strict=True):
            assert {laid.seat for trick in row.tricks for laid in trick.laid} <= {*seats}
        scored = [span.text for row in view.rows for span in row.outcome]
        assert scored == [*view.outcome]
        assert len(scored) >= len(view.rows)


def test_trick_that_a_duel_breaks_off_takes_no_card_of_the_next(replayed) -> None:
    tricks = [trick for stage, _ in of_duels(replayed) for trick in stage.tricks]
    assert any(not trick.is_over for trick in tricks[:-1])
    assert all({laid.seat for laid in trick.laid} <= {*trick.duel} for trick in tricks)


def test_page_draws_each_duel(replayed) -> None:
    html = page_of(replayed, lang="en")
    assert html.count('<p class="duel">') == sum(len(view.rows) for _, view in of_duels(replayed))


@needs_browser
@pytest.mark.slow
def test_duel_comes_to_the_page_when_it_begins(replayed, chrome, tmp_path) -> None:
    (tmp_path / "match.html").write_text(page_of(replayed, lang="en"), "utf-8")
    (_, view), *_ = of_duels(replayed)
    with chrome.somebody() as shown:
        shown.open(tmp_path / "match.html")
        seen = []
        for row in view.rows:
            shown.look(f"go({row.duel.start})")
            seen.append(
                shown.look("document.querySelectorAll('.hand:not([hidden]) .row:not([hidden])').length")
            )
    assert seen == [*range(1, len(view.rows) + 1)]


def test_replay_names_the_players_of_a_duel_before_its_tricks(replayed) -> None:
    for stage, view in of_duels(replayed):
        lines = page(Replay(replayed, "en", is_plain=True), stage.number).plain.splitlines()
        rows = [line.split("  ", 1)[1].strip() for line in lines if line.startswith("duel (")]
        assert rows == [row.duel.text for row in view.rows if row.tricks]
        assert sum(line.startswith("trick 1 ") for line in lines) == len(rows)
