"""A person who looks on at a table: what is told and drawn, what is never called checked, and what may be typed."""

import pytest
import trio
import trio.testing
from client.faked import FakeTable, match_of
from client.pictured import dealt, played, told
from client.viewed import TRANSCRIPTS, screen_of, seen, started, typing, view_of
from rows import each_row

from truc_client import (
    ChatSaid,
    Interrupted,
    MatchStarted,
    MatchWaits,
    PhraseSaid,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    SnapshotTaken,
    Substituted,
    TableGone,
)
from truc_client.errors import ClientError
from truc_rules import preset
from truc_terminal.commands.watch import Watcher
from truc_terminal.replay_model.annotating import Annotator
from truc_terminal.screen.person import Typed
from truc_words import LANGUAGES, Sentence, catalogue

GAME = preset("truc-french")
STATE = {"what": "state", "phase": "between", "score": [[0, 0, 2], [0, 0, 1]], "dealer": 0, "stake": 1}
ASKED = {"what": "stake_asked", "seat": 0, "stake": 2}
CLOSED = {"what": "hand_closed", "reason": "hand"}
OPENED = {"what": "hands_opened", "cards": [["As", "7h", "6c"], ["Kd", "9s", "Jh"]]}
TRICK = (
    dealt(2),
    played("1 Kd"),
    told(
        ("card_played", {"seat": 0, "card": "As"}),
        ("trick_won", {"side": 0, "leader": 0}),
        ("state", {**STATE, "phase": "hand", "waiting": [0], "tricks": [0]}),
    )._replace(view=view_of("truc-french", seat=None, tricks=[("1 Kd 0 As", 0)], points=(2, 1))),
)
BETWEEN = view_of("truc-french", seat=None, each=0, points=(2, 1))


def watched(*happenings, reached: int = 0) -> FakeTable:
    """Return a table where a match is played of which so many records are there; nothing ends by what is said."""
    table = FakeTable(*happenings)
    table.match, table.afterwards = match_of(GAME, next=reached), ()
    return table


def begun() -> MatchStarted:
    return started("truc-french", seat=None, words="french")


def shown(*happenings, terminal: bool = False, lang: str = "en", reached: int = 0) -> str:
    """Return what is told of what happens in a match."""
    screen, out = screen_of(lang, terminal=terminal, width=120, height=24)
    watcher = Watcher(watched(reached=reached), screen)
    watcher.show(begun())
    out.truncate(0)
    out.seek(0)
    for happening in happenings:
        watcher.show(happening)
    return out.getvalue()


def drawn(text: str) -> int:
    return text.count("score  north")


def test_table_is_drawn_from_no_seat_when_a_trick_is_over() -> None:
    told = shown(*TRICK, terminal=True)
    assert drawn(told) == 1
    assert told.index("the trick goes to north") < told.index("── truc-french ─")
    assert "┃ A♠┃" in told
    assert told.count("▒ ▒") == 2


def test_table_is_drawn_with_all_cards_when_a_hand_is_over() -> None:
    told = shown(*TRICK, seen(CLOSED, OPENED, STATE, view=BETWEEN), terminal=True)
    end = told[told.index("── all cards are open ─") :]
    assert drawn(end) == 1
    assert "7♥ 6♣  ✓ 11111111" in end
    assert "9♠ J♥  ✓ 22222222" in end
    assert "hands checked  ✓ 1/1" in end
    below = [
        end.index(part) for part in ("hands checked  ✓", "Score  north: 2; east: 1", "✓ east 22222222: K♦")
    ]
    assert below == sorted(below)


def test_hand_whose_cards_stay_closed_is_drawn_with_backs() -> None:
    told = shown(*TRICK, seen(CLOSED, STATE, view=BETWEEN), terminal=True)
    end = told[told.index("Score  north: 2") - 1000 :]
    assert drawn(told) == 2
    assert "all cards are open" not in told
    assert "▒ ▒  ○ 11111111" in end


def test_last_trick_is_drawn_with_the_end_of_its_hand_alone() -> None:
    last = told(("trick_won", {"side": 0, "leader": 0}), ("state", {**STATE, "phase": "hand", "waiting": []}))
    assert drawn(shown(dealt(2), played("1 Kd", "0 As"), last, terminal=True)) == 0


def test_without_a_terminal_all_is_told_line_by_line() -> None:
    told = shown(*TRICK, seen(CLOSED, OPENED, STATE, view=BETWEEN))
    assert drawn(told) == 0
    assert "the trick goes to north; north leads" in told
    assert "ok east 22222222: Kd 9s Jh" in told


def test_who_comes_in_the_middle_of_a_hand_sees_the_table_once_all_is_there() -> None:
    of_watcher = view_of("truc-french", seat=None, table="1 Kd", points=(2, 1), waiting=(0,))
    coming = (
        SnapshotTaken(bytes(32), 7, STATE, skipped=False),
        Resumed(7),
        RecordSeen(7, "deal", (*dealt(2).means, STATE)),
        RecordSeen(8, "act", ({**STATE, "phase": "hand", "waiting": [1]},), view=of_watcher),
    )
    told = shown(*coming, terminal=True, reached=9)
    assert drawn(told) == 1
    assert told.index("Score  north: 2; east: 1") < told.index("what came before it is not checked yet")
    assert told.index("has passed its checks") < told.index("▒ ▒ ▒")
    assert "│ K♦│" in told  # laid before the watcher came
    assert drawn(shown(*coming, terminal=True, reached=99)) == 0


def test_snapshot_that_skips_says_so_and_forgets_the_hand_that_it_skips() -> None:
    assert "Score" not in shown(SnapshotTaken(bytes(32), 0, {}, skipped=False))  # at the beginning
    told = shown(*TRICK, SnapshotTaken(bytes(32), 99, STATE, skipped=True), terminal=True)
    assert "Too much happened while this client was not reading." in told
    screen, _ = screen_of(terminal=True, width=120, height=24)
    watcher = Watcher(watched(), screen)
    for happening in (begun(), *TRICK, SnapshotTaken(bytes(32), 99, STATE, skipped=True)):
        watcher.show(happening)
    assert (screen.board.laid, screen.board.tricks, screen.board.held) == ((), (), ())


async def test_what_is_not_checked_says_so_in_each_line_and_is_neither_drawn_nor_ticked() -> None:
    facts = [fact for record in TRICK for fact in record.means]
    unchecked = RecordUnchecked(8, "act", (*facts, CLOSED, OPENED, STATE))
    told = shown(unchecked, unchecked, terminal=True)
    first, *lines = told.splitlines()
    assert first.startswith("The server does not give out what came before.")
    assert [line for line in lines if not line.startswith("unchecked: ")] == []
    assert lines[-1] == "unchecked: Score  north: 2; east: 1"
    assert "✓" not in told
    told, _ = await typed("? table", happenings=(RecordUnchecked(8, "act", (ASKED, STATE)),))
    assert (drawn(told), told.startswith("The server does not give out")) == (0, True)


@each_row(
    "means",
    [
        (),
        ({},),
        ({"what": 5},),
        ({"what": "state"},),
        ({"what": "state", "score": 5},),
        ({"what": "state", "score": [[0, 0], [0, 0, 0]]},),
        ({"what": "state", "score": [["\x1b", 0, 0], [0, 0, 0]]},),
        ({**STATE, "dealer": 15},),
        ({**STATE, "dealer": "north"},),
        (
            {"what": "card_played", "seat": 15, "card": 5},
            {"what": "stake_asked"},
            {"what": "value_said", "seat": None},
        ),
        (CLOSED, {"what": "hands_opened", "cards": 5}),
    ],
)
def test_nonsense_that_is_not_checked_is_not_told(means) -> None:
    told = shown(RecordUnchecked(8, "act", means), terminal=True)
    assert told.startswith("The server does not give out what came before.")
    assert "Score" not in told.replace("Score  north: 0; east: 0", "")
    for fact in means:
        assert "Score" not in shown(SnapshotTaken(bytes(32), 9, fact, skipped=False))


def test_substitute_has_the_name_from_then_on() -> None:
    told = shown(Substituted(0, "west"), seen(ASKED, STATE, view=BETWEEN))
    assert "west plays there from now on" in told
    assert "west asks for 2" in told


@each_row(
    "happening, line",
    [
        (TableGone("expired", "K7PQ"), "the table is closed: nobody started it"),
        (Interrupted("it was lost"), "it was lost; connecting again"),
        (ChatSaid("TAG", "north", "hello"), '"north": hello'),
        (PhraseSaid(1, "come"), "east says: come (Play your lowest card)"),
    ],
)
def test_line_for_what_happens_beside_the_cards(happening, line) -> None:
    assert shown(happening).splitlines() == [line]


def test_whom_each_card_waits_for_is_not_told() -> None:
    assert shown(MatchWaits((1,), None)) == ""
    assert shown(MatchWaits((1,), None, "sub")) == "waiting for somebody to step in for east\n"


@each_row("transcript", TRANSCRIPTS)
def test_every_match_can_be_watched_from_its_first_record_to_its_last(transcript) -> None:
    annotator = Annotator(transcript.read_bytes())
    records = list(annotator.records())
    begun = next(each for each in records if not each.is_setup)
    screen, out = screen_of(terminal=True, width=120, height=24)
    watcher = Watcher(watched(), screen)
    pack = records[-1].pack
    watcher.show(
        started(players=begun.names, variant=transcript.stem, pack=pack, seat=None, words=begun.words)
    )
    for each in records:
        if not each.is_setup and each.facts:
            watcher.show(RecordSeen(each.place, each.kind, each.facts, view=each.view))
    tricks = sum(fact["what"] in ("trick_won", "trick_tied") for each in records for fact in each.facts)
    hands = sum(fact["what"] == "hand_closed" for each in records for fact in each.facts)
    tables = out.getvalue().count(f"── {transcript.stem} ─") + out.getvalue().count("── all cards are open ─")
    assert hands <= tables <= hands + tricks


def test_why_the_connection_was_lost_is_told_in_the_language_asked_for() -> None:
    lost = Interrupted(Sentence("failures.connection_lost"))
    assert shown(lost, lang="ca") == f"{lost.reason.in_language('ca')}; tornant a connectar\n"


@each_row("lang", LANGUAGES)
def test_what_is_told_is_in_the_language_asked_for(lang) -> None:
    told = shown(*TRICK, seen(CLOSED, OPENED, STATE, view=BETWEEN), Resumed(9), terminal=True, lang=lang)
    words = catalogue(lang)
    assert words.watching["all_open"] in told
    assert words.watching["caught_up"].format(k=9) in told
    assert f"{words.screen['stake']} " in told


async def typed(*lines: str | None, happenings: tuple = TRICK) -> tuple[str, FakeTable]:
    """Type lines once everything has happened; returns what is shown then."""
    send, unread = typing()
    table, (screen, out) = watched(begun(), *happenings), screen_of(terminal=True, width=120, height=24)
    with trio.fail_after(40):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Watcher(table, screen, unread).watch)
            await trio.testing.wait_all_tasks_blocked()
            before = len(out.getvalue())
            for line in lines:
                send.send_nowait(Typed(line))
            await trio.testing.wait_all_tasks_blocked()
            table.send.close()
    return out.getvalue()[before:], table


@each_row("leaves", ["quit", "Q", None])
async def test_who_watches_may_talk_ask_for_help_and_leave(leaves) -> None:
    told, table = await typed("chat good luck", "'well played", "?", leaves, "chat too late")
    assert table.done == ["chat good luck", "chat well played"]
    assert "? table: how it stands." in told


@each_row(
    "line, said",
    [
        *((line, "score  north") for line in ("? table", "help TABLE")),
        ("? rules", "Chapters of the rules: "),
        *((line, f"got '{line}': you are watching") for line in ("resign", "play 7e", "1", "sign three")),
    ],
)
async def test_who_watches_is_shown_the_table_and_the_rules_and_can_play_nothing(line, said) -> None:
    told, _ = await typed(line)
    assert (told.count(said), "Envido" in told) == (1, False)


async def test_what_ends_the_table_is_raised() -> None:
    screen, _ = screen_of(terminal=True, width=120, height=24)
    with pytest.raises(ClientError, match="a check failed"):
        await Watcher(watched(ClientError("a check failed")), screen).watch()
