"""The words of a game as a page."""

from dataclasses import replace

from rows import each_row

from truc_rules import preset, presets
from truc_words import LANGUAGES
from truc_words.words_page import words_page

HOUSE = "the words of a house"


@each_row("name", presets())
@each_row("lang", LANGUAGES)
def test_every_preset_has_a_page_of_words(name, lang) -> None:
    assert "{" not in words_page(preset(name), lang)


@each_row(
    "name, row",
    [
        ("truco-argentino", "| `raise 2` | **truco**: pedir 2 | Pedí jugar por más."),
        ("truco-argentino-flor", "| `flor` | flor |"),
        ("truc-partnership", "| `order leave` | **ordonner de laisser le pli**: mandar dejar la baza |"),
        ("trut", "| `raise trut` | **je trute**: pedir 1 trut |"),
        ("truco-argentino", "* `say come`: vení (Jugá tu carta más baja)"),
        ("truc-lanes", "tru, truka"),
        ("truc-lanes", "| jugada | palabras | significado |"),
        (
            "truc-lanes",
            "| `accept`, a cartas nuevas | **accepter de nouvelles cartes**: aceptar cartas nuevas |",
        ),
        (
            "truc-french",
            "| `raise rest`, a la misma petición | **mon reste**: aceptarlo: jugar por todo el juego |",
        ),
        ("truco-argentino", "| `decline`, al envido | **no quiero**: no aceptar el envido |"),
        (
            "truco-argentino-flor",
            "| `decline`, a una contraflor | **con flor me achico**: achicarse con flor |",
        ),
        ("truc-partnership", "| `order A` | **ordonner de jouer un as**: mandar jugar un as |"),
    ],
)
def test_page_of_words_has_what_the_game_says(name, row) -> None:
    assert row in words_page(preset(name), "es")


@each_row(
    "name, changed, row",
    [
        (
            "truco-paulista",
            {"cover_from_trick": 2},
            "| `cover 4s` | **jogar 4s coberta**: play 4s face down |",
        ),
        (
            "truco-paulista",
            {"blind": True},
            "| `blind 0` | **jogar a carta 0 sem ver**: play card 0 unseen |",
        ),
        ("le-truc", {}, "| `show As` | show As |"),
        ("put", {}, "| `raise rest` | **I put**: ask for the whole game |"),
        ("put", {"ladder": (1, 5)}, "| `raise 5` | ask for 5 |"),
        ("truco-argentino", {"words": HOUSE}, "| `raise 2` | ask for 2 |"),
    ],
)
def test_page_of_words_follows_the_variant(name, changed, row) -> None:
    assert row in words_page(replace(preset(name), **changed), "en")


def test_page_of_words_leaves_out_what_the_game_has_not() -> None:
    assert "envido" not in words_page(preset("truc-catalan"), "en")
