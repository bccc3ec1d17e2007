import re

import pytest
from client.viewed import screen_of, seen, started, view_of
from rows import each_row

from truc_client import (
    ChatSaid,
    Interrupted,
    MatchWaits,
    MoveChoice,
    PartnerCards,
    PhraseSaid,
    RecordSeen,
    SignMade,
    Substituted,
    TableGone,
    YourTurn,
)
from truc_rules import Kind, Score, Seat, Side, preset
from truc_rules.positions.match import (
    ContraflorAsk,
    EnvidoAsk,
    FlorRound,
    LastPointAsk,
    OrderInForce,
    RedealAsk,
    Saying,
    StakeAsk,
)
from truc_terminal.replay_model.board import (
    SeatMemory,
    ShownHand,
    board_of,
    remembered,
    with_partner,
    with_sign,
)
from truc_terminal.replay_model.faces import faces_of
from truc_terminal.screen.drawing import MatchLook
from truc_terminal.screen.questions import find_choice, mistake, option_names
from truc_words import LANGUAGES, Speech, catalogue

PACK = preset("truc-catalan").pack
SPANISH = ("1o", "7e", "3b", "2c")
FRENCH = ("As", "Kc")
TURN = YourTurn(
    9,
    8,
    (
        MoveChoice("play 7e", "play", {}),
        MoveChoice("raise 2", "raise", {"stake": 2, "declined": 1}),
        MoveChoice("cut", "cut", {}),
    ),
    True,
    30_000,
)
STATE = {
    "what": "state",
    "phase": "hand",
    "score": [[0, 0, 3], [1, 0, 5]],
    "dealer": 1,
    "stake": 2,
    "tricks": [0],
}


FOUR = ("north", "east", "south", "west")


def shown(
    *happenings,
    terminal: bool = False,
    players=("north", "east"),
    lang: str = "en",
    words: str = "",
    target=12,
) -> str:
    """Return what a screen prints."""
    screen, out = screen_of(lang, terminal=terminal, width=100)
    screen.show(started(players=players, words=words, target=target))
    for happening in happenings:
        screen.show(happening)
    return out.getvalue()


def stands(*facts, **what) -> RecordSeen:
    """Return a record that leaves the table as it is described."""
    return seen(*facts, view=view_of(**what))


TRUTS = seen(view=view_of()._replace(score=(Score(2, 1), Score(0, 2))))
ASKED = seen({"what": "stake_asked", "seat": 1, "stake": 2})


@each_row(
    "happenings, game, told",
    [
        ((), {}, "A match of truc-catalan begins: "),
        ((TURN,), {"terminal": True}, "play 7†"),
        ((TURN,), {"lang": "es"}, "te toca"),
        ((TURN,), {"lang": "es", "words": "argentine"}, "6. truco (pedir 2; 1 si no quieren)  [raise 2]"),
        ((TURN._replace(deadline_ms=30_000),), {}, "your turn (30 s)"),
        ((TURN._replace(deadline_ms=150_000),), {}, "your turn (2:30)"),
        ((TURN._replace(deadline_ms=60_999),), {}, "your turn (1:00)"),
        ((ChatSaid("TAGTAG", "north", "hello"),), {}, '"north": hello'),
        ((ChatSaid("TAGTAG", "north", "hello"), ChatSaid("OTHER", "North", "no")), {}, '"North" (OTHE): no'),
        ((MatchWaits((1,), None),), {"players": ("north", "[bold]east")}, "[bold]east"),
        ((ASKED,), {"lang": "fr", "words": "catalan"}, "east demande 2 (« truc »)"),
        (
            (stands(stake=2), seen({"what": "stake_asked", "seat": 1, "stake": 4})),
            {"words": "french"},
            "east asks for 4 (“deux de plus ?”)",
        ),
        (
            (stands(points=(8, 21)), TURN),
            {"words": "argentine", "target": 30},
            "north: 8/30 (8 malas); east: 21/30 (6 buenas)",
        ),
        (
            (TRUTS, TURN),
            {"words": "trut", "target": 7},
            "north: 2/7 truts and 1 point; east: 0/7 truts and 2 points",
        ),
        ((stands(tricks=[("0 7e 1 7o", None)]), TURN), {"words": "argentine"}, "tricks        parda"),
        (
            (stands(seats=4, dealer=2, orders=(OrderInForce("low", 1), None)), TURN),
            {"players": FOUR},
            "low (south)",
        ),
        (
            (stands(seats=4, dealer=3), TURN),
            {"players": FOUR, "words": "argentine"},  # rules.md 13b.16
            "captains (pies)  west, south",
        ),
        (
            (stands(seats=4, dealer=3), TURN),  # rules.md 6.1
            {"players": FOUR, "words": "french"},
            "governors  west, north",
        ),
        (
            (stands(seats=4, each=2), PartnerCards(2, ("7e", "3b")), TURN),
            {"players": FOUR},
            "south holds  7e  3b",
        ),
        (
            (PhraseSaid(2, "come"),),
            {"players": FOUR, "lang": "pt", "words": "argentine"},
            "south diz: vení (Jogue a sua carta mais baixa)",
        ),
        (
            (
                stands(offers=(RedealAsk(Seat(1), (Seat(0),)),)),
                TURN._replace(options=(MoveChoice("accept", "accept", {}),)),
            ),
            {"words": "catalan"},
            "4. agree to new cards  [accept]",  # and not to the stake that is asked for
        ),
    ],
)
def test_screen_tells_what_the_game_calls_so(happenings, game, told) -> None:
    assert told in shown(*happenings, **game)


def test_own_cards_score_and_stake_stand_on_the_table() -> None:
    told = shown(stands(cards="7e 3b 1o", points=(3, 5), games=(0, 1), stake=2), TURN)
    assert "cards   7e  3b  1o" in told
    assert "score   north: 3/12; east: 5/12 (1 game)" in told
    assert "stake   2" in told


@each_row(
    "variant, cards, row",
    [
        ("truco-argentino", "7e 6e 1b", "envido 33"),
        ("truco-argentino-flor", "7e 6e 1e", "flor 34"),
        ("truco-argentino-flor", "7e 6e 1b", "envido 33"),
        ("truc-catalan", "7e 6e 1e", None),
    ],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_value_that_one_may_bet_on_stands_on_the_table_whatever_was_played(terminal, variant, cards, row):
    game = preset(variant)
    begun = started(words=game.words)._replace(pack=game.pack, rules=game)
    screen, out = screen_of(terminal=terminal, width=100)
    for played in ("", "0 7e"):
        for happening in (begun, stands(variant=variant, cards=cards, table=played), TURN):
            screen.show(happening)
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    told = [line for line in lines if re.search(r"(envido|flor) \d+$", line)]
    assert len(told) == (2 if row else 0)
    assert all(line.endswith(str(row)) for line in told)


def test_raised_cards_stand_under_the_turn_up() -> None:
    begun = started(words="paulista")._replace(raised={"1o": ("2c", "7e")})
    screen, out = screen_of(width=100)
    for happening in (begun, stands(up="1o"), TURN):
        screen.show(happening)
    assert " ".join(["manilhas", "2c", "7e"]) in " ".join(out.getvalue().split())


def test_names_and_text_of_a_server_cannot_write_to_the_terminal() -> None:
    hostile = Interrupted("\x1b[2Jgone"), TableGone("\x1b]0;title\x07")
    assert "\x1b" not in shown(*hostile, players=("\x1b[2Jnorth", "[bold]east"))


@each_row("lang", LANGUAGES)
@each_row("help_text", ["explain_end", "not_your_turn", "resting"])
def test_help_names_the_chat_in_every_language(lang, help_text) -> None:
    assert f"{catalogue(lang).typed['chat']} TEXT" in catalogue(lang).screen[help_text]


@each_row(
    "happening, said",
    [
        (MatchWaits((1,), None), "waiting for east"),
        (MatchWaits((1,), None, "rekey"), "waiting for a new chain of east"),
        (MatchWaits((1,), None, "sub"), "waiting for somebody to step in for east"),
        (Substituted(1, "[bold]so\x1b[2Juth"), "[bold]so[2Juth plays there from now on"),
        (Interrupted("the connection was lost"), "your seat is kept"),
        (TableGone("expired"), "the table is closed: nobody started it"),
        (TURN._replace(again=True), "Somebody was faster"),
        (seen({"what": "stake_asked", "seat": 1, "stake": 2}), "east asks for 2"),
        (seen({"what": "deal_voided", "seats": [1]}), "not proven"),
    ],
)
def test_happening_is_told(happening, said) -> None:
    assert said in shown(happening)


@each_row(
    "text, expected",
    [
        ("play 7e", ("play 7e", None)),
        ("raise   2", ("raise 2", None)),
        ("cut 12", ("cut", 12)),
        ("cut", ("cut", None)),
        ("1", (None, None)),
        ("\u0661", (None, None)),
        ("1" * 5_000, (None, None)),
        ("cut " + "1" * 5_000, (None, None)),
        ("play 9z", (None, None)),
        ("play 7", ("play 7e", None)),
        ("play 7†", ("play 7e", None)),
        ("jugar 7", ("play 7e", None)),
        ("both", (None, None)),
    ],
)
def test_line_typed_finds_its_option_and_the_name_of_several_none(text, expected) -> None:
    faces = faces_of(SPANISH, Speech("en"), is_plain=False)
    look = MatchLook(("north", "east"), faces, Speech("ca"), 12)
    choice, place = find_choice(
        TURN, text, lambda choice: (*option_names(choice, ShownHand(2, 0), look), "both")
    )
    assert (choice and choice.line, place) == expected


def test_number_of_a_card_that_cannot_be_played_now_is_told_why() -> None:
    look = MatchLook(("north", "east"), faces_of(SPANISH, Speech("en"), is_plain=True), Speech("en"), 12)
    asked = TURN._replace(options=(MoveChoice("accept", "accept", {}),))
    held = ShownHand(2, 0, own=("1o", "7e"))
    told = mistake("2", asked, held, look, {"play 7e": "answer_first"}.get)
    assert told == "got '2': what was asked must be answered first"


def test_help_ends_with_what_is_asked_now_so_that_this_stays_in_sight() -> None:
    screen, out = screen_of(width=100)
    screen.show(started()._replace(signs=("three",)))
    screen.explain(TURN)
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert lines[-1].startswith("cut the pack: ")
    assert any(line.startswith("sign three") for line in lines[:-1])


@each_row(
    "lang, plain, symbols",
    [("fr", "Vs Dh Rd 10c 7s", "V♠ D♥ R♦ 10♣ 7♠"), ("es", "Js Qh Kd 10c 7s", "J♠ Q♥ K♦ 10♣ 7♠")],
)
def test_french_cards_have_the_letters_of_the_players_language(lang, plain, symbols) -> None:
    pack = ("Js", "Qh", "Kd", "10c", "7s")
    shown = [faces_of(pack, Speech(lang), is_plain=is_plain) for is_plain in (True, False)]
    assert [" ".join(map(faces.card, pack)) for faces in shown] == [plain, symbols]


@each_row("lang, score", [("en", "bot 1: 3/12; bot 2: 5/12"), ("fr", "bot 1 : 3/12 ; bot 2 : 5/12")])
def test_score_is_told_apart_from_a_name_that_ends_in_a_digit(lang, score) -> None:
    closed = stands({"what": "hand_closed", "reason": "hand"}, points=(3, 5))
    assert shown(closed, TURN, players=("bot 1", "bot 2"), lang=lang).count(score) == 2


@each_row(
    "record, row",
    [
        (stands(up="1o"), "turn-up (vira)  1o"),
        (stands(table="1 -", leader=1), "east: face down"),
        (stands({"what": "value_said", "seat": 1, "value": 33}), "values          east: 33"),
        (stands(variant="truco-paulista", seats=6, stride=3), "duel    north - west"),
        (stands({"what": "played_blind"}), "cards   nobody has seen them"),
        (stands(offers=(StakeAsk(Seat(1), Side(1), "rest"),)), "stake   1; east asks for the whole game"),
        (stands(dealer=1), "dealer (pé)  east"),
    ],
)
def test_table_shows_what_the_game_has(record, row) -> None:
    players = ("north", "east", "south", "west", "anna", "gaizka")[: record.view.seats]
    told = shown(record, TURN, words="paulista", players=players)
    assert " ".join(row.split()) in " ".join(told.split())


def test_sign_made_or_partners_cards_told_twice_stand_once_on_the_table() -> None:
    memory, cards = SeatMemory(), ("3o", "2o", "1o")
    for _ in range(2):
        memory = with_partner(with_sign(memory, 2, "three"), 2, cards)
    assert (memory.signs, memory.partners) == (((2, "three"),), ((2, cards),))


def test_sign_is_told_and_stands_on_the_table() -> None:
    told = shown(SignMade(2, "three"), TURN, players=FOUR, words="catalan")
    assert "south signs: a three (close one eye)" in told
    assert "signs   south: a three (close one eye)" in told


def test_phrase_said_before_the_match_names_the_seat() -> None:
    screen, out = screen_of(width=100)
    screen.show(PhraseSaid(1, "come"))
    assert "seat 1 says: come (Play your lowest card)" in out.getvalue()


def test_substitute_is_called_by_its_name_from_then_on() -> None:
    played = seen({"what": "card_played", "seat": 0, "card": "7e"})
    assert "south" in shown(Substituted(0, "south"), played).splitlines()[-1]


ASK = StakeAsk(Seat(1), Side(1), 2)
ENVIDO = EnvidoAsk(Seat(1), Side(1), (Kind.ENVIDO,))


@each_row(
    "offers, pending",
    [
        ((), ""),
        ((RedealAsk(Seat(1), (Seat(0),)),), "redeal"),
        ((LastPointAsk(Side(0), 2, 1),), "last-point"),
        ((ASK,), "stake"),
        ((ASK, ENVIDO), "envido"),
        ((ASK, Saying(Kind.ENVIDO, (2, 2), (Seat(0),), (), (), ())), "stake"),
        ((ASK, FlorRound((Seat(0),))), "stake"),
        ((ContraflorAsk(Seat(1), Side(1), Kind.CONTRAFLOR),), "flor"),
    ],
)
def test_answer_is_to_the_newest_open_offer(offers, pending) -> None:
    assert board_of(view_of(offers=offers), PACK).answering == pending


def test_end_of_the_hand_clears_what_is_remembered_of_it() -> None:
    memory = with_sign(with_partner(SeatMemory(own=("7e",)), 2, ("7e",)), 2, "three")
    for fact in (
        {"what": "value_said", "seat": 1, "value": 33},
        {"what": "cards_opened", "seat": 1, "cards": ["1o"]},
        {"what": "played_blind"},
        {"what": "hand_closed", "reason": "hand"},
    ):
        memory = remembered(memory, fact)
    assert memory == SeatMemory()


def test_duel_begins_with_no_values_said() -> None:
    begun = {"what": "duel_begun", "seat": 1, "opponent": 4}
    assert remembered(SeatMemory(values=((0, 33),)), begun).values == ()


ACCEPTED = {"what": "envido_accepted", "seat": 1, "points": 1}


@each_row(
    "fact, is_least, is_said",
    [(ACCEPTED, True, True), (ACCEPTED, False, False), ({"what": "stood", "seat": 1}, True, False)],
)
def test_points_that_an_open_claim_may_change_are_told_as_the_least(fact, is_least, is_said) -> None:
    told = shown(started(), RecordSeen(3, "act", (fact, STATE), is_least))
    assert ("these points are a minimum" in told) == is_said
