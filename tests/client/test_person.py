"""A person at a table: what each typed line does, and when it is read."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
import trio.testing
from client.faked import END, FakeTable, match_of, turn
from client.viewed import screen_of, started, typing
from rows import each_row
from rules.played import dealt

from truc_client.errors import ChoiceError, RefusedError
from truc_client.happenings import MatchStarted, RecordSeen, YourTurn
from truc_client.matches.seat_match import SeatMatch
from truc_protocol.errors import Code
from truc_terminal.screen.person import Person, Typed, typed_lines
from truc_terminal.screen.screen import Screen
from truc_terminal.styles import Advice
from truc_words import catalogue
from truc_words.house_variants import preset_called

NEXT = turn("play 3b", at=2)


async def play(table: FakeTable, *typed: str, terminal: bool = False, lang: str = "en", **game) -> str:
    """Let a person type lines, and leave; returns what the screen shows."""
    screen, out = screen_of(lang, terminal=terminal, width=80)
    words = game.pop("words", "catalan")
    if game.pop("has_begun", True):
        screen.show(_started(words)._replace(**game))
    async with sitting(table, screen, waits=terminal) as send:
        for text in (*typed, None):
            send.send_nowait(Typed(text))
    return out.getvalue()


@asynccontextmanager
async def sitting(
    table: FakeTable, screen: Screen | None = None, *typed: str, waits: bool = True, **how
) -> AsyncIterator[trio.MemorySendChannel[Typed]]:
    """Let a person sit at a table who has typed lines by then; yields where they type on, when nothing more happens."""
    send, lines = typing(*typed)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Person(table, screen or screen_of()[0], lines, **how).play)
            if waits:
                await trio.testing.wait_all_tasks_blocked()
            yield send


def _started(words: str = "catalan") -> MatchStarted:
    names = ("north", "east", "south", "west")
    return started(players=names, pack=("1o", "7e", "3b", "2c"), words=words, target=12)


@pytest.mark.parametrize("errors", ["surrogateescape", "strict"])
async def test_line_in_another_encoding_ends_nothing(monkeypatch, errors) -> None:
    typed = io.TextIOWrapper(io.BytesIO(b"'h\xe9llo\n"), encoding="utf-8", errors=errors)
    monkeypatch.setattr("sys.stdin", typed)
    async with typed_lines() as lines:
        first = await lines.receive()
        assert first.text in {"'h\N{REPLACEMENT CHARACTER}llo", "\N{REPLACEMENT CHARACTER}"}
        assert (await lines.receive()).text is None


async def test_each_line_of_a_script_answers_one_question() -> None:
    table = FakeTable(turn("play 7e"), then={"play 7e": (RecordSeen(1, "act", ()), NEXT)})
    assert "not your turn" not in await play(table, "1", "1")
    assert table.done == ["play 7e", "play 3b"]


async def test_line_of_a_script_waits_when_its_question_has_passed() -> None:
    table = FakeTable(turn("play 7e"))
    async with sitting(table) as send:
        table.send.send_nowait(RecordSeen(1, "rule", ({"what": "released", "seat": 1},)))
        await trio.testing.wait_all_tasks_blocked()
        send.send_nowait(Typed("play 3b"))
        await trio.testing.wait_all_tasks_blocked()
        table.send.send_nowait(NEXT)
    assert table.done == ["play 3b"]


class Noting:
    """Lessons that give none, and note about which positions advice was given."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def __call__(self, taught, _board, _look) -> tuple[()]:
        if isinstance(taught, Advice):
            self.told.append(taught.turn.at)
        return ()


@asynccontextmanager
async def advised(table: FakeTable, advise) -> AsyncIterator[tuple[trio.MemorySendChannel[Typed], list[int]]]:
    """Let a person play who is advised; yields where they type, and the positions of the advice that they were told."""
    screen, _ = screen_of(terminal=True)
    screen.show(_started())
    screen.teach = lessons = Noting()
    async with sitting(table, screen, advise=advise) as send:
        yield send, lessons.told
        send.send_nowait(Typed(None))


async def test_turn_is_thought_about_once_and_only_if_the_hand_waits() -> None:
    thought: list[int] = []

    async def advise(_table, about: YourTurn) -> Advice:
        thought.append(about.at)
        return Advice(about, ())

    async with advised(FakeTable(turn("concede", must=False), NEXT), advise) as (send, told):
        send.send_nowait(Typed("?"))
        await trio.testing.wait_all_tasks_blocked()
        assert (thought, told) == ([2], [2])


async def test_advice_that_comes_when_the_turn_is_over_is_not_told() -> None:
    thinking = trio.Event()

    async def advise(_table, about: YourTurn) -> Advice:
        if about is not NEXT:
            await thinking.wait()
        return Advice(about, ())

    table = FakeTable(turn("play 7e"), then={"play 7e": (RecordSeen(1, "act", ()), NEXT)})
    async with advised(table, advise) as (send, told):
        send.send_nowait(Typed("play 7e"))
        await trio.testing.wait_all_tasks_blocked()
        thinking.set()
        await trio.testing.wait_all_tasks_blocked()
        assert (table.done, told) == (["play 7e"], [2])


async def test_who_leaves_does_not_wait_for_advice() -> None:
    async def advise(_table, _about: YourTurn) -> Advice:
        await trio.sleep_forever()

    async with advised(FakeTable(NEXT), advise) as (_send, told):
        pass
    assert told == []


HAND = dealt(preset_called("truc-catalan", ""), "3b 2c 1o", "7e 4c 5b", before=["0 cut"])


@each_row(
    "typed, lang, said",
    [
        ("play 7e", "en", "got 'play 7e': you do not hold that card; the nearest: play 3b"),
        ("play 7", "en", "got 'play 7': you do not hold that card"),
        ("vull", "ca", "has escrit 'vull': no s'ha demanat res"),
        ("retruc", "en", "got 'retruc': that cannot be asked for now; the nearest: truc"),
        ("envido", "es", "escribiste 'envido': en este juego no lo hay"),
        ("cut", "en", "got 'cut': something else is to be decided now"),
        ("plai 3b", "en", "expected the number of an option, a move as it is shown, or ?; the nearest: play 3b"),
        ("9", "en", "got '9': expected the number of an option, a move as it is shown, or ?\n"),
        (1000 * "x", "en", f"got '{40 * 'x'}…': expected the number"),
    ],
)  # fmt: skip
async def test_wrong_line_is_told_why_and_asked_again(typed, lang, said) -> None:
    table = FakeTable(turn("play 3b", "play 2c", "raise 2"))
    table.match = SimpleNamespace(ledger=SimpleNamespace(match=HAND), seat=0)
    table.match.why_not = partial(SeatMatch.why_not, table.match)
    told = await play(table, typed, lang=lang)
    assert said in told
    assert told.count(catalogue(lang).screen["prompt"].format(clock="")) == 2
    assert table.done == []


@each_row(
    "lang, lines, done",
    [
        ("es", ["frase ven", "rendirse", "Rendirse"], ["say come", "resign"]),
        ("ca", ["senya un tres", "xat bon dia", "pausa"], ["sign three", "chat bon dia", "pause"]),
        ("fr", ["abandonner", "1", "réclamer", "quitter", "1"], ["claim the match"]),
        ("pt", ["sinal um três", "CHAT boa noite", "sair"], ["sign three", "chat boa noite"]),
    ],
)
async def test_commands_are_typed_in_the_players_language(lang, lines, done) -> None:
    table = FakeTable(then=dict.fromkeys(done, ()))
    await play(table, *lines, terminal=True, lang=lang, signs=("three",), phrases=("come",))
    assert table.done == done


@each_row(
    "typed, words, said, done",
    [
        ("sign three", "three two", "You sign: a three (close one eye)", ["sign three"]),
        ("sign", "three two", "sign one of: three, two", []),
        ("sign nine", "three two", "got 'nine': sign one of: three, two", []),
        ("say", "three two", "say one of: come", []),
        ("say hello", "three two", "got 'hello': say one of: come", []),
        ("sign a three", "three two", "You sign: a three", ["sign three"]),
        ("*ace of swords", "three ace-swords", "You sign: the ace of swords", ["sign ace-swords"]),
        ("sign x", "", "no signs in this match", []),
        ("say x", "", "has no phrases", []),
        ("chat", "", "chat TEXT: talk to everybody at the table.", []),
    ],
)
async def test_words_of_the_game_are_said_and_listed_where_another_was_typed(typed, words, said, done):
    table = FakeTable(turn("play 3b"))
    talk = {"signs": tuple(words.split()), "phrases": ("come",)} if words else {}
    assert said in await play(table, typed, **talk)
    assert table.done == done


MUTED = RefusedError(Code.MUTED, "the host lets you play but not talk")


@each_row(
    "typed, refusal, lang, said",
    [
        (
            "sign three",
            RefusedError(Code.ILLEGAL_ACTION, "seat 0 cannot"),
            "pt",
            "Agora você não pode fazer o sinal",
        ),
        (
            "sign three",
            ChoiceError("nobody sees a sign of this seat"),
            "pt",
            "Agora ninguém vê um sinal seu.",
        ),
        ("chat hello", MUTED, "en", "lets you play, but not talk"),
        ("chat hello", MUTED, "es", "pero no hablar"),
        (
            "claim",
            RefusedError(Code.NOT_NOW, "expected a side that is gone", retry_after_ms=6_001),
            "en",
            "Not yet. A claim is granted in 7 s at the earliest.",
        ),
        (
            "claim",
            RefusedError(Code.NOT_SEATED, "expected an opponent"),
            "en",
            "expected an opponent (not_seated)",
        ),
    ],
)
async def test_what_is_not_granted_is_told_in_the_players_language(typed, refusal, lang, said) -> None:
    table = FakeTable(turn("play 3b"), refusal=refusal)
    assert said in await play(table, typed, terminal=True, lang=lang, signs=("three",))


async def test_explanation_lists_the_words_of_the_game_and_each_meaning_once() -> None:
    told = await play(FakeTable(turn("play 3b", "play 7e", "order 7", "order 8")), "?", signs=("three",))
    assert "sign three: a three (close one eye)" in told
    assert "say " not in told
    assert "play 3b|7e: Lay the card" in told
    assert "order a seven|an eight: Tell your partner" in told
    assert told.count("or ? for help") == 2


MAY_ORDER = turn("order 7", "order low", "claim 1", must=False)
CLAIMED = {"lang": "es", "words": "argentine", "players": ("ana", "bot 1", "eva", "bot 2")}


@each_row(
    "turns, game, line",
    [
        (
            (MAY_ORDER, MAY_ORDER._replace(at=2), turn("play 3b", at=3)),
            {},
            "you may type: order a seven|the lowest card, claim east (? explains)",
        ),
        (
            (turn("claim 1", "claim 3", must=False), NEXT),
            CLAIMED,  # whole names
            "podés escribir: pido flor bot 1|bot 2 (? lo explica)",
        ),
        ((turn("play 3b", "order 7", "order low"),), {}, "also: order a seven|the lowest card"),
    ],
)
async def test_moves_without_numbers_are_one_line_and_told_once(turns, game, line) -> None:
    told = await play(FakeTable(*turns), **game)
    assert (told.count(line), "2. " in told) == (1, False)


@each_row(
    "typed, lang, line",
    [
        ("play 7†", "en", "play 7e"),
        ("PLAY 7E", "en", "play 7e"),
        ("truco", "en", "raise 2"),
        ("Jogar 7e", "pt", "play 7e"),
        ("quiero", "en", "accept"),
        ("mandar jugar un siete", "es", "order 7"),
        ("pido flor east", "fr", "claim 1"),
    ],
)
async def test_what_the_screen_shows_is_understood(typed, lang, line) -> None:
    table = FakeTable(turn("play 7e", "raise 2", "accept", "order 7", "order low", "claim 1", "claim 3"))
    await play(table, typed, lang=lang, words="argentine")
    assert table.done == [line]


STATE = {"what": "state", "phase": "hand", "score": [[0, 0, 0], [0, 0, 0]]}


def asking(k: int, what: str = "pause") -> RecordSeen:
    """Return the record by which the person asks for a pause, or for its end."""
    return RecordSeen(k, "act", ({"what": f"{what}_asked", "seat": 0}, {**STATE, "paused": what == "resume"}))


def paused() -> RecordSeen:
    """Return the record by which the match begins to rest."""
    return RecordSeen(1, "rule", ({"what": "ruled", "ruling": "pause"}, {**STATE, "paused": True}))


def going_on() -> RecordSeen:
    """Return the record by which it goes on."""
    return RecordSeen(2, "rule", ({"what": "ruled", "ruling": "resume"}, STATE))


@each_row("terminal", [False, True])
@each_row(
    "happenings, typed, done",
    [
        ((turn("play 7e"),), "pause", "pause"),
        ((), "Pause", "pause"),
        ((paused(),), "Resume", "resume"),
        ((turn("claim"),), "claim", "claim"),
        ((turn("play 3b"),), "claim", "claim the match"),  # where it is no move
        ((turn("play 3b"),), "'come now", "chat come now"),
    ],
)
async def test_word_is_typed_at_any_time(terminal, happenings, typed, done) -> None:
    table = FakeTable(*happenings)
    await play(table, typed, terminal=terminal)
    assert table.done == [done]


@each_row("typed, then, done", [("concede", (), "concede"), ("1", (NEXT,), "play 3b")])
async def test_what_one_may_do_is_done_by_its_line_and_never_by_a_number(typed, then, done) -> None:
    table = FakeTable(turn("concede", must=False), *then)
    await play(table, typed, terminal=True)
    assert table.done == [done]


async def test_pause_of_a_script_waits_for_the_match() -> None:
    table = FakeTable()
    async with sitting(table, None, "pause"):
        before = list(table.done)
        table.send.send_nowait(_started())
        table.send.send_nowait(NEXT)
    assert (before, table.done) == ([], ["pause"])


async def test_refused_pause_is_told_and_the_question_asked_again() -> None:
    table = FakeTable(turn("play 3b"), refusal=ChoiceError("pause: you have asked already"))
    told = await play(table, "pause", "1", terminal=True)
    assert "pause: you have asked already" in told
    assert told.count("or ? for help") == 2
    assert table.done == ["play 3b"]


async def test_script_may_resume_in_a_pause_and_play_on() -> None:
    asked = asking(2, "resume")
    then = {"pause": (asking(1), paused()), "resume": (asked, going_on(), turn("play 3b", at=3))}
    table = FakeTable(turn("play 7e"), then=then)
    await play(table, "pause", "resume", "1")
    assert table.done == ["pause", "resume", "play 3b"]


@each_row("typed", ["1", "?"])
async def test_other_line_in_a_pause_tells_how_to_go_on(typed) -> None:
    table = FakeTable(turn("play 7e"), then={"pause": (paused(),)})
    told = await play(table, "pause", typed)
    assert told.count("To go on, type: resume.") == 2
    assert table.done == ["pause"]


async def test_line_after_the_pause_is_over_waits_for_the_next_question() -> None:
    table = FakeTable(paused(), going_on())
    async with sitting(table) as send:
        send.send_nowait(Typed("1"))
        await trio.testing.wait_all_tasks_blocked()
        table.send.send_nowait(turn("play 3b", at=3))
    assert table.done == ["play 3b"]


async def test_line_typed_too_early_stays_for_whoever_reads_next() -> None:
    _, lines = typing("y")
    table = FakeTable()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Person(table, screen_of()[0], lines).play)
        await trio.testing.wait_all_tasks_blocked()
        table.send.send_nowait(END)
    assert (await lines.receive()).text == "y"


async def test_help_while_it_is_not_ones_turn_names_the_pause() -> None:
    told = await play(FakeTable(), "?", terminal=True)
    assert "You may type: chat TEXT, pause, claim, resign, quit" in told


@each_row("typed", ["?", "? rules", "resign", "play 3b"])
async def test_line_typed_before_the_match_says_when_it_begins(typed) -> None:
    told = await play(FakeTable(), typed, terminal=True, has_begun=False)
    assert "The match begins when every seat is taken and ready." in " ".join(told.split())
    assert "resign" not in told


@each_row(
    "typed, said",
    [
        ("?1", "play 3b: Lay the card on the table"),
        ("? play 3b", "The tricks"),
        ("help envido", "Bet 2 on who has more points of envido"),
        ("? flor", "got 'flor'"),
        ("? trut", "chapter of the rules: Players and cards"),
        ("? signs", "Signs and talk"),
        ("? players", "11 12 in o (oros, coins), c (copas"),
        ("? rules", "Chapters of the rules: Players and cards, The deal"),
        ("? table", "score"),
        ("? resign", "resign: give the match up."),
        ("? claim", "claim: end a match that the other side has left."),
        ("? \x1b[2J", "[2j': expected a move, table"),
    ],
)
async def test_question_mark_explains_a_move_and_its_rule(typed, said) -> None:
    table = FakeTable(turn("play 3b"))
    table.match = match_of(preset_called("truco-argentino", ""))
    assert said in await play(table, typed)
    assert table.done == []


async def test_question_mark_calls_a_move_as_the_screen_does() -> None:
    table = FakeTable(turn("play 3b", "raise 2"))
    table.match = match_of(preset_called("truco-argentino", ""))
    told = await play(table, "? 6", "?", words="argentine")
    assert told.count("truco: Ask to play for more.") == 2


@each_row("typed", ["play Rs", "play rs", "play R♠", "play Ks"])
async def test_card_is_played_by_its_letter_in_the_players_language_too(typed) -> None:
    table = FakeTable(turn("play Ks", "play Qs"))
    shown = await play(table, typed, terminal=True, lang="fr", words="french", pack=("Ks", "Qs", "Js"))
    assert table.done == ["play Ks"]
    assert "R♠" in shown
    assert "K♠" not in shown


@each_row("lang, said", [("en", "this one has 201"), ("ca", "aquest en té 201")])
async def test_chat_that_is_too_long_is_told_in_the_players_language_and_not_sent(lang, said) -> None:
    table = FakeTable()
    assert said in await play(table, "chat " + 201 * "a", "chat " + 200 * "a", terminal=True, lang=lang)
    assert table.done == ["chat " + 200 * "a"]


async def test_person_at_a_plain_terminal_may_talk_at_any_time() -> None:
    table = FakeTable()
    with trio.fail_after(20):
        await Person(table, screen_of()[0], typing("'hello", are_typed=True)[1]).play()
    assert table.done == ["chat hello"]


@each_row(
    "plays_on, options, must, done",
    [
        (True, ("raise 2", "play 7e raise 2", "play 7e", "play 3b"), True, ["play 7e"]),
        (True, ("cover 7e", "blind 1", "blind 2"), True, ["blind 1"]),
        (True, ("accept", "decline"), True, []),  # the server decides these as they are decided everywhere
        (True, ("play 7e",), False, []),
        (False, ("play 7e",), True, []),
    ],
)
def test_first_card_is_played_just_before_the_time_is_over_for_who_wants_it(plays_on, options, must, done):
    clock = trio.testing.MockClock(autojump_threshold=0)
    assert trio.run(played_by, 9.9, plays_on, options, must, clock=clock) == done


async def test_first_card_is_played_three_seconds_before_as_playing_says(autojump_clock) -> None:
    page = (Path(__file__).parents[2] / "docs" / "playing.md").read_text(encoding="utf-8")
    assert "with `--play-on` your own program plays your first card 3 seconds before." in page
    assert await played_by(6.9, True, ("play 7e",), True) == []
    assert await played_by(7.1, True, ("play 7e",), True) == ["play 7e"]


async def played_by(seconds, plays_on, options, must) -> list[str]:
    """Return what is played by a person who types nothing, in a turn of ten seconds."""
    table = FakeTable(turn(*options, must=must)._replace(deadline_ms=10_000))
    with trio.move_on_after(seconds):
        await Person(table, screen_of()[0], typing()[1], plays_on=plays_on).play()
    return table.done


async def test_turn_that_was_decided_in_time_is_not_played_again(autojump_clock) -> None:
    table = FakeTable(turn("play 7e", "play 3b")._replace(deadline_ms=10_000), then={"play 3b": ()})
    with trio.move_on_after(20):
        async with sitting(table, plays_on=True) as send:
            await trio.sleep(5)
            send.send_nowait(Typed("play 3b"))
    assert table.done == ["play 3b"]
