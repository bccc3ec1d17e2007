"""What a beginner is told, by the table they see."""

import os
import re
import sys
from types import SimpleNamespace

import pytest
import trio
from client.faked import match_of, turn
from client.playing import homes
from client.running import run, truc
from client.viewed import screen_of, started, view_of
from rows import each_row

from truc_bots import OptionResult
from truc_client import careful, connect, play_match
from truc_client.happenings import RecordSeen
from truc_rules import preset, presets
from truc_terminal.replay_model.board import LaidCard, LaidTrick, ShownHand
from truc_terminal.replay_model.faces import faces_of
from truc_terminal.screen.drawing import MatchLook
from truc_terminal.screen.lessons import Teacher, teaching_at
from truc_terminal.styles import Advice
from truc_words import LANGUAGES, Speech
from truc_words.house_variants import read_variant
from truc_words.primer import Primer

PLAYS = ("play 3o", "play 1c", "play 4b", "raise 2")
OWN = (
    'name = "club-truc"\nversion = 1\nbase = "truc-french"\nmatch = 3\n'
    'order = ["A", "K", "Q", "J", "10", "9", "8", "7"]\n[scoring]\ntarget = 3\n'
)


def look(game: str = "truc-catalan", seats: int = 2, lang: str = "en") -> MatchLook:
    variant = preset(game)
    names = ("north", "east", "south", "west")[:seats]
    return MatchLook(
        names, faces_of(variant.pack, Speech(lang), is_plain=True), Speech(lang, variant.words), 12
    )


class Lessons:
    """A teacher whose match has begun, and what it says of it and of what comes then."""

    def __init__(self, primer: Primer | str = "truc-catalan", at: MatchLook | None = None) -> None:
        if isinstance(primer, str):
            at, primer = at or look(primer), Primer(preset(primer))
        self.teacher, self.look = Teacher(primer), at or look()
        self.first = self.of(started(), ShownHand(0, None))

    def of(self, taught, board=None) -> list[str]:
        return [*self.teacher(taught, board or ShownHand(2, 0), self.look)]


def taught(board: ShownHand, *lines: str) -> list[str]:
    return Lessons(at=look(seats=board.seats)).of(turn(*lines), board)


def test_game_is_told_once_when_the_match_begins_in_its_own_units() -> None:
    lessons = Lessons("truc-french")
    assert lessons.first[1:] == [
        "The first side to reach 12 points wins the game.",
        "The match is the best of 3 games.",
        "The cards from strong to weak: 7, 8, A, K, Q, J, 10, 9.",
    ]
    assert lessons.of(started()) == []
    assert Lessons("trut").first[1] == "The first side to reach 7 truts wins the game."


def test_game_of_a_house_is_taught_by_its_own_rules() -> None:
    lessons = Lessons(Primer(read_variant(OWN, "own.toml")), look("truc-french"))
    assert lessons.first[1:] == [
        "The first side to reach 3 points wins the game.",
        "The match is the best of 3 games.",
        "The cards from strong to weak: A, K, Q, J, 10, 9, 8, 7.",
    ]
    assert lessons.of(turn("play 7s")) == ["1. 7s leads the trick; stronger cards in the pack: 28 of 32."]


def test_game_is_told_first_to_who_comes_in_the_middle_of_a_match() -> None:
    teacher = Teacher(Primer(preset("truc-catalan")))
    told = [*teacher({"what": "trick_tied"}, ShownHand(2, 0), look())]
    assert told[1] == "The first side to reach 12 points wins the game."
    assert told[-1].startswith("The best cards of both sides are equally strong")


def test_lessons_of_a_table_are_of_its_match_and_none_where_there_is_none() -> None:
    teach = teaching_at(at := SimpleNamespace(match=None))
    assert teach(started(), ShownHand(2, 0), look()) == ()
    at.match = match_of(read_variant(OWN, "own.toml"))
    told = [*teach(started(), ShownHand(2, 0), look("truc-french"))]
    at.match = None
    assert told[1] == "The first side to reach 3 points wins the game."
    assert [*teach(started(), ShownHand(2, 0), look("truc-french"))] == []


def test_option_tells_what_a_card_does_to_the_trick() -> None:
    board = ShownHand(2, 0, laid=(LaidCard(1, "1e"),))
    assert taught(board, *PLAYS) == [
        "1. 3o beats 1e of east and takes the trick as it stands.",
        "2. 1c is as strong as 1e of east: the trick would be tied.",
        "3. 4b does not beat 1e of east.",
        "6. Ask to play for more. Declining it gives the hand away at the old stake.",
    ]
    (led,) = taught(ShownHand(2, 0), "play 2c")
    assert led == "1. 2c leads the trick; stronger cards in the pack: 4 of 40."


@each_row(
    "card, lesson",
    [
        ("1c", "1. 1c adds nothing: 2e of north, your partner, has the trick as it stands."),
        ("3c", "1. 3c beats even 2e of north, your partner, who has the trick as it stands."),
    ],
)
def test_card_beside_that_of_a_partner_is_told_as_such(card, lesson) -> None:
    board = ShownHand(4, 2, laid=(LaidCard(0, "2e"), LaidCard(1, "4c")))
    assert taught(board, f"play {card}", "play 7o")[0] == lesson


def test_options_of_one_meaning_are_told_as_one() -> None:
    told = taught(ShownHand(2, 0), "play 2c", "raise 2", "play 2c raise 2")
    assert told[1].startswith("6, 7. Ask to play for more.")


def test_what_a_move_means_and_what_holds_in_every_hand_is_told_the_first_time() -> None:
    lessons, bound = Lessons(), {"what": "hands_committed", "digests": ()}
    assert [len(lessons.of(bound)) for _ in range(2)] == [1, 0]
    told = [lessons.of(turn("raise 2", "play 2c")) for _ in range(2)]
    assert [len(lines) for lines in told] == [2, 1]
    assert told[1][0].startswith("1. 2c leads the trick")


def test_envido_is_told_once_and_what_ones_cards_count_in_every_hand() -> None:
    lessons = Lessons("truco-argentino")
    told = [
        lessons.of(turn("envido", "play 7e"), ShownHand(2, 0, own=cards))
        for cards in (("7e", "6e", "1b"), ("7e", "6e", "1b"), ("7e", "12e", "1b"), ("7e", "12o", "1b"))
    ]
    assert told[0][0].startswith("Envido: two cards of one suit count 20 and their numbers")
    assert told[0][1] == "Your points of envido: 33."
    assert [lines[0] for lines in told[1:]] == [
        "1. 7e leads the trick; stronger cards in the pack: 2 of 40.",
        "Your points of envido: 27.",
        "Your points of envido: 7.",
    ]


def advice(*tried: OptionResult, lines: tuple[str, ...] = PLAYS) -> Advice:
    asked = turn(*lines)
    return Advice(asked, tuple(zip(asked.options, tried, strict=False)))


HOLDING = ShownHand(2, 0, held=(("3o", "1c", "4b"), ()))


@each_row(
    "tried, lines, lang, told",
    [
        (
            (OptionResult(50, 0.6, 31, 0.84, False), OptionResult(50, 0.5, 20, -0.96, False)),
            PLAYS,
            "en",
            "Suggestion: 1 (play 3o). In 31 of 50 imagined hands you come out ahead; points on average: +0.8. "
            "It is your strongest card: whoever has the first trick has it easier with the others.\n"
            "Next best: 2 (play 1c). In 20 of 50 imagined hands you come out ahead; points on average: -1.",
        ),
        (
            (OptionResult(50, 0.4, 0, -1, True), OptionResult(50, 0.3, 0, -1.5, False)),
            ("decline", "accept", "raise 3"),
            "en",  # what it costs in any case is certain
            "Suggestion: 5 (no vull). Points, whatever the cards: -1.",
        ),
        (
            (OptionResult(50, 0.9, 40, 0.8, False), OptionResult(50, 0.8, 30, 1.2, False)),
            PLAYS,
            "en",
            "The suggestion brings fewer points, but",
        ),  # it fits the score
        (
            (OptionResult(50, 0.61, 28, 0.8, False), OptionResult(50, 0.6, 30, 0.8, False)),
            PLAYS,
            "en",
            "There is little between the two.",
        ),  # it wins less often at the same average
        (
            (OptionResult(50, 0.7, 28, 0.8, False), OptionResult(50, 0.6, 30, 0.8, False)),
            PLAYS,
            "en",
            "The suggestion wins fewer hands, but",
        ),
        (
            (OptionResult(50, 0.6, 31, 0.84, False), OptionResult(50, 0.5, 20, 0.02, False)),
            PLAYS,
            "ca",
            ": +0,8. És la teva",
        ),
        (
            (OptionResult(9, 0.6, 5, 0.4, False), OptionResult(9, 0.5, 5, 0.3, False)),
            ("order 7", "play 3o"),
            "en",
            "Suggestion: order a seven",
        ),  # an option without a number has its name
    ],
)
def test_suggestion_is_told_with_how_it_fared_beside_the_next_best(tried, lines, lang, told) -> None:
    lessons = Lessons(at=look(lang=lang))
    assert told in "\n".join(lessons.of(advice(*tried, lines=lines), HOLDING))


def at_stake(*cards: str, offer: str = "stake_asked", **more) -> ShownHand:
    """Return a table at which these cards are held and an offer of the other side waits."""
    return ShownHand(2, 0, own=cards, held=(cards, (None,) * 3), offers=({"what": offer},), **more)


TAKEN = LaidTrick((LaidCard(0, "2o"), LaidCard(1, "1e")), is_over=True, side=0, best=0)


@each_row(
    "lines, board, lang, reason",
    [
        (("envido",), at_stake("7e", "2e", "1b"), "en", "Your envido of 29 beats about 87 of 100 hands."),
        (
            ("accept",),
            at_stake("7e", "2e", "1b", offer="envido_called"),
            "es",
            "Tu envido de 29 gana a unas 87 de",
        ),
        (
            ("decline",),
            at_stake("4e", "5o", "1b", offer="envido_called"),
            "pt",
            "O seu envido de 5 vence umas 14 de cada",
        ),
        (("flor",), at_stake("7e", "2e", "1e"), "en", "Your flor of 30 beats about 63 of 100 flores."),
        (("contraflor",), at_stake("7e", "6e", "5e"), "ca", "La teva flor de 38 guanya unes 99 de"),
        (
            ("decline",),
            at_stake("4e", "11e", "1e", offer="contraflor_called"),
            "es",
            "Tu flor de 25 gana a unas",
        ),
        (
            ("accept",),
            at_stake("1e", "4o", "5c"),
            "en",
            "Nothing that is still out beats or ties your 1e: one trick is yours.",
        ),
        (("raise 2",), at_stake("1e", "1b", "5c"), "fr", "ni n'égale 1e 1b : chacune vaut un pli."),
        (
            ("accept",),
            at_stake("1b", "4o", tricks=(TAKEN,)),
            "ca",  # the card above lies on the table already
            "Res del que falta per sortir no guanya ni empata 1b: una basa és teva. "
            "El teu bàndol ja té una basa i només en necessita una altra.",
        ),
        (  # it still takes this trick
            *(("accept",), at_stake("1b", laid=(LaidCard(1, "1e"),)), "en"),
            "points on average: +0.8.\n",
        ),
        (
            ("decline",),
            at_stake("4e", "5o", "6c"),
            "en",
            "too weak for the stake that they ask for. Stronger than your best card, 6c: 28 of the 37",
        ),
        (("accept",), at_stake("1e", offer="redeal_proposed"), "en", "points on average: +0.8.\n"),
    ],
)
def test_bet_and_answer_are_suggested_for_a_reason_in_the_games_terms(lines, board, lang, reason) -> None:
    lessons = Lessons("truco-argentino-flor", look("truco-argentino-flor", lang=lang))
    tried = (OptionResult(50, 0.6, 31, 0.84, False), OptionResult(50, 0.5, 20, -0.96, False))
    assert reason in "\n".join(lessons.of(advice(*tried, lines=(*lines, "play 4e")), board))


@each_row(
    "given, board", [(advice(), HOLDING), (advice(OptionResult(9, 0.6, 5, 0.4, False)), ShownHand(2, 0))]
)
def test_nothing_is_suggested_where_there_is_nothing_to_compare_or_no_card_yet(given, board) -> None:
    assert Lessons().of(given, board) == []


def test_symbols_of_the_suits_are_told_where_they_are_shown() -> None:
    plain = look()
    shown = plain._replace(faces=plain.faces._replace(is_plain=False))
    legend = "◉ coins (o), ◡ cups (c), † swords (e), ♣ batons (b)"
    assert [legend in Lessons(at=at).first for at in (plain, shown)] == [False, True]


def test_won_trick_is_told_with_the_card_that_took_it() -> None:
    board = ShownHand(2, 0, tricks=(LaidTrick((LaidCard(1, "1e"), LaidCard(0, "3o"))),))
    won = {"what": "trick_won", "side": 0, "leader": 0}
    assert Lessons().of(won, board) == ["3o of north is the strongest card on the table."]


@each_row("lang", LANGUAGES)
def test_every_game_is_taught_in_every_language(lang) -> None:
    for game in presets():
        lessons = Lessons(game, look(game, lang=lang))
        assert Primer(preset(game)).order in lessons.first[-1], game
        assert len(lessons.of(turn(f"play {preset(game).pack[0]}"))) == 1, game


def test_lesson_stands_under_what_it_is_about() -> None:
    screen, out = screen_of()
    screen.teach = Teacher(Primer(preset("truc-catalan")))
    screen.show(started())
    played = (
        {"what": "card_played", "seat": 1, "card": "1e"},
        {"what": "card_played", "seat": 0, "card": "3o"},
    )
    facts = (*played, {"what": "trick_won", "side": 0, "leader": 0})
    screen.show(RecordSeen(1, "act", facts, view=view_of(tricks=[("1 1e 0 3o", 0)])))
    assert out.getvalue().splitlines()[-2:] == [
        "  the trick goes to north; north leads",
        "  > 3o of north is the strongest card on the table.",
    ]


@pytest.mark.slow
def test_demo_without_a_terminal_teaches_the_game_of_a_file_and_keeps_a_proven_transcript(tmp_path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    command = ("demo", "--teach", "--variant", "own.toml", "--style", "careful")
    told = run(tmp_path / "home", *command, cwd=tmp_path, LC_ALL="en_US.UTF-8")
    assert (told.returncode, told.stderr) == (0, "")
    assert "A match of club-truc begins" in told.stdout
    assert "  > The cards from strong to weak: A, K, Q, J, 10, 9, 8, 7." in told.stdout
    assert "  > The server has just bound itself to every card of this hand." in told.stdout
    assert "Verified from the file alone: PROVEN" in told.stdout
    (kept,) = (tmp_path / "home" / "transcripts").iterdir()
    assert truc("verify", kept).exit_code == 0


@pytest.mark.slow
async def test_who_plays_others_is_taught_without_suggestions(real_server, tmp_path) -> None:
    (opponent,) = homes(tmp_path, False)
    told = b""

    async def leave_at_the_first_question(code: str) -> None:
        nonlocal told
        command = [sys.executable, "-m", "truc_terminal", "play", real_server.url, "--table", code, "--teach"]
        environment = {**os.environ, "TRUC_HOME": str(tmp_path / "home"), "LC_ALL": "en_US.UTF-8"}
        told = (await trio.run_process(command, stdin=b"", env=environment, capture_stdout=True)).stdout
        nursery.cancel_scope.cancel()

    with trio.fail_after(60):
        async with connect(real_server.url, opponent) as connection, trio.open_nursery() as nursery:
            table = await connection.create("truc-french", seats=2, private=True)
            nursery.start_soon(leave_at_the_first_question, table.code)
            await table.ready()
            await play_match(table, careful(1))
    assert b"  > The cards from strong to weak: 7, 8, A, K, Q, J, 10, 9." in told
    assert re.search(rb"  > \d", told)
    assert b"Suggestion" not in told
    assert b"To come back: truc play" in told
