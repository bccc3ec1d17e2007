"""What a beginner is told, by the table they see."""

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console

from truc_client.course.board import Board, Laid
from truc_client.course.faces import faces_of
from truc_client.happenings import Choice, MatchStarted, RecordSeen, YourTurn
from truc_client.terminal.drawing import Setting
from truc_client.terminal.lessons import Teacher, suggestion
from truc_client.terminal.screen import Screen
from truc_protocol.card_order import order_line, stronger
from truc_protocol.rules_page import games
from truc_protocol.words import LANGUAGES, Speech
from truc_rules import preset

CATALAN = stronger(preset("truc-catalan"))
PLAYS = ("play 3o", "play 1c", "play 4b", "raise 2")
ANSWERS = ("accept", "decline")


def turn(*lines: str) -> YourTurn:
    return YourTurn(0, 0, tuple(Choice(line, line.split()[0], {}) for line in lines), True, None)


def setting(game: str = "truc-catalan", seats: int = 2, lang: str = "en") -> Setting:
    variant = preset(game)
    names = ("north", "east", "south", "west")[:seats]
    return Setting(names, faces_of(variant.pack, is_plain=True), Speech(lang, variant.words), 12)


def taught(board: Board, *lines: str) -> list[str]:
    return [*Teacher("truc-catalan")(turn(*lines), board, setting(seats=board.seats))][2:]


def suggested(board: Board, *lines: str) -> str | None:
    found = suggestion(turn(*lines).options, board, CATALAN)
    return found and found.line


def test_cards_are_counted_by_how_many_are_stronger() -> None:
    assert (CATALAN["3o"], CATALAN["2c"], CATALAN["4b"]) == (0, 4, 36)


def test_card_named_by_itself_does_not_count_with_its_rank() -> None:
    argentine = stronger(preset("truco-argentino"))
    assert (argentine["1e"], argentine["7o"], argentine["7c"]) == (0, 3, 26)


def test_turned_up_card_makes_the_next_rank_the_strongest() -> None:
    paulista = stronger(preset("truco-paulista"), "Ks")
    assert [paulista[card] for card in ("Ac", "Ah", "As", "Ad", "3c")] == [0, 1, 2, 3, 4]


def test_order_is_told_from_strong_to_weak() -> None:
    assert order_line(preset("truc-catalan")) == "3, 2, 1, 12, 11, 10, 7, 6, 5, 4"


def test_option_tells_what_a_card_does_to_the_trick() -> None:
    board = Board(2, 0, laid=(Laid(1, "1e"),))
    assert taught(board, *PLAYS) == [
        "1. 3o beats 1e of east and takes the trick as it stands.",
        "2. 1c is as strong as 1e of east: the trick would be tied.",
        "3. 4b does not beat 1e of east.",
        "4. Ask to play for more. Declining it gives the hand away at the old stake.",
        "Suggestion: 1 (play 3o)",
    ]


def test_card_that_leads_is_told_with_how_many_beat_it() -> None:
    assert taught(Board(2, 0), "play 2c")[0] == "1. 2c leads the trick; stronger cards in the pack: 4 of 40."


def test_card_beside_that_of_a_partner_is_told_as_such() -> None:
    board = Board(4, 2, laid=(Laid(0, "2e"), Laid(1, "4c")))
    told = taught(board, "play 1c", "play 7o")
    assert told[0] == "1. 1c adds nothing: 2e of north, your partner, has the trick as it stands."


def test_options_of_one_meaning_are_told_as_one() -> None:
    told = taught(Board(2, 0), "raise 2", "play 2c", "play 2c raise 2")
    assert told[0].startswith("1, 3. Ask to play for more.")


@pytest.mark.parametrize(
    ("board", "lines", "move"),
    [
        (Board(2, 0), PLAYS, "play 3o"),
        (Board(2, 0, laid=(Laid(1, "7e"),)), PLAYS, "play 1c"),
        (Board(2, 0, laid=(Laid(1, "3e"),)), PLAYS, "play 4b"),
        (Board(4, 0, laid=(Laid(2, "2e"), Laid(3, "4e"))), PLAYS, "play 4b"),
        (Board(2, 0, laid=(Laid(1, None),)), PLAYS, "play 3o"),
        (Board(2, 0, cards=("3o", "4b"), offers=({"what": "stake_asked"},)), ANSWERS, "accept"),
        (Board(2, 0, cards=("5o", "4b"), offers=({"what": "stake_asked"},)), ANSWERS, "decline"),
        (Board(2, 0, cards=("5o", "4b"), offers=({"what": "envido_called"},)), ANSWERS, None),
        (Board(2, 0), ("cut", "tap"), None),
    ],
    ids=["leads", "cheapest", "none wins", "partner's", "face down", "strong", "weak", "envido", "cut"],
)
def test_suggestion_is_a_beginners(board, lines, move) -> None:
    assert suggested(board, *lines) == move


def test_what_holds_in_every_hand_is_told_once() -> None:
    teacher, bound = Teacher("truc-catalan"), {"what": "hands_committed", "digests": ()}
    assert [len([*teacher(bound, Board(2, 0), setting())]) for _ in range(2)] == [1, 0]


def test_symbols_of_the_suits_are_told_once_where_they_are_shown() -> None:
    teacher, plain = Teacher("truc-catalan"), setting()
    shown = plain._replace(faces=plain.faces._replace(is_plain=False))
    told = [[*teacher(turn("cut"), Board(2, 0), at)] for at in (plain, shown, shown)]
    assert ["◉ coins (o), ◡ cups (c), † swords (e), ♣ batons (b)" in lines for lines in told] == [
        False,
        True,
        False,
    ]


def test_won_trick_is_told_with_the_card_that_took_it() -> None:
    board = Board(2, 0, laid=(Laid(1, "1e"), Laid(0, "3o")))
    won = {"what": "trick_won", "side": 0, "leader": 0}
    assert [*Teacher("truc-catalan")(won, board, setting())] == [
        "3o of north is the strongest card on the table."
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_first_turn_of_every_game_is_taught_in_every_language(lang) -> None:
    for game in games():
        told = [*Teacher(game)(turn(f"play {preset(game).pack[0]}"), Board(2, 0), setting(game, lang=lang))]
        assert len(told) == 4, game
        assert order_line(preset(game)) in told[1], game


def test_lesson_stands_under_what_it_is_about() -> None:
    file = io.StringIO()
    screen = Screen(Console(file=file), teach=Teacher("truc-catalan"))
    pack = preset("truc-catalan").pack
    screen.show(MatchStarted(bytes(32), "truc-catalan", pack, ("north", "east"), 0, "A", None))
    played = (
        {"what": "card_played", "seat": 1, "card": "1e"},
        {"what": "card_played", "seat": 0, "card": "3o"},
    )
    screen.show(RecordSeen(1, "act", (*played, {"what": "trick_won", "side": 0, "leader": 0})))
    assert file.getvalue().splitlines()[-2:] == [
        "  the trick goes to north; north leads",
        "  > 3o of north is the strongest card on the table.",
    ]


@pytest.mark.slow
def test_demo_teaches_while_it_is_played(tmp_path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "truc_client", "demo", "--teach", "--variant", "truc-french"],
        env={**os.environ, "TRUC_HOME": str(tmp_path), "LC_ALL": "en_US.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert "  > The server has just bound itself to every card of this hand." in told.stdout
    assert "  > Suggestion: " in told.stdout
