"""The page of a game, made from its data: the sentences and tables of its fields, by chapter, and a hand that is told.

House rules get their page from the same data. What holds in every game of the family is written here. The hand is of
the game's family: what a newcomer wants to see before reading the rules. Such hands are data (`rules/hands.toml`), taken
from kept transcripts; they are played by the rules and told as on the screen, so that the page shows what the game does
and says.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from truc_protocol.ledger.facts import Fact, event_fact
from truc_rules import Card, Seat, Variant, apply, awaits_deal, deal, new_match, parse_move, preset, presets
from truc_words.catalogue import local_words, read_text
from truc_words.facts import as_told, tell
from truc_words.rules_text import CHAPTERS, TABLES, Wording
from truc_words.rules_text.wording import has_partners
from truc_words.speech import Speech

PLAYERS: Final = ("Ana", "Blai", "Carla", "Duarte", "Elisa", "Franc")
TOLD_WITH: Final[Mapping[str, str]] = MappingProxyType({"gauderio": "argentine", "mineiro": "paulista"})
"""By set of words: the set of the family on whose page its games stand, and whose hand is theirs too."""
_ALWAYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"deal": ("page.dealer",), "tricks": ("page.trick", "page.tied")}
)
"""By chapter: what every game of the family has in common."""


def listed_games(lang: str) -> Iterator[str]:
    """Yield the games, family by family, with what tells each from the others and for whom it is."""
    words, say = "", Wording(lang)
    for name in presets():
        variant = preset(name)
        if variant.words != words:
            words = variant.words
            yield from ("", say(f"families.{words}"))
        yield f"  {name:22} {say(f'games.{name}')} ({variant_summary(variant, lang)})"


def variant_summary(variant: Variant, lang: str = "en") -> str:
    """Return a game in one line."""
    scoring, match, say = variant.scoring, variant.match, Wording(lang, variant.words)
    return say(
        "summary.line",
        seats="/".join(map(str, variant.players)),
        cards=len(variant.pack),
        goal=say.truts(scoring.target) if scoring.points_per_unit else scoring.target,
        games=say("summary.one_game") if match == 1 else say("summary.best_of", games=match),
    )


class Chapter(NamedTuple):
    """What a game says under one heading."""

    heading: str
    text: str


def chapter_texts(variant: Variant, lang: str) -> Mapping[str, Chapter]:
    """Return the rules of a game by chapter, without the chapters that have nothing to say of it."""
    say = Wording(lang, variant.words)
    told = {name: Chapter(say(f"chapters.{name}"), _text(variant, name, say)) for name in CHAPTERS}
    return {name: chapter for name, chapter in told.items() if chapter.text}


def chapters(variant: Variant, lang: str = "en") -> str:
    """Return the rules of a game as Markdown, from the first chapter's heading on."""
    told = chapter_texts(variant, lang).values()
    return "\n\n".join(f"## {chapter.heading}\n\n{chapter.text}" for chapter in told) + "\n"


def _text(variant: Variant, chapter: str, say: Wording) -> str:
    """Return the sentences and the tables of a chapter; empty if the game has nothing of it."""
    fields = CHAPTERS[chapter]
    told = [
        *(say(key) for key in _ALWAYS.get(chapter, ())),
        *_direction(variant, chapter, say),
        *(sentence for sentences in fields.values() for sentence in sentences(variant, say)),
    ]
    tables = (TABLES[name](variant, say) for name in fields if name in TABLES) if told else ()
    return "\n\n".join(("\n".join(f"* {line}" for line in told), *map(markdown_table, filter(None, tables))))


def _direction(variant: Variant, chapter: str, say: Wording) -> tuple[str, ...]:
    """Return in which direction play goes round, where there are more than two players."""
    if chapter != "deal" or not has_partners(variant):
        return ()
    return (say(f"page.{local_words(variant.words).next_sits}"),)


def markdown_table(rows: tuple[tuple[str, ...], ...]) -> str:
    """Return rows of cells, the heads first, as a table in Markdown."""
    heads, *others = rows
    lines = (f"| {' | '.join(cells)} |" for cells in others)
    return "\n".join((f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *lines))


def rules_page(variant: Variant, lang: str = "en") -> str:
    """Return the rules of a game as Markdown."""
    version = Wording(lang, variant.words)("page.version", version=variant.version)
    return f"# {variant.name}\n\n{version}\n\n{chapters(variant, lang)}{hand_chapter(variant, lang)}"


def hand_chapter(variant: Variant, lang: str) -> str:
    """Return the chapter with a hand of the game's family, played out; empty if there is none."""
    say, hand = Wording(lang, variant.words), hand_of(variant.words)
    if hand is None:
        return ""
    held = " ".join(say("hand.holds", who=who, cards=cards) for who, cards in cards_of(hand, lang))
    lines = (f"1. {line}" for line in told_hand(hand, lang))
    told = say("hand.told", game=f"`{hand.variant}`", held=held)
    return f"\n## {say('chapters.hand')}\n\n{told}\n\n" + "\n".join(lines) + "\n"


class ExampleHand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hand as it was played.

    Attributes:
        variant: the game.
        of: the transcript it is taken from, and its number there.
        dealer: the seat that deals.
        deals: the cards by seat, deal by deal; none where they are unknown.
        moves: what was done, `SEAT MOVE` each.
        turn: the card turned up; empty if there is none.
    """

    variant: str
    of: tuple[str, int]
    dealer: int
    deals: tuple[tuple[str, ...], ...]
    moves: tuple[str, ...]
    turn: str = ""

    @property
    def hands(self) -> tuple[str, ...]:
        """The cards that were played with, by seat."""
        return self.deals[-1]


@cache
def played_hands() -> Mapping[str, ExampleHand]:
    """Return the hand of each family, by its set of words."""
    return msgspec.convert(tomllib.loads(read_text("rules/hands.toml")), dict[str, ExampleHand])


def hand_of(words: str) -> ExampleHand | None:
    """Return the hand for games with a set of words; None if there is none."""
    return played_hands().get(TOLD_WITH.get(words, words))


def facts_of(hand: ExampleHand) -> Iterator[tuple[Fact, ...]]:
    """Yield what followed from the deals and from each move."""
    variant = preset(hand.variant)
    pack, seats = variant.pack, len(hand.hands)
    deals = iter(hand.deals)
    match = new_match(variant, seats=seats, dealer=Seat(hand.dealer))
    moves = iter(hand.moves)
    while True:
        if awaits_deal(match):
            given = next(deals) or ("? ? ?",) * seats
            cards = [[_card(pack, name) for name in held.split()] for held in given]
            match, events = deal(match, cards, [Card(pack.index(hand.turn))] if hand.turn else [])
        else:
            line = next(moves, None)
            if line is None:
                return
            seat, _, move = line.partition(" ")
            match, events = apply(match, parse_move(variant, Seat(int(seat)), move))
        yield tuple(event_fact(event, pack) for event in events)


def _card(pack: tuple[str, ...], name: str) -> Card | None:
    return None if name == "?" else Card(pack.index(name))


def told_hand(hand: ExampleHand, lang: str) -> tuple[str, ...]:
    """Return what happened in a hand, a line for each deal and each move."""
    speech = Speech(lang, preset(hand.variant).words)
    players = PLAYERS[: len(hand.hands)]
    told = ([tell(fact, players, speech=speech) for fact in as_told(facts)] for facts in facts_of(hand))
    return tuple(speech.separated(filter(None, sentences)) for sentences in told if any(sentences))


def cards_of(hand: ExampleHand, lang: str) -> tuple[tuple[str, str], ...]:
    """Return the players of a hand with their cards, as a listener writes them."""
    speech = Speech(lang)
    return tuple(
        (player, " ".join(map(speech.card, held.split())))
        for player, held in zip(PLAYERS, chain(hand.hands), strict=False)
    )
