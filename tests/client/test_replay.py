"""`truc replay`: where each step leads, what a page shows and hides, the keys, and a terminal that is given back."""

import re
import signal

import pytest
from client.running import truc
from client.terminals import Terminal
from client.viewed import FRENCH, TRANSCRIPTS, replayed_file
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rows import each_row

from truc_terminal.replay_model.stages import ReplayedMatch, replay_of, seen_by
from truc_terminal.screen.replaying import (
    Replay,
    ReplayPosition,
    ReplayStep,
    drawn_page,
    first_cards,
    page,
    step_through,
)


@pytest.fixture(scope="module")
def french() -> ReplayedMatch:
    return replayed_file(FRENCH)


def pages(replayed: ReplayedMatch, seat: int | None = None, *, is_plain: bool = True) -> list[str]:
    replay = Replay(replayed, "en", is_plain, seat)
    return [page(replay, at).plain for at in range(len(replayed.stages))]


def walked(replayed: ReplayedMatch, keys: str, at: int = 0) -> tuple[ReplayPosition, int]:
    with create_pipe_input() as typed:
        typed.send_text(keys)
        return step_through(Replay(replayed, "en", is_plain=False), at, keys=typed, screen=DummyOutput())


@each_row("file", TRANSCRIPTS)
def test_every_record_of_every_transcript_has_a_page(file) -> None:
    replayed = replayed_file(file)
    shown = pages(replayed)
    for at, told in enumerate(shown):
        record = replayed.stages[at].record
        head, *rest = told.splitlines()
        assert f"{'setup' if record.is_setup else 'record'} {record.place}: {record.kind}" in head
        assert [
            line[2:] for line in rest if line.startswith("> ") and line[2:] in replayed.stages[at].said
        ] == [*replayed.stages[at].said]
    assert shown[-1].splitlines()[-1].startswith(replayed.verdict.result.value.upper())


def test_all_cards_are_open_unless_a_seat_is_named(french) -> None:
    dealt = next(stage.number for stage in french.stages if stage.record.kind == "deal")
    assert "??" not in pages(french)[dealt]
    assert [len(re.findall(r"\?\?", pages(french, seat)[dealt])) for seat in (0, 1)] == [3, 3]


@each_row("file", TRANSCRIPTS)
def test_page_of_a_seat_names_no_card_that_it_did_not_know(file) -> None:
    replayed = replayed_file(file)
    for stage, told in zip(replayed.stages, pages(replayed, 1), strict=True):
        rival = stage.cards[0] if stage.cards else ()
        hidden = [each.card for each in rival if each.opened is None or each.opened > stage.number]
        (line,) = [line for line in told.splitlines() if re.match(r"[> ] (player|guest) 0  ", line)] or [""]
        assert not stage.hand or hidden == [] or line.count("??") == len(hidden)
        assert not {card for card in hidden if card} & set(line.split())


@each_row("file", TRANSCRIPTS)
def test_drawn_page_of_a_seat_names_no_card_that_it_did_not_know(file) -> None:
    replayed = replayed_file(file)
    replay = Replay(replayed, "en", is_plain=True, seat=1)
    for stage in replayed.stages[::2]:
        seen = seen_by(stage, 1)
        told = drawn_page(replay, stage.number, width=80, height=24).plain.partition("\n\n> ")[0]
        pairs = zip(sum(stage.cards, ()), sum(seen.cards, ()), strict=True)
        hidden = {known.card for known, it in pairs if known.card and it.card is None}
        assert not hidden & set(re.findall(r"(?<![0-9a-zA-Z])1?[0-9AJQK][a-z]\b", told))
        assert not stage.hand or max(map(len, told.splitlines())) <= 80


def test_drawn_page_counts_the_hands_that_were_opened(french) -> None:
    replay, close = Replay(french, "en", is_plain=True), french.hands[0].last
    counts = [drawn_page(replay, at, width=80, height=24).plain.count("ok 1/1") for at in (close - 12, close)]
    assert counts == [0, 1]


def test_names_obey_no_terminal(french) -> None:
    names = ("\x1b[2J\x9b1m\x01", "[red]east")
    stages = tuple(stage._replace(record=stage.record._replace(names=names)) for stage in french.stages)
    hostile = french._replace(stages=stages)
    drawn = drawn_page(Replay(hostile, "en", is_plain=False, seat=0), len(stages) - 1, width=80, height=24)
    for told in (pages(hostile, 0)[-1], drawn.plain):
        assert all(sign.isprintable() or sign == "\n" for sign in told)
        assert "[red]east " in told


def test_commitments_are_ticked_when_the_hand_is_opened(french) -> None:
    opened = next(stage.number for stage in french.stages if stage.record.kind == "close")
    before, after = pages(french, is_plain=False)[opened - 1], pages(french, is_plain=False)[opened]
    assert (before.count("✓"), after.count("✓")) == (0, 3)
    assert "dealt again from them ✓" in after


def test_record_that_fails_is_the_last_page_and_the_status_says_so(tmp_path) -> None:
    damaged = bytearray(FRENCH.read_bytes())
    damaged[-200] ^= 1
    (tmp_path / "a.truc").write_bytes(damaged)
    told = truc("replay", tmp_path / "a.truc")
    whole = "".join(f"{page}\n\n" for page in pages(replay_of(bytes(damaged), lang="en")))
    assert (told.exit_code, told.stdout) == (1, whole)
    assert "> FAILS: " in whole


def test_keys_step_by_records_and_hands_where_these_are_called_and_to_the_ends(french) -> None:
    first, second, newest = french.hands[0].first, french.hands[1].first, french.hands[-1].first
    reached_by = {
        "nn pq": 2,
        "]q": first,
        "]]q": second,
        "2\rq": second,
        ">[q": newest,
        ">[]q": len(french.stages) - 1,
        "]][q": first,
        ">q": len(french.stages) - 1,
        ">n<q": 0,
        "]]npn[q": second,
        "p[<q": 0,
        ">n]>q": len(french.stages) - 1,
    }
    assert {keys: walked(french, keys)[0].at for keys in reached_by} == reached_by


def test_question_mark_explains_and_any_step_goes_on(french) -> None:
    positions = {keys: walked(french, keys)[0] for keys in ("?q", "??q", "?nq")}
    seen = {keys: (position.explains, position.at) for keys, position in positions.items()}
    assert seen == {"?q": (True, 0), "??q": (False, 0), "?nq": (False, 1)}


def test_s_looks_with_the_eyes_of_each_seat_in_turn_and_ctrl_c_leaves(french) -> None:
    positions, statuses = zip(*(walked(french, "s" * n + "\x03") for n in range(4)), strict=True)
    assert [position.replay.seat for position in positions] == [None, 0, 1, None]
    assert not any(statuses)


def test_hand_that_is_not_there_is_answered_with_what_was_expected(french) -> None:
    position, status = walked(french, "n99\rq")
    assert (position.at, status) == (1, 0)
    assert position.note == f"expected a hand from 1 to {len(french.hands)}, got 99"


def test_page_longer_than_the_terminal_is_moved_within_its_lines(french) -> None:
    position = ReplayPosition(Replay(french, "en", is_plain=False), 0)
    tops = []
    for lines in (1, 5, -1, -9, 2):
        position.scroll(lines)
        position.fit(lines=26, room=23)
        tops.append(position.top)
    assert tops == [1, 3, 2, 0, 2]
    position.step(ReplayStep.FORWARD)
    assert position.top == 0


def test_match_or_one_hand_alone_is_printed_where_there_is_no_terminal(french) -> None:
    told = truc("replay", FRENCH)
    assert (told.exit_code, told.stdout) == (0, "\n\n".join(pages(french)) + "\n\n")
    heads = [line for line in truc("replay", FRENCH, "--hand", 2).stdout.splitlines() if "  |  " in line]
    assert {head.split("  |  ")[0] for head in heads} == {f"hand 2 of {len(french.hands)}"}


def test_a_match_is_viewed_from_its_first_cards_on(french) -> None:
    at = first_cards(french)
    assert [bool(french.stages[n].cards) for n in (at - 1, at)] == [False, True]


@each_row(
    "words, complaint",
    [
        ((FRENCH, "--hand", 99), "truc: expected a hand from 1 to "),
        ((FRENCH, "--seat", 2), "truc: expected a seat from 0 to 1, got 2\n"),
        ((__file__,), "truc: there is no record in it: "),
    ],
)
def test_what_is_not_there_is_answered_with_what_was_expected(words, complaint) -> None:
    told = truc("replay", *words)
    assert (told.exit_code, told.stderr[: len(complaint)]) == (2, complaint)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status"), [("q", 0), (signal.SIGTERM, 143)])
def test_terminal_is_given_back_whatever_ends_it(tmp_path, how, status) -> None:
    terminal = Terminal(tmp_path / "home", "replay", str(FRENCH))
    terminal.wait_for(b"q leave")
    terminal.type(b">")
    terminal.wait_for(b"PROVEN")
    if isinstance(how, str):
        terminal.type(how.encode())
    else:
        terminal.process.send_signal(how)
    assert terminal.end() == status
    entered, left = terminal.seen.rfind(b"\x1b[?1049h"), terminal.seen.rfind(b"\x1b[?1049l")
    assert 0 <= entered < left
    assert b"Traceback" not in terminal.seen
