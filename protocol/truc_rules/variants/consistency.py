"""Checks that a variant does not contradict itself: each names the field and says what was expected of it."""

from itertools import pairwise
from typing import TYPE_CHECKING

from truc_rules.cards.packs import CARDS_EACH, LARGEST_PACK, rank_of, suit_of
from truc_rules.cards.seats import SEAT_COUNTS
from truc_rules.errors import VariantError
from truc_rules.variants.toml_text import as_toml
from truc_rules.variants.vocabulary import SIGNS, is_checkable

if TYPE_CHECKING:
    from truc_rules.variants.variant import Variant

HIGHEST_TARGET = 1000
"""The highest target that a game can have, and the highest stake."""
HIGHEST_TARGET_OF_ANY = 120
"""The highest target where every number above the stake may be asked for: each of them is an option."""
MOST_CALLS = 16
"""How often envido, and real envido, can be called in one contest: each call looks through all those before it."""


def _require(name: str, reason: str, *, holds: bool) -> None:
    if not holds:
        raise VariantError(f"{name}: expected {reason}")


def _at_most(name: str, value: int, most: int) -> None:
    _require(name, f"at most {most}, got {value}", holds=value <= most)


def check_table(variant: "Variant") -> None:
    """Check players, pack and the card turned up.

    Raises:
        VariantError: They do not go together.
    """
    pack, players = variant.pack, variant.players
    _require("pack", "no card twice", holds=len(set(pack)) == len(pack))
    _require("pack", f"at most {LARGEST_PACK} cards, got {len(pack)}", holds=len(pack) <= LARGEST_PACK)
    _require("pack", "cards of a rank and a suit", holds=all(rank_of(name) for name in pack))
    seated = (
        bool(players)
        and all(seats in SEAT_COUNTS for seats in players)
        and players == tuple(sorted({*players}))
    )
    _require("players", f"some of 2, 4, 6, ascending, got {as_toml(players)}", holds=seated)
    needed = max(players) * CARDS_EACH + variant.turn_count
    enough = f"at least {needed} cards for {max(players)} seats, got {len(pack)}"
    _require("pack", enough, holds=len(pack) >= needed)
    _check_turnup(variant)


def _check_turnup(variant: "Variant") -> None:
    rule = variant.turnup
    if rule is None:
        return
    ranks, suits = {*map(rank_of, variant.pack)}, {*map(suit_of, variant.pack)}
    cycle = "every rank of the pack, each once"
    _require("turnup.cycle", cycle, holds={*rule.cycle} == ranks and len(rule.cycle) == len(ranks))
    order = "every suit of the pack, each once"
    _require("turnup.suits", order, holds={*rule.suits} == suits and len(rule.suits) == len(suits))
    _require("redeal", "no redeal where a card is turned up", holds=variant.redeal is None)


def check_rules(variant: "Variant") -> None:
    """Check that the rules of a variant do not contradict each other.

    Raises:
        VariantError: They do.
    """
    _check_hand(variant)
    _check_stakes(variant)
    _check_scoring(variant)
    _check_last_point(variant)
    _check_contests(variant)
    _check_signals(variant)
    open_hands = variant.show == "none" or (variant.flor is None and not variant.blind)
    _require("show", "none, where flor is played or hands are blind", holds=open_hands)


def _check_hand(variant: "Variant") -> None:
    redeal, cover = variant.redeal, variant.cover_from_trick
    often = redeal is None or redeal.max == "pack" or redeal.max >= 1
    _require("redeal.max", "at least 1, or no redeal at all", holds=often)
    tricks = f"0, or a trick from 2 to {CARDS_EACH}, got {cover}"
    _require("cover_from_trick", tricks, holds=cover == 0 or 1 < cover <= CARDS_EACH)
    governed = variant.players == (4,)
    _require(
        "answerer", "any, as only four players have governors", holds=governed or variant.answerer == "any"
    )
    _require(
        "concede",
        "another rule, as only four players have governors",
        holds=governed or variant.concede != "governor",
    )


def _check_stakes(variant: "Variant") -> None:
    ladder = variant.ladder
    if isinstance(ladder, tuple):
        rises = len(ladder) > 1 and ladder[0] >= 1 and all(low < high for low, high in pairwise(ladder))
        _require("ladder", f"two or more rising stakes, got {as_toml(ladder)}", holds=rises)
        _require(
            "ladder",
            f"stakes of at most {HIGHEST_TARGET}, got {as_toml(ladder)}",
            holds=ladder[-1] <= HIGHEST_TARGET,
        )
    offered = ladder != "game" or variant.remainder != "none"
    _require("remainder", "accept or counter, as the ladder is the game alone", holds=offered)
    single = ladder in ("game", "trut")
    _require("ladder", "stakes that an answer can raise", holds=not (single and variant.raise_in_answer))
    units = ladder != "trut" or variant.scoring.points_per_unit > 0
    _require("scoring.points_per_unit", "a number of points, as a unit is played for", holds=units)
    answers = variant.accept == "explicit" or variant.remainder == "none"
    _require("accept", "explicit, as a remainder is never taken by playing on", holds=answers)


def _check_scoring(variant: "Variant") -> None:
    scoring, base = variant.scoring, variant.base_stake
    _require("match", f"an odd number of games, got {variant.match}", holds=variant.match % 2 == 1)
    _at_most("match", variant.match, HIGHEST_TARGET)
    _require("version", f"at least 1, got {variant.version}", holds=variant.version >= 1)
    least = 0 if scoring.points_per_unit else base
    _require("scoring.target", f"more than {least}, got {scoring.target}", holds=scoring.target > least)
    most = HIGHEST_TARGET_OF_ANY if variant.ladder == "any" else HIGHEST_TARGET
    _require("scoring.target", f"at most {most}, got {scoring.target}", holds=scoring.target <= most)
    plain = not scoring.points_per_unit or (scoring.points_per_unit > base and variant.ladder == "trut")
    _require("scoring.points_per_unit", "0, or more than the first stake with the ladder trut", holds=plain)
    _at_most("scoring.points_per_unit", scoring.points_per_unit, HIGHEST_TARGET)
    alone = not scoring.points_per_unit or variant.remainder == "none"
    _require("remainder", "none, where points make units", holds=alone)
    # rules.md 2 bars a short deal near the target by points
    whole = not scoring.points_per_unit or not variant.short_deal
    _require("short_deal", "three cards each, where points make units", holds=whole)


def _check_last_point(variant: "Variant") -> None:
    last, target = variant.last_point, variant.scoring.target
    if last is None:
        _require("blind", "a rule for the last point, or no blind hands", holds=not variant.blind)
        return
    _require("last_point", "no such rule where points make units", holds=not variant.scoring.points_per_unit)
    _require("last_point.at", f"1 to {target - 1} points short, got {last.at}", holds=1 <= last.at < target)
    raised = last.stake >= variant.base_stake and last.decline >= 1
    _require("last_point.stake", "at least the first stake, and at least 1 for declining", holds=raised)
    _at_most("last_point.stake", last.stake, HIGHEST_TARGET)
    _at_most("last_point.decline", last.decline, HIGHEST_TARGET)


def _check_contests(variant: "Variant") -> None:
    envido, flor, pica = variant.envido, variant.flor, variant.pica
    if envido is not None or flor is not None:
        _require(
            "scoring.points_per_unit",
            "0, where envido or flor are played",
            holds=not variant.scoring.points_per_unit,
        )
        _require(
            "short_deal", "three cards each, where envido or flor are played", holds=not variant.short_deal
        )
        _require("accept", "explicit, where envido or flor are played", holds=variant.accept == "explicit")
        _require("blind", "cards that are seen, where envido or flor are played", holds=not variant.blind)
        _require(
            "cover_from_trick", "0, where flor is played", holds=flor is None or not variant.cover_from_trick
        )
    if envido is not None:
        calls = envido.max_envido >= 1 and envido.max_real >= 0
        _require("envido.max_envido", "at least 1", holds=calls)
        _at_most("envido.max_envido", envido.max_envido, MOST_CALLS)
        _at_most("envido.max_real", envido.max_real, MOST_CALLS)
        _at_most("envido.fold_bonus", envido.fold_bonus, HIGHEST_TARGET)
    if pica is not None:
        _require("pica", "six players, who meet in pairs", holds=max(SEAT_COUNTS) in variant.players)
        # rules.md 1.3 asks a side once a deal, 8.7 plays each duel for a stake of its own
        once = variant.last_point is None
        _require("pica", "no rule for the last point, where a deal is played as three games", holds=once)
        _require("pica.max", f"at least {pica.min}, got {pica.max}", holds=pica.max >= pica.min)


def _check_signals(variant: "Variant") -> None:
    signals = variant.signals
    if signals is None:
        return
    strange = [word for word in signals.vocabulary if word not in SIGNS]
    _require(
        "signals.vocabulary", f"words such as {next(iter(SIGNS))}, got {as_toml(strange)}", holds=not strange
    )
    twice = len({*signals.vocabulary}) == len(signals.vocabulary)
    _require("signals.vocabulary", "every word once", holds=twice)
    free = signals.truth == "free" or all(is_checkable(word) for word in signals.vocabulary)
    _require("signals.truth", "free, as not every word names cards", holds=free)
    # rules.md 6.4: an order is for cards of a rank, and nobody knows those of a blind hand
    seen = signals.orders == "none" or not variant.blind
    _require("signals.orders", "none, where hands are blind", holds=seen)
    governed = signals.visible_to == "governor" or signals.orders == "binding"
    governors = "four players, where governors are signed to or give orders"
    _require("signals", governors, holds=not governed or variant.players == (4,))
