"""A variant: the rules of one game as a value.

Every rule in which the games of the family differ is a field here; the machines read fields and never a name. A
variant that contradicts itself cannot be built. Fields belong to machines: a game whose machine is not here has no
field here either.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from .cards import rank_of, strengths
from .errors import VariantError

ENGINE = 1
"""The version of this engine: of what the fields below mean."""

CARDS_EACH = 3

Ladder = tuple[int, ...] | Literal["x2", "+2", "any", "game"]


@dataclass(frozen=True, slots=True)
class Redeal:
    """New cards from the rest of the pack, proposed by eldest before the lead."""

    consent: Literal["dealer", "all"]
    """Who must agree: the dealer, or every other player in seat order."""
    max: int | Literal["pack"]
    """How often in one hand; "pack": as long as the pack can supply a whole deal."""


@dataclass(frozen=True, slots=True)
class LastPoint:
    """The question to a side that is at its last point."""

    at: int
    """How many points short of the target the last point is."""
    stake: int
    """What the hand is worth if the side plays."""
    decline: int
    """What the other side scores if it does not."""
    share: bool
    """Whether its partners see each other's cards first."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How points make a game."""

    target: int
    """Points that win a game."""
    end_check: Literal["immediate", "hand_end"]
    """Whether the game ends as soon as a side has the target, or at the end of the hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The rules of one game; rules.md, section 14, names the fields."""

    name: str
    """The name of the preset or house rule."""
    version: int
    """The number of this version of its rules."""
    pack: tuple[str, ...]
    """The names of all cards; a card is its index here."""
    players: tuple[int, ...]
    """The numbers of seats it can be played with, ascending."""
    order: tuple[str, ...]
    """Ranks, strongest first; their cards tie. Also single cards, or several entries in one, with spaces, that tie."""
    short_deal: bool
    """Whether the pack is cut or tapped, and after a tap the dealer may deal one card each."""
    redeal: Redeal | None
    """The redeal, nil if there is none."""
    tie_leader: Literal["same", "spoiler"]
    """Who leads after a tied trick: who led it, or the last who played a tying card."""
    partner_tie: Literal["earlier", "leader_only"]
    """Best cards equal in one side: it wins the trick always, or only if one of them led it."""
    all_tied: Literal["eldest", "draw"]
    """Who has a hand in which every trick is tied."""
    hand_rule: Literal["standard", "put"]
    """How tricks make a hand: two of them, or after a tie the first that is not tied; or simply the most."""
    ladder: Ladder
    """The stakes: all of them; or doubling; or two more (from 1 to 2); or any; or only the whole game."""
    cap: Literal["target", "strict", "no_overkill"]
    """What bounds an ask: the target; the target less the higher score; or that the stake already wins."""
    ask_window: Literal["b", "ba"]
    """When a seat asks: before its own card, or before or after it."""
    accept: Literal["explicit", "implicit"]
    """Whether playing a card accepts an ask."""
    answerer: Literal["any"]
    """Which seat of the asked side answers."""
    alternate: Literal["yes", "no", "once"]
    """Who may ask after an accepted ask: the side that accepted, anybody, nobody."""
    raise_in_answer: bool
    """Whether an ask is answered by a higher one."""
    remainder: Literal["none", "accept", "counter"]
    """Whether the whole game may be asked for, and how it is taken: by accepting, or by asking for it too."""
    concede: Literal["vs_ask", "any", "on_turn"]
    """When a hand is given up: only as an answer, at any time, on one's turn."""
    last_point: LastPoint | None
    """The rule for a side at its last point, nil if there is none."""
    scoring: Scoring
    """How points make a game."""
    match: int
    """The match is the best of so many games."""
    absent: Literal["play", "concede"] = "play"
    """What a ruling does on a turn: play the lowest slot, or give the hand up."""
    reveal: Literal["hand", "match"] = "hand"
    """When cards that the rules do not show are opened: at the end of the hand or of the match."""
    strengths: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The strength of every card, by card; follows from pack and order."""

    def __post_init__(self) -> None:
        _check_table(self)
        object.__setattr__(self, "strengths", strengths(self.pack, self.order))
        _check_stakes(self)
        _check_scoring(self)

    @property
    def base_stake(self) -> int:
        """What a hand is worth before anybody asks."""
        return self.ladder[0] if isinstance(self.ladder, tuple) and self.ladder else 1

    @property
    def games_to_win(self) -> int:
        """The games that win a match."""
        return self.match // 2 + 1


def _require(name: str, reason: str, *, holds: bool) -> None:
    if not holds:
        raise VariantError(f"{name}: expected {reason}")


def _check_table(variant: Variant) -> None:
    pack, players = variant.pack, variant.players
    _require("pack", "no card twice", holds=len(set(pack)) == len(pack))
    _require("pack", "cards of a rank and a suit", holds=all(rank_of(name) for name in pack))
    seated = (
        bool(players)
        and all(seats in (2, 4, 6) for seats in players)
        and players == tuple(sorted({*players}))
    )
    _require("players", f"some of 2, 4, 6, ascending, got {players}", holds=seated)
    needed = max(players) * CARDS_EACH
    _require(
        "pack",
        f"at least {needed} cards for {max(players)} seats, got {len(pack)}",
        holds=len(pack) >= needed,
    )
    redeal = variant.redeal
    often = redeal is None or redeal.max == "pack" or redeal.max >= 1
    _require("redeal.max", "at least 1, or no redeal at all", holds=often)


def _check_stakes(variant: Variant) -> None:
    ladder = variant.ladder
    if isinstance(ladder, tuple):
        rises = len(ladder) > 1 and ladder[0] >= 1 and all(low < high for low, high in pairwise(ladder))
        _require("ladder", f"two or more rising stakes, got {ladder}", holds=rises)
    offered = ladder != "game" or variant.remainder != "none"
    _require("remainder", "accept or counter, as the ladder is the game alone", holds=offered)
    _require(
        "ladder", "stakes that an answer can raise", holds=ladder != "game" or not variant.raise_in_answer
    )
    answers = variant.accept == "explicit" or variant.remainder == "none"
    _require("accept", "explicit, as a remainder is never taken by playing on", holds=answers)


def _check_scoring(variant: Variant) -> None:
    target, last = variant.scoring.target, variant.last_point
    _require("match", f"an odd number of games, got {variant.match}", holds=variant.match % 2 == 1)
    _require("version", f"at least 1, got {variant.version}", holds=variant.version >= 1)
    _require(
        "scoring.target",
        f"more than the first stake, {variant.base_stake}, got {target}",
        holds=target > variant.base_stake,
    )
    if last is not None:
        _require(
            "last_point.at", f"1 to {target - 1} points short, got {last.at}", holds=1 <= last.at < target
        )
        raised = last.stake >= variant.base_stake and last.decline >= 1
        _require("last_point.stake", "at least the first stake, and at least 1 for declining", holds=raised)
