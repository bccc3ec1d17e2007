"""One word for one thing: on the table, in help, in replay and report, in every language and every game's own country."""

import re
from functools import cache

from client.running import truc
from client.viewed import KEPT
from protocol.test_word_catalogues import said
from rows import each_row

from truc_rules import preset
from truc_terminal.commands.helping import help_in
from truc_words import LANGUAGES, local_sets
from truc_words.rules_page import rules_page
from truc_words.words_page import words_page

SURFACES = {
    "trick": "terms/trick screen/tricks facts/trick_won facts/trick_tied moves/play/meaning lessons/hand replay/trick report/wins",
    "hand": "terms/hand reasons/hand facts/hand_won moves/accept-rest/meaning lessons/hand replay/hand report/hand records/hand_closed",
    "game": "terms/game reasons/game facts/game_won moves/accept-rest/meaning lessons/goal counts/game/0",
    "match": "terms/match facts/match_won moves/resign/meaning screen/begins report/whole commands/awaits_vacancy",
    "score": "screen/score screen/new_score records/score report/curve_drawn lessons/by-score wrong/C24 help:score",
    "point": "counts/point/0 moves/flor-fold/meaning lessons/certain means/C24",
    "seat": "said/seat screen/seated verdict/seat together/seat listing/seats screen/own_back help:seat",
    "record": "records/record verdict/signed_before counts/record/0 watching/snapshot report/failed wrong/C1 help:record",
    "transcript": "watching/transcript commands/transcript history/kept failures/no_transcripts together/no_transcript help:transcript",
    "envido": "moves/envido/label facts/envido_declined reasons/envido lessons/envido lessons/envido-own signs/high-envido answers/envido",
    "covered": "moves/cover/label facts/card_covered screen/face_down replay/covered",
    "tied": "facts/trick_tied facts/trick_tied-none",
}
"""By term: where it is spoken of. `help` are the texts of the commands; the rest after a colon is a note and no key."""
GLOSSARY = {
    "trick": {"en": "tricks?", "ca": "bas(a|es)", "es": "bazas?", "fr": "plis?", "pt": "vazas?"},
    "hand": {"en": "hand", "ca": "mà", "es": "mano", "fr": "donne", "pt": "mão"},
    "game": {"en": "game", "ca": "joc", "es": "juego", "fr": "manche", "pt": "jogo"},
    "match": {"en": "match", "ca": "partida", "es": "partida", "fr": "partie", "pt": "partida"},
    "score": {"en": "score", "ca": "marcador", "es": "marcador", "fr": "score", "pt": "placar"},
    "point": {"en": "points?", "ca": "punts?", "es": "puntos?", "fr": "points?", "pt": "pontos?"},
    "seat": {"en": "seats?", "ca": "seients?", "es": "asientos?", "fr": "sièges?", "pt": "lugar(es)?"},
    "record": {
        "en": "records?",
        "ca": "registres?",
        "es": "registros?",
        "fr": "enregistrements?",
        "pt": "registros?",
    },
    "transcript": {
        "en": "transcripts?",
        "ca": "transcripci(ó|ons)",
        "es": "transcripci(ón|ones)",
        "fr": "transcriptions?",
        "pt": "transcriç(ão|ões)",
    },
    "envido": {
        "en": "envido",
        "ca": "(l'|d')?(envit|envidar)",
        "es": "envido",
        "fr": "(l'|d')?envido",
        "pt": "envido",
    },
    "covered": {"en": "face down", "ca": "tapada", "es": "tapada", "fr": "face cachée", "pt": "coberta"},
    "tied": {"en": "tied", "ca": "empatad(a|es)", "es": "empatadas?", "fr": "nul", "pt": "empatada"},
}
REGIONAL = {
    ("es", "argentine"): {"trick": "vueltas?", "score": "puntaje"},
    ("es", "uruguayan"): {"trick": "vueltas?", "score": "puntaje"},
    ("es", "venezuelan"): {},  # phrases alone: the vira, the chico
    ("ca", "valencian"): {"tied": "pard(a|es)"},
    ("pt", "paulista"): {"trick": "rodadas?", "point": "tentos?"},
    ("pt", "mineiro"): {"trick": "rodadas?", "point": "tentos?"},
}
"""What the games of a country say instead, in what tells of a match."""
NOBODY_SAYS = {
    "en": ["best pair", "three of a suit"],
    "ca": ["millor parella", "queda obligat", "reposa"],
    "es": [
        *("mejor pareja", "queda obligado", "por sorteo reparte", "tanteo", "ficheros?"),
        *("la partida descansa", "boca abajo"),
    ],
    "fr": ["meilleure paire", r"\{\w+\} est tiré", "la marque", "s'est engagé sur"],
    "pt": ["melhor par", "fica obrigado", "fica lembrada", "a partida descansa", "virada para baixo"],
}
"""What was once said and is not, or not so by people who play."""
OF_A_MATCH = (
    *("moves", "facts", "reasons", "terms", "counts", "lessons", "screen", "watching", "records"),
    *("replay", "report"),
)


def holds(pattern: str, text: str) -> bool:
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) is not None


def helped(lang: str) -> str:
    """Return what the help of the commands says; for English, what its translations are of."""
    said_in = help_in("es" if lang == "en" else lang).commands
    return "\n".join(said_in if lang == "en" else said_in.values())


@cache
def spoken(lang: str, words: str = "") -> dict[str, str]:
    return {path.lstrip("/"): text for path, text in said(lang, words).items()} | {"help": helped(lang)}


@each_row("lang", LANGUAGES)
@each_row("term", GLOSSARY)
def test_a_thing_has_the_same_word_wherever_it_is_spoken_of(term, lang) -> None:
    texts = spoken(lang)
    places = [place.partition(":")[0] for place in SURFACES[term].split()]
    assert [place for place in places if not holds(GLOSSARY[term][lang], texts[place])] == []


@each_row("where, instead", REGIONAL.items())
def test_games_of_a_country_have_its_word_and_no_other_in_all_that_tells_of_a_match(where, instead) -> None:
    lang, words = where
    texts = {path: text for path, text in spoken(lang, words).items() if path.partition("/")[0] in OF_A_MATCH}
    for term, own in instead.items():
        places = {place.partition(":")[0] for place in SURFACES[term].split()} & texts.keys()
        assert [place for place in places if not holds(own, texts[place])] == []
        assert [path for path, text in texts.items() if holds(GLOSSARY[term][lang], text)] == []


def test_every_set_that_says_something_else_is_held_to_it() -> None:
    assert {(lang, name) for name, words in local_sets().items() for lang in words.instead} == REGIONAL.keys()


@each_row("lang", LANGUAGES)
def test_nobody_says_what_no_player_would(lang) -> None:
    texts = spoken(lang)
    assert [
        (path, bad) for path, text in texts.items() for bad in NOBODY_SAYS[lang] if holds(bad, text)
    ] == []


@each_row(
    "file, lang, words, own",
    [
        (
            "argentine-match",
            "es",
            "argentine",
            {"replay": ["vuelta 1", "puntaje"], "report": ["vueltas?"], "show": ["puntaje"]},
        ),
        (
            "paulista-turned",
            "pt",
            "paulista",
            {"replay": ["rodada 1"], "report": ["tentos?"], "verify": ["tentos?"]},
        ),
    ],
)
def test_what_is_shown_after_a_match_has_the_words_of_the_table(file, lang, words, own, tmp_path) -> None:
    path, page = str(KEPT / f"{file}.truc"), tmp_path / "page.html"
    others = [GLOSSARY[term][lang] for term in REGIONAL[lang, words]]
    for command in ("replay", "show", "verify", "report"):
        made = truc(command, path, "--lang", lang, *(["-o", page] if command == "report" else []))
        told = page.read_text() if command == "report" else made.output
        assert [word for word in own.get(command, []) if not holds(word, told)] == []
        assert [word for word in others if holds(word, told)] == []


def test_score_after_a_match_has_the_units_of_its_game() -> None:
    told = truc("verify", str(KEPT / "trut-resigned.truc"), "--lang", "fr").output
    assert re.search(r"\d truts? et \d points?", told)


@each_row(
    "game, lang, term",
    [
        ("truco-argentino", "es", "vueltas?"),
        ("truco-paulista", "pt", "rodadas?"),
        ("truc-catalan", "ca", "basa"),
    ],
)
def test_pages_of_rules_and_of_words_have_the_words_of_the_table(game, lang, term) -> None:
    variant = preset(game)
    for page in (words_page(variant, lang), rules_page(variant, lang)):
        assert holds(term, page)
        assert holds(GLOSSARY["trick"][lang], page) == holds(term, "basa")
