"""Seats, cards and the deal; tricks, hands, games and matches, and who wins them: in sentences."""

from collections.abc import Sequence
from typing import Final

from truc_rules import CARDS_EACH, TurnUp, Variant
from truc_words.rules_text.wording import Wording, has_partners, scorer

_FRENCH_ONLY: Final = "shd"
_SUITS: Final = "ocebshd"  # those that have names
_COURTS: Final = frozenset(("12", "K"))


def players(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who plays against whom."""
    return tuple(say(f"players.{seats}") for seats in variant.players)


def pack(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return the cards, whole ranks together."""
    cards = variant.pack
    suits = tuple(dict.fromkeys(card[-1] for card in cards))
    ranks = tuple(dict.fromkeys(card[:-1] for card in cards))
    whole = [rank for rank in ranks if all(rank + suit in cards for suit in suits)]
    rest = " ".join(card for card in cards if card[:-1] not in whole)
    told = rest
    if whole:
        named = say.listed([_suit(suit, suits, say) for suit in suits], "and")
        told = say("pack.whole", ranks=" ".join(whole), suits=named)
        told = say("pack.rest", whole=told, cards=rest) if rest else told
    courts = "spanish" if "12" in ranks else "french"
    return (
        say("pack.told", count=len(cards), cards=told),
        *((say(f"pack.{courts}"),) if _COURTS & {*ranks} else ()),
    )


def _suit(suit: str, suits: Sequence[str], say: Wording) -> str:
    if suit not in _SUITS:
        return f"`{suit}`"
    # c is clubs or copas: the other suits tell which
    french = any(other in _FRENCH_ONLY for other in suits)
    name = say("pack.suits.clubs" if french and suit == "c" else f"pack.suits.{suit}")
    return say("pack.suit", letter=suit, name=name)


def order(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return the strength of the cards."""
    entries = [entry.replace(" ", " = ") for entry in variant.order]
    has_single = any(name in variant.pack for entry in variant.order for name in entry.split())
    told = say(f"order.{_above(variant.turnup)}", order=", ".join(entries))
    return (f"{told} {say('order.apart')}" if has_single else told,)


def _above(rule: TurnUp | None) -> str:
    if rule is None:
        return "told"
    return "below_pieces" if rule.pieces else "below"


def turnup(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what the card turned up does."""
    rule = variant.turnup
    if rule is None:
        return ()
    if rule.pieces:
        instead = (say("turnup.stand_in", rank=rule.stand_in),) if rule.stand_in else ()
        pieces = say.listed(rule.pieces, "then")
        return (say("turnup.up"), say("turnup.pieces", pieces=pieces), *instead)
    suits = say.listed([_suit(suit, rule.suits, say) for suit in rule.suits], "then")
    return (
        say("turnup.vira"),
        say("turnup.manilhas", ranks=" ".join(rule.cycle), first=rule.cycle[0]),
        say("turnup.suits", suits=suits),
    )


def short_deal(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what cut and tap decide."""
    if not variant.short_deal:
        return ()
    barred = variant.scoring.target - 1
    return (
        say("short_deal.cut", cards=CARDS_EACH),
        say("short_deal.tap", cards=CARDS_EACH, least=say.points(barred)),
        say("short_deal.one"),
    )


def redeal(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who proposes new cards and who must agree."""
    rule = variant.redeal
    if rule is None:
        return ()
    return (
        say("redeal.first"),
        say(f"redeal.{rule.consent}"),
        say("redeal.dealt", cards=CARDS_EACH),
        _often(variant, rule.max, say),
    )


def _often(variant: Variant, most: int | str, say: Wording) -> str:
    if isinstance(most, int):
        return say("redeal.at_most", times=say.times(most))
    # the first deal takes its share of the pack too
    supplied = [
        say(
            "redeal.with_players", times=say.times(len(variant.pack) // (CARDS_EACH * seats) - 1), seats=seats
        )
        for seats in variant.players
    ]
    return say("redeal.by_pack", often=say.listed(supplied, "and"))


def blind(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return when cards are played unseen."""
    if not variant.blind:
        return ()
    told = say("blind.told")
    return (f"{told} {say('blind.not_covered')}" if variant.cover_from_trick else told,)


_HAND: Final = ("won", "tied", "ends")


def partner_tie(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what equal best cards of partners do."""
    return (say(f"partner_tie.{variant.partner_tie}"),) if has_partners(variant) else ()


def hand_rule(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return how tricks make a hand."""
    return tuple(say(f"hand_rule.{variant.hand_rule}.{key}") for key in _HAND)


def all_tied(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who wins a hand in which every trick is tied."""
    return (say("all_tied.draw" if variant.all_tied == "draw" else f"all_tied.eldest.{scorer(variant)}"),)


def cover_from_trick(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return when a card may be played face down."""
    first = variant.cover_from_trick
    return (say(f"cover_from_trick.{first}"),) if first else ()


def scoring(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what wins a game."""
    rule, whose = variant.scoring, scorer(variant)
    goal = say.truts(rule.target) if rule.points_per_unit else say.points(rule.target)
    told = say(f"scoring.{rule.end_check}.{whose}", goal=goal)
    if rule.points_per_unit:
        unit = say(f"scoring.unit.{whose}", points=say.points(rule.points_per_unit))
        return (unit, say(f"scoring.for_unit.{whose}"), told)
    return (f"{told} {say(f'scoring.both.{whose}')}" if rule.end_check == "hand_end" else told,)


def match(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return how many games make a match."""
    if variant.match == 1:
        return (say("match.one"),)
    return (say("match.best_of", games=variant.match, most=variant.games_to_win),)
