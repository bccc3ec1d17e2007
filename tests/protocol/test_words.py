"""What moves, signs, names and scores are called."""

import re
from pathlib import Path

from rows import each_row

from truc_rules import Kind, preset, presets
from truc_words import (
    LANGUAGES,
    Speech,
    catalogue,
    move_label,
    move_meaning,
    own_label,
    phrase_label,
    score_label,
    shown_name,
    side_name,
    sign_label,
    time_label,
    typed_name,
    typed_word,
)

PLAYERS = ("north", "east", "south", "west")
HOUSE = "the words of a house"
ASKED = {"stake": 2, "declined": 1}


def called(line: str, lang: str, words: str, answering: str = "", **hints) -> str:
    return move_label(line, hints, str, Speech(lang, words), answering=answering)


@each_row(
    "line, hints, label",
    [
        ("play 7e", {}, "play 7e"),
        ("play 7e", {"stake": 2}, "play 7e (the hand is worth 2)"),
        ("play 7e raise 2", {"stake": 2, "declined": 1}, "play 7e and ask for 2 (worth 1 if they decline)"),
        ("raise 3", {"stake": 3, "declined": 2}, "ask for 3 (worth 2 if they decline)"),
        ("raise rest", {}, "ask for the whole game"),
        ("raise trut", {}, "ask for 1 unit"),
        ("accept", {"stake": "game"}, "accept (the hand is worth the whole game)"),
        ("accept", {"points": 4}, "accept (worth 4)"),
        ("decline", {"loses": 1}, "decline (they score 1)"),
        ("envido", {"points": 4, "declined": 2}, "bet 2 on envido (worth 4; worth 2 if they decline)"),
        ("envido", {"points": 2, "declined": 1}, "bet 2 on envido (worth 1 if they decline)"),
        ("raise rest", {"stake": "game", "declined": 1}, "ask for the whole game (worth 1 if they decline)"),
        ("raise rest", {"stake": "game"}, "take it: play for the whole game"),
        ("deal 3", {"cards": 3}, "deal 3 each"),
        ("cut", {}, "cut the pack"),
        ("cover 7e", {}, "play 7e face down"),
        ("show 7e 6e", {}, "show 7e 6e"),
        ("points 33", {}, "declare 33"),
        ("claim 1", {}, "claim that seat 1 kept a flor quiet"),
        ("order 7", {}, "order a seven"),
        ("order A", {}, "order an ace"),
        ("order Z", {}, "order Z"),
        ("order leave", {}, "order to leave the trick"),
    ],
)
def test_move_is_labelled(line, hints, label) -> None:
    assert move_label(line, hints) == label


@each_row(
    "words, line, answering, own",
    [
        ("explained", "raise 4", "", "4 if I play?"),
        ("french", "accept", "rest", "mon reste"),
        ("argentine", "accept", "envido", "quiero"),
        ("argentine", "accept", "flor", "con flor quiero"),
        ("argentine", "decline", "envido", "no quiero"),
        ("argentine", "decline", "flor", "con flor me achico"),
        ("argentine", "flor-fold", "", "con flor me achico"),
        ("argentine", "contraflor-rest", "", "contraflor al resto"),
        ("argentine", "claim 1", "", "pido flor"),
        ("argentine", "play 7e", "", "jugar 7e"),
        ("gauderio", "decline", "flor", "com flor me achico"),
        ("gauderio", "raise 4", "", "vale quatro"),
        ("mineiro", "decline", "last-point", "corro"),
        ("mineiro", "raise 9", "", "nove"),
        ("mineiro", "raise 12", "", "doze"),
        ("mineiro", "raise 4", "", "truco"),
        # rules.md 18.10, 19.10
        ("valencian", "raise rest", "", "joc fora"),
        ("valencian", "envido", "", "envide"),
        ("valencian", "envido", "envido", "torne"),
        ("venezuelan", "raise 9", "", "vale nueve"),
        ("venezuelan", "raise rest", "", "vale juego"),
        ("venezuelan", "envido", "envido", "quiero y envido"),
        ("uruguayan", "envido", "envido", "envido"),
    ],
)
def test_game_calls_its_move_by_its_own_word(words, line, answering, own) -> None:
    assert own_label(line, Speech("en", words), answering=answering) == own


@each_row(
    "line, lang, words, hints, label",
    [
        (
            "play 7e raise 2",
            "en",
            "catalan",
            ASKED,
            "play 7e: truc (ask for 2; worth 1 if they decline)",
        ),
        (
            "raise 6",
            "en",
            "french",
            {"stake": 6, "declined": 4},
            "deux de plus ? (ask for 6; worth 4 if they decline)",
        ),
        ("raise 5", "en", "french", {"stake": 5, "declined": 2}, "ask for 5 (worth 2 if they decline)"),
        ("raise rest", "en", "french", {"stake": "game"}, "mon reste (take it: play for the whole game)"),
        ("accept", "en", "lanes", {"answering": "redeal"}, "agree to new cards"),
        ("play 7e", "fr", "argentine", {}, "jouer 7e"),
        ("raise 2", "en", "argentine", ASKED, "truco (ask for 2; worth 1 if they decline)"),
        ("raise 2", "ca", "argentine", ASKED, "truco (demanar 2; 1 si no ho accepten)"),
        ("raise 2", "es", "argentine", ASKED, "truco (pedir 2; 1 si no quieren)"),
        ("raise 2", "fr", "argentine", ASKED, "truco (demander 2 ; 1 en cas de refus)"),
        ("raise 2", "pt", "argentine", ASKED, "truco (pedir 2; 1 se não aceitarem)"),
        ("raise 2", "es", HOUSE, ASKED, "pedir 2 (1 si no aceptan)"),
    ],
)
def test_move_is_called_by_the_word_that_the_game_has_for_just_that(line, lang, words, hints, label) -> None:
    assert called(line, lang, words, **hints) == label


@each_row("line", ["", " ", "strange 7e"])
def test_line_of_an_unknown_kind_is_shown_as_it_is(line) -> None:
    assert (move_label(line, {}), move_meaning(line)) == (line, "")


def test_own_label_of_a_game_with_unknown_words_is_in_the_players_language() -> None:
    assert own_label("raise 2", Speech("es", HOUSE)) == "pedir 2"


def test_cards_are_shown_as_the_caller_wants_and_a_claim_names_the_player_or_a_seat_that_nobody_has() -> None:
    assert move_label("play 7e", {}, lambda card: f"<{card}>") == "play <7e>"
    for seat, name in ((1, "east"), (99, "seat 99")):
        assert move_label(f"claim {seat}", {}, players=PLAYERS) == f"claim that {name} kept a flor quiet"


@each_row("lang", LANGUAGES)
@each_row("kind", Kind)
def test_every_kind_of_move_has_a_label_in_every_language(kind, lang) -> None:
    argument = {"play": " 7e", "raise": " 2", "order": " 7", "points": " 33", "claim": " 1"}.get(kind, "")
    assert "{" not in called(f"{kind}{argument}", lang, "argentine")


@each_row(
    "side, players, lang, name",
    [
        (1, PLAYERS, "en", "east and west"),
        (1, PLAYERS, "ca", "east i west"),
        (1, PLAYERS, "es", "east y west"),
        (1, PLAYERS, "fr", "east et west"),
        (0, ("anna", "b", "iu", "d", "maria", "f"), "ca", "anna, iu i maria"),
    ],
)
def test_side_is_named_by_its_seats(side, players, lang, name) -> None:
    assert side_name(side, players, Speech(lang)) == name


@each_row(
    "lang, told",
    [
        ("en", "anna and iu beat b (won), 12 to 8"),
        ("ca", "victòria per a anna i iu contra b (won), 12 a 8"),
        ("es", "victoria para anna y iu contra b (won), 12 a 8"),
        ("fr", "victoire pour anna et iu contre b (won), 12 à 8"),
        ("pt", "vitória para anna e iu contra b (won), 12 a 8"),
    ],
)
def test_victory_is_told_alike_of_one_player_and_of_partners(lang, told) -> None:
    side = side_name(0, ("anna", "b", "iu"), Speech(lang))
    values = {"one": side, "other": "b", "how": "won", "score": 12, "rest": 8}
    assert Speech(lang).say("history.beat", **values) == told


@each_row(
    "lang, words, score, said",
    [
        ("en", "catalan", (0, 0, 11), "11/30"),
        ("en", "catalan", (1, 0, 11), "11/30 (1 game)"),
        # rules.md 8.1
        ("en", "argentine", (0, 0, 0), "0/30"),
        ("en", "argentine", (0, 0, 1), "1/30 (1 mala)"),
        ("en", "argentine", (0, 0, 15), "15/30 (15 malas)"),
        ("en", "argentine", (0, 0, 16), "16/30 (1 buena)"),
        ("en", "argentine", (0, 0, 21), "21/30 (6 buenas)"),
        ("en", "argentine", (1, 0, 8), "8/30 (8 malas; 1 game)"),
        ("en", "trut", (0, 2, 1), "2/30 truts and 1 point"),
        ("en", "trut", (0, 0, 0), "0/30 truts and 0 points"),
        ("fr", "trut", (0, 0, 0), "0/30 trut et 0 point"),
        ("en", HOUSE, (0, 1, 2), "1/30 unit and 2 points"),
    ],
)
def test_score_is_said_as_the_game_says_it(lang, words, score, said) -> None:
    assert score_label(score, 30, Speech(lang, words)) == said


@each_row("words, term", [("argentine", "dealer (pie)"), ("catalan", "dealer"), (HOUSE, "dealer")])
def test_role_has_the_word_of_the_game(words, term) -> None:
    assert Speech("en", words).term("dealer") == term


def test_example_of_the_docs_says_what_is_shown(capsys) -> None:
    page = (Path(__file__).parents[2] / "docs/clients/words.md").read_text("utf-8")
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    assert capsys.readouterr().out.splitlines() == [
        "truco (ask for 2; worth 1 if they decline)",
        "quiero (accept; worth 2)",
        "21/30 (6 buenas)",
        "a three (bite the lower lip)",
    ]


@each_row(
    "seconds, label",
    [
        (0, "0 s"),
        (0.2, "1 s"),
        (60, "1 min"),
        (90, "90 s"),
        (130, "3 min"),
        (1800, "30 min"),
        (5400, "1 h 30 min"),
    ],
)
def test_time_is_told_as_people_say_it(seconds, label) -> None:
    assert time_label(seconds) == label


@each_row(
    "lang, words, key, said",
    [
        ("es", "", "trick", "baza"),
        ("es", "argentine", "trick", "vuelta"),
        ("es", HOUSE, "trick", "baza"),
        ("ca", "argentine", "trick", "basa"),
        ("pt", "paulista", "trick", "rodada"),
        ("pt", "argentine", "trick", "vaza"),
    ],
)
def test_word_is_the_one_of_the_games_country_in_its_language(lang, words, key, said) -> None:
    assert Speech(lang, words).catalogue.terms[key] == said


def test_word_of_the_country_keeps_its_capital_and_leaves_the_names_to_fill_in() -> None:
    argentine = Speech("es", "argentine")
    assert argentine.say("screen.may_act", moves="{jugar}") == "podés escribir: {jugar} (? lo explica)"
    assert argentine.say("screen.new_score", score="baza") == "Puntaje  baza"


@each_row(
    "label_of, word, lang, words, label",
    [
        (sign_label, "three", "en", "catalan", "a three (close one eye)"),
        (sign_label, "three", "en", "argentine", "a three (bite the lower lip)"),
        (sign_label, "eight", "fr", "french", "un huit (faire un clin d'œil)"),
        (
            sign_label,
            "ace-swords",
            "en",
            "argentine",
            "el ancho de espadas (the ace of swords; raise both eyebrows)",
        ),
        (sign_label, "zap", "en", "mineiro", "zap (the four of clubs)"),
        (sign_label, "three", "pt", "mineiro", "um três"),
        (sign_label, "ace", "es", HOUSE, "un as"),
        (sign_label, "\x1bstrange", "en", "catalan", "strange"),
        (phrase_label, "come", "en", "argentine", "vení (Play your lowest card)"),
        (phrase_label, "dry", "pt", HOUSE, "estou seco (Não tenho nem envido nem boas cartas)"),
        (phrase_label, "\x1bstrange", "en", "argentine", "strange"),
    ],
)
def test_sign_or_phrase_is_labelled(label_of, word, lang, words, label) -> None:
    assert label_of(word, lang, words) == label


MOVES, REST = catalogue("en").moves, {"stake": "game", "declined": 1}
PHRASES = ("come", "come-here", "dry")
SIGNS = ("ace-swords", "ace-clubs", "seven-gold", "three", "high-envido", "low-envido")


@each_row(
    "text, lang, words, meant",
    [
        ("high-envido", "es", "argentine", "high-envido"),
        ("envido alto", "es", "argentine", "high-envido"),
        ("un Envido alto", "es", "argentine", "high-envido"),
        ("ancho de espadas", "en", "argentine", "ace-swords"),
        ("the ace of swords", "en", "argentine", "ace-swords"),
        ("as de bastos", "es", "argentine", "ace-clubs"),
        ("set d'oros", "ca", "argentine", "seven-gold"),
        ("um tres", "pt", "gauderio", "three"),
        ("sept", "fr", "argentine", "seven-gold"),
        ("nada", "es", "argentine", "low-envido"),
        ("ancho", "es", "argentine", None),  # of swords, or of batons
        ("a", "es", "argentine", None),
        ("", "es", "argentine", None),
        ("four", "en", "argentine", None),
    ],
)
def test_sign_is_typed_in_the_words_of_the_game_or_of_the_player(text, lang, words, meant) -> None:
    assert typed_word(text, SIGNS, "sign", Speech(lang, words)) == meant


def test_phrase_is_typed_in_the_words_of_the_game_or_of_the_player() -> None:
    typed = [("vení", "en"), ("veni aca", "en"), ("I am dry", "en"), ("ven aquí", "es")]
    meant = [typed_word(text, PHRASES, "phrase", Speech(lang, "argentine")) for text, lang in typed]
    assert meant == [*PHRASES, None]


@each_row("lang", LANGUAGES)
@each_row("name", presets())
def test_what_is_shown_to_be_typed_is_understood(lang, name) -> None:
    variant = preset(name)
    speech, signs = Speech(lang, variant.words), variant.signals.vocabulary if variant.signals else ()
    talk = [
        *((word, signs, "sign") for word in signs),
        *((word, variant.phrases, "phrase") for word in variant.phrases),
    ]
    for word, words, what in talk:
        assert typed_word(typed_name(word, what, speech), words, what, speech) == word


@each_row(
    "name, shown",
    [
        ("north", "north"),
        ("\x1b[31mnorth\x07", "[31mnorth"),
        ("  ", "seat 2"),
        ("", "seat 2"),
        ("x" * 60, "x" * 24),
    ],
)
def test_name_is_shown_without_what_a_terminal_obeys(name, shown) -> None:
    assert shown_name(name, 2) == shown


@each_row(
    "line, words, hints, answering, meaning",
    [
        ("tap", "", {}, "", "Leave the pack as it is; the dealer may then deal one card each."),
        ("order low", "", {}, "", "Your partner must play its lowest rank next."),
        ("decline", "", {}, "redeal", "Refuse new cards; the hand is played with these."),
        ("decline", "", {}, "stake", MOVES["decline"].meaning),
        ("raise rest", "lanes", REST, "", MOVES["raise-rest"].meaning),
        ("raise rest", "french", REST, "", MOVES["raise-rest-same"].meaning),
        ("raise rest", "french", {"stake": "game"}, "", MOVES["accept-rest"].meaning),
    ],
)
def test_move_is_explained_as_the_game_takes_it(line, words, hints, answering, meaning) -> None:
    assert move_meaning(line, Speech("en", words), hints, answering=answering) == meaning
