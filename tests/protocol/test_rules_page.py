"""The page of a game says every rule it is played by, and no rule that it lacks."""

from dataclasses import fields, replace

from rows import each_row

from truc_rules import Envido, Flor, LastPoint, Redeal, params, preset, presets
from truc_words.rules_page import rules_page, variant_summary
from truc_words.rules_text import CHAPTERS, ENGLISH, SENTENCES, TABLES

CATALAN = preset("truc-catalan")
LANES = preset("truc-lanes")
FRENCH = preset("truc-french")
EXPLAINED = preset("le-truc")
PARTNERSHIP = preset("truc-partnership")
TRUT = preset("trut")
PUT = preset("put")
ARGENTINE = preset("truco-argentino")
FLOR = preset("truco-argentino-flor")
SIX = preset("truco-argentino-6")
PAULISTA = preset("truco-paulista")
MINEIRO_2 = preset("truco-mineiro-2")


def scoring(variant, **changed):
    return replace(variant, scoring=replace(variant.scoring, **changed))


def envido(**changed):
    return replace(ARGENTINE, envido=replace(ARGENTINE.envido, **changed))


def signals(variant, **changed):
    return replace(variant, signals=replace(variant.signals, **changed))


def chapter(variant, heading):
    return rules_page(variant).split(f"\n## {heading}\n")[1].split("\n## ")[0]


def cells(variant, heading):
    rows = [line for line in chapter(variant, heading).splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows[2:]]


def test_every_rule_of_a_variant_has_its_sentences_in_one_chapter_and_every_table_a_rule():
    assert set(SENTENCES) == {"pack", *(name for name, _ in params(CATALAN))}
    assert sorted(name for names in CHAPTERS.values() for name in names) == sorted(SENTENCES)
    assert set(TABLES) <= set(SENTENCES)


@each_row("name", presets())
def test_every_field_of_every_group_is_told(name):
    """A changed field changes the page: what a group holds is said in full."""
    variant = preset(name)
    assert not [line for line in rules_page(variant).splitlines() if line in ("*", "* ") or "None" in line]
    for group in ("redeal", "last_point", "envido", "pica", "scoring"):
        value = getattr(variant, group)
        for field in fields(value) if value is not None else ():
            before = getattr(value, field.name)
            if isinstance(before, int) and not isinstance(before, bool) and before:
                changed = replace(variant, **{group: replace(value, **{field.name: before + 1})})
                assert rules_page(changed) != rules_page(variant), f"{group}.{field.name}"


@each_row(
    "variant, summary",
    [
        (TRUT, "2/4 players, 32 cards, to 7 truts, best of 3"),
        (replace(scoring(TRUT, target=1), match=1), "2/4 players, 32 cards, to 1 trut, one game"),
        (replace(CATALAN, name="house", match=5), "2/4 players, 40 cards, to 12, best of 5"),
    ],
)
def test_summary_says_whether_a_game_counts_truts_and_a_match_has_one_game(variant, summary):
    assert variant_summary(variant) == summary


@each_row(
    "variant, sentence",
    [
        # cards
        (replace(LANES, order=("7", "8", "A K", "Q", "J", "10", "9")), "7, 8, A = K, Q"),
        # the deal
        (scoring(CATALAN, target=24), "once a side has 23 points or more there is no choice"),
        (replace(LANES, redeal=Redeal(consent="all", max=2)), "New cards can be proposed twice in a hand"),
        (replace(PAULISTA, blind=True), "every player plays its own unseen"),
        # the tricks
        (replace(FRENCH, all_tied="eldest"), "If every trick is tied, eldest has the hand."),
        (replace(PAULISTA, cover_from_trick=2), "From the second trick on a card may be played face down."),
        (replace(PAULISTA, cover_from_trick=3), "From the third trick on"),
        # the stake
        (replace(EXPLAINED, cap="no_overkill"), "No raise is to more than 12.\n"),
        (scoring(replace(PAULISTA, last_point=None), target=10), "No raise is to more than 10.\n"),
        (replace(EXPLAINED, remainder="none"), "make more than 12 together.\n"),
        (replace(EXPLAINED, cap="no_overkill"), "does not raise it. The remainder is not barred by this."),
        (
            replace(PARTNERSHIP, answerer="any"),
            "The other side scores the stake. The dealer governs its side",
        ),
        # the side bets
        (envido(max_real=0), "envido at most twice, falta envido once"),
        (replace(ARGENTINE, words="house"), "*no quiero* declines"),
        (envido(falta="malas-game"), "Falta envido wins the game while no side has more than 15"),
        (envido(falta="malas-15"), "what the side with more points lacks to 15, at least 1; otherwise what"),
        (replace(FLOR, flor=Flor(kind="run", claims=True)), "that follow each other"),
        (replace(FLOR, flor=Flor(kind="run", claims=True)), "the cards which prove that it has none"),
        (scoring(SIX, end_check="hand_end"), "All three are played"),
        # signs and talk
        (signals(CATALAN, visible_to="table"), "A sign is seen by everybody"),
        (signals(PARTNERSHIP, vocabulary=()), "An order must be obeyed"),
        # the score
        (scoring(CATALAN, end_check="hand_end"), "if they are equal, another hand is played"),
        (scoring(TRUT, target=1), "A game is won as soon as a side has 1 trut."),
        (ARGENTINE, "7 as *7 malas*, 23 as *8 buenas*"),  # rules.md 8.1
        # the words
        (ARGENTINE, "The game is also called *sin flor* or *sin jardinera*."),
        (replace(CATALAN, words="house"), "no words of its own"),
        # at this table
        (replace(CATALAN, reveal="match"), "all other cards are opened at the end of the match"),
        (replace(CATALAN, absent="concede"), "the hand is given up"),
    ],
)
def test_value_of_a_rule_has_its_sentence(variant, sentence):
    assert sentence in rules_page(variant)


@each_row(
    "variant, words",
    [
        (replace(PAULISTA, players=(2,)), "see each other's cards"),
        (replace(FLOR, flor=Flor(kind="suit", claims=False)), "Pido flor"),
        (signals(CATALAN, vocabulary=()), "may make signs"),
        (envido(fold_bonus=0), "gives the hand up unasked"),
        (MINEIRO_2, "*vira*"),
    ],
)
def test_rule_that_a_game_lacks_is_not_mentioned(variant, words):
    assert words not in rules_page(variant)


def test_calls_that_a_house_allows_are_in_the_table():
    variant = replace(ARGENTINE, envido=Envido(max_envido=1, max_real=2, falta="leader", fold_bonus=0))
    assert ("real envido, real envido", "6", "3") in cells(variant, "Envido")
    assert ("envido, envido", "4", "2") not in cells(variant, "Envido")


def test_flor_without_envido_is_told_without_it():
    told = chapter(replace(FLOR, envido=None), "Flor")
    assert "envido" not in told
    assert "Values are said from eldest in seat order." in told


def test_flores_are_worth_what_the_table_says():
    # rules.md 8.6
    assert [(row[0], row[2], row[3]) for row in cells(FLOR, "Flor")] == [
        ("only one side has flores", "3 for each flor", ""),
        ("nobody challenges", "3 for each flor of both sides", "6"),
        ("con flor me achico", "3 for each flor of that side, and 1", "4"),
        ("contraflor accepted", "3 for each flor of both sides", "6"),
        (
            "contraflor al resto accepted",
            "what the side with more points lacks to 30, and 3 for each flor of both sides",
            "that and 6",
        ),
    ]


@each_row(
    "variant, raises",
    [
        # rules.md 1.6
        (MINEIRO_2, ["4 *truco* 4 2", "6 *seis* 6 4", "10 *dez* 10 6", "12 *doze* 12 10"]),
        (
            preset("truc-sackson"),
            [
                "2 *deux de plus ?* 2 1",
                "4 *deux de plus ?* 4 2",
                "8  8 4",
                "16  16 8",
                "the remainder *mon reste* the game the stake before",
            ],
        ),
        (replace(MINEIRO_2, words="of no game"), ["4 4 2", "6 6 4", "10 10 6", "12 12 10"]),
    ],
)
def test_raises_are_worth_what_the_table_says_and_called_as_players_say(variant, raises):
    assert [" ".join(row) for row in cells(variant, "The stake")] == raises


@each_row("name, sign, cards", [("truc-partnership", "`ace`", "A"), ("truco-mineiro", "`zap`", "4c")])
def test_sign_has_the_cards_that_make_it_true(name, sign, cards):
    assert (sign, cards) in [
        (row[0], row[2]) for row in cells(preset(name), "Signs and talk") if len(row) > 2
    ]


@each_row("name", [name for name in presets() if preset(name).signals is not None])
def test_every_sign_is_in_the_table_in_words(name):
    rows = {row[0]: row[1] for row in cells(preset(name), "Signs and talk")}
    assert all(rows[f"`{word}`"] != word for word in preset(name).signals.vocabulary)


def test_sign_of_a_card_outside_the_pack_says_so():
    ((_, _, cards),) = cells(signals(CATALAN, vocabulary=("eight",)), "Signs and talk")
    assert cards == "none of this pack"


@each_row(
    "variant, word",
    [
        (FLOR, ("`contraflor-rest`", "contraflor al resto")),
        (FLOR, ("`accept`, to a contraflor", "con flor quiero")),
        (FLOR, ("`decline`, to a contraflor", "con flor me achico")),
        (SIX, ("duel", "pica-pica")),
        (MINEIRO_2, ("`raise 10`", "dez")),
    ],
)
def test_word_of_a_game_is_told(variant, word):
    assert word in cells(variant, "The words")


@each_row(
    "variant, what",
    [
        (MINEIRO_2, "`raise 9`"),
        (replace(PAULISTA, last_point=None), "the hand that decides the game"),
        (replace(FRENCH, remainder="none"), "`raise rest`"),
        (replace(FRENCH, remainder="accept"), "`raise rest`, to the same ask"),
        (replace(ARGENTINE, concede="vs_ask"), "`concede`"),
    ],
)
def test_word_for_what_a_game_lacks_is_not_told(variant, what):
    assert what not in [row[0] for row in cells(variant, "The words")]


@each_row("rule", [rule for rule in TABLES if rule not in ("ladder", "words")])
def test_rule_that_a_game_lacks_has_no_table(rule):
    assert TABLES[rule](PUT, ENGLISH) == ()


def test_page_of_a_house_variant_is_made_from_its_data():
    house = replace(
        CATALAN, name="house", version=3, last_point=LastPoint(at=2, stake=4, decline=2, share=False), match=5
    )
    page = rules_page(house)
    assert page.startswith("# house\n\nVersion 3 of its rules.\n")
    assert "the hand is worth 4 and nobody raises it. If it declines, the other side scores 2." in page
    assert "best of 5 games" in page
