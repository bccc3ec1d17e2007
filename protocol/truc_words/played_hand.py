"""A hand of a game's family, played out in sentences: what a newcomer wants to see before reading the rules.

The hands are data (`rules/hands.toml`), taken from kept transcripts. They are played by the rules and told as on the
screen, so that what a page shows is what the game does and says.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final

import msgspec

from truc_protocol.facts import Fact, event_fact
from truc_rules import Card, Seat, apply, awaits_deal, deal, new_match, parse_move, preset
from truc_words.catalogue import read_text
from truc_words.facts import as_told, tell
from truc_words.speech import Speech

PLAYERS: Final = ("Ana", "Blai", "Carla", "Duarte", "Elisa", "Franc")
TOLD_WITH: Final[Mapping[str, str]] = MappingProxyType({"gauderio": "argentine", "mineiro": "paulista"})
"""By set of words: the set of the family on whose page its games stand, and whose hand is theirs too."""


class PlayedHand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
def played_hands() -> Mapping[str, PlayedHand]:
    """Return the hand of each family, by its set of words."""
    return msgspec.convert(tomllib.loads(read_text("rules/hands.toml")), dict[str, PlayedHand])


def hand_of(words: str) -> PlayedHand | None:
    """Return the hand for games with a set of words; None if there is none."""
    return played_hands().get(TOLD_WITH.get(words, words))


def facts_of(hand: PlayedHand) -> Iterator[tuple[Fact, ...]]:
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


def told_hand(hand: PlayedHand, lang: str) -> tuple[str, ...]:
    """Return what happened in a hand, a line for each deal and each move."""
    speech = Speech(lang, preset(hand.variant).words)
    players = PLAYERS[: len(hand.hands)]
    told = ([tell(fact, players, speech=speech) for fact in as_told(facts)] for facts in facts_of(hand))
    return tuple(speech.separated(filter(None, sentences)) for sentences in told if any(sentences))


def cards_of(hand: PlayedHand, lang: str) -> tuple[tuple[str, str], ...]:
    """Return the players of a hand with their cards, as a listener writes them."""
    speech = Speech(lang)
    return tuple(
        (player, " ".join(map(speech.card, held.split())))
        for player, held in zip(PLAYERS, chain(hand.hands), strict=False)
    )
