"""The options of a decision: their order, their keys, and those among which is asked once more."""

import random

from client.faked import FakeTable, turn
from client.test_person import play
from client.viewed import view_of
from rows import each_row
from rules.chance import random_hand

from truc_client.happenings import MoveChoice, YourTurn
from truc_rules import KINDS, Seat, deciders, described, legal, preset, presets, view
from truc_terminal.replay_model.board import ShownHand, board_of
from truc_terminal.replay_model.faces import faces_of
from truc_terminal.screen.drawing import MatchLook
from truc_terminal.screen.menu import menu
from truc_terminal.screen.person import QUIT, TALK
from truc_terminal.screen.questions import option_names
from truc_words import LANGUAGES, Speech, catalogue, with_english_command

HAND = board_of(view_of(cards="7e 3b 1o"), preset("truc-catalan").pack)
PLAYS = ("play 7e", "play 3b", "play 1o")
WITH_ASK = tuple(f"{line} raise 2" for line in PLAYS)


def keys(*lines: str, board: ShownHand = HAND) -> list[str]:
    """Return the keys of options, each before its moves."""
    return [
        f"{option.key}: {', '.join(choice.line for choice in option.choices)}"
        for option in menu(turn(*lines), board)
    ]


@each_row(
    "lines, expected",
    [
        (("raise 2", "concede", *PLAYS), "1: play 7e; 2: play 3b; 3: play 1o; 6: raise 2; 0: concede"),
        (("raise 2", "play 1o"), "3: play 1o; 6: raise 2"),
        (("accept", "raise 3", "decline"), "4: accept; 5: decline; 6: raise 3"),
        (
            ("raise 2", *WITH_ASK[1:], *PLAYS[1:]),
            "2: play 3b; 3: play 1o; 6: raise 2; 7: play 3b raise 2, play 1o raise 2",
        ),
        (WITH_ASK, "1: play 7e raise 2; 2: play 3b raise 2; 3: play 1o raise 2"),
        (("cover 3b", "cover 1o", "play 3b"), "2: play 3b; 7: cover 3b, cover 1o"),
        (("raise 4", "raise rest", "play 3b"), "2: play 3b; 6: raise 4; 18: raise rest"),
        (
            ("raise 2", "raise 3", "raise 4", "raise 5", "play 3b"),
            "2: play 3b; 6: raise 2, raise 3, raise 4, raise 5",
        ),
        (("raise 4", "raise 5", "raise 7", "raise 9"), "4: raise 4; 5: raise 5; 7: raise 7; 9: raise 9"),
        (("points 27", "good", "silent"), "10: points 27; 11: good; 12: silent"),
        (("order 7", "play 3b"), "2: play 3b"),
        (("cut", "tap"), "1: cut; 2: tap"),
    ],
)
def test_plays_come_first_and_giving_up_last_and_moves_that_are_alike_have_one_key(lines, expected) -> None:
    assert "; ".join(keys(*lines)) == expected


@each_row("variant", [*presets()])
def test_key_means_the_same_as_long_as_a_hand_lasts(variant) -> None:
    game, chance = preset(variant), random.Random(variant)
    for seats in game.players:
        for _ in range(3):
            meant: dict[tuple[Seat, str], str] = {}
            for step in random_hand(game, seats, chance):
                for seat in deciders(step.after):
                    for option in _menu(step.after, seat):
                        kind, rest = option.choices[0].line.partition(" ")[::2]
                        is_one = len(option.choices) == 1 and (kind == "play" or rest == "rest")
                        what = option.choices[0].line if is_one else kind
                        assert meant.setdefault((seat, option.key), what) == what


def _menu(match, seat):
    seen = view(match, seat)
    if not seen.cards:
        return ()
    options = (MoveChoice(line, line.split()[0], {}) for line, _ in described(match, legal(match, seat)))
    return menu(YourTurn(0, 0, tuple(options), True, None), board_of(seen, match.variant.pack))


BESIDE = ("pause", "resume", "resign")  # moves of the catalogues that are commands
VALUES = {
    "order": ("A", "1", "7", "10", "12", "K", "low", "high", "leave"),
    "claim": ("1", "3"),
    "points": ("0", "20", "33"),
    "deal": ("1", "3"),
    "raise": ("2", "3", "4", "6", "9", "10", "12", "trut", "rest"),
}


def lines_of(pack: tuple[str, ...]) -> list[str]:
    """Return a move line of every kind and value, and of every card."""
    kinds = {move.split("-")[0] if move.startswith(("accept-", "decline-")) else move for move in KINDS}
    alone = [f"{kind} {value}".rstrip() for kind in kinds - {*BESIDE} for value in VALUES.get(kind, ("",))]
    return [*alone, *(f"{kind} {card}" for kind in ("play", "cover", "show") for card in pack)]


@each_row("lang", LANGUAGES)
@each_row("words, pack", sorted({(preset(name).words, preset(name).pack) for name in presets()}))
def test_no_word_for_a_command_is_a_name_of_a_move(lang, words, pack) -> None:
    speech, board = Speech(lang, words), ShownHand(4, 0)
    faces = faces_of(pack, speech, is_plain=False)
    look = MatchLook(("north", "east", "south", "west"), faces, speech, 12)
    choices = [MoveChoice(line, line.split()[0], {}) for line in lines_of(pack)]
    names = {name for each in choices for name in (each.line, *option_names(each, board, look))}
    assert {name for name in names if with_english_command(name, speech) != name} == set()
    assert {*catalogue("en").typed, *QUIT, "h"} & names <= {"claim"}
    assert not [name for name in names if name.partition(" ")[0] in (*TALK, "help", "h")]
    typed = [with_english_command(word, speech) for word in speech.catalogue.typed.values()]
    assert typed == [*speech.catalogue.typed]


@each_row(
    "typed, done, asked",
    [
        (("7", "2"), ["play 3b raise 2"], 1),
        (("7", "", "2"), ["play 3b"], 1),
        (("7", "7", "1"), ["play 7e raise 2"], 2),
        (("7", "raise 2"), ["raise 2"], 1),
        (("7", "?", "1"), ["play 7e"], 1),  # a line about something else leaves the question
    ],
)
async def test_play_with_an_ask_asks_once_more_for_the_card(typed, done, asked) -> None:
    table = FakeTable(turn(*PLAYS, "raise 2", *WITH_ASK))
    told = await play(table, *typed)
    assert (table.done, told.count("Which one?")) == (done, asked)
    assert "7. play ...: truc (ask for 2)  [play 7e raise 2|3b raise 2|1o raise 2]" in told
