"""A variant: the rules of one game as a value.

Every rule in which the games of the family differ is a field here; the machines read fields and never a name. A
variant that contradicts itself cannot be built. Fields belong to machines: a game whose machine is not here has no
field here either.
"""

from dataclasses import dataclass, field
from typing import Literal

from truc_rules.cards.packs import envido_numbers, rank_of, strengths, suit_of, turned_strengths
from truc_rules.variants import consistency

ENGINE = 1
"""The version of this engine, that is, of the meaning of the fields below."""

Ladder = tuple[int, ...] | Literal["x2", "+2", "any", "game", "trut"]


@dataclass(frozen=True, slots=True)
class TurnUp:
    """A card turned up after the deal; the next rank in the cycle is the highest, its suits in an order of their own."""

    cycle: tuple[str, ...]
    """Ranks, ascending; after the last comes the first again."""
    suits: tuple[str, ...]
    """Suits of the raised rank, strongest first."""

    @property
    def raised(self) -> dict[str, str]:
        """By the rank of the card turned up, the rank that it raises: the next of the cycle."""
        return {rank: self.cycle[(at + 1) % len(self.cycle)] for at, rank in enumerate(self.cycle)}


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
class Envido:
    """The side bet on the best pair of one suit, before the first card."""

    max_envido: int
    """How often envido may be called in one contest."""
    max_real: int
    """How often real envido may be called in one contest."""
    falta: Literal["leader", "malas-game", "malas-15"]
    """What falta envido is worth: what the leader lacks; or, both sides in their first half, the game or that half."""
    fold_bonus: int
    """What the other side scores besides, when a hand is conceded while envido could still be called."""


@dataclass(frozen=True, slots=True)
class Flor:
    """The side bet on three cards of one kind, which must be declared before the first card."""

    kind: Literal["suit", "run"]
    """Three cards of one suit, or three consecutive ones of one suit."""
    claims: bool
    """Whether an opponent may claim that a flor was kept quiet."""


@dataclass(frozen=True, slots=True)
class Pica:
    """Every other hand is three duels, while the score is in a range; for six seats."""

    min: int
    """Points that one side must have."""
    max: int
    """Points that no side may exceed."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Signs to the partner, and orders."""

    vocabulary: tuple[str, ...]
    """The words that can be signed."""
    visible_to: Literal["partner", "governor", "table"]
    """Who sees a sign: the partners, the governor only, everybody."""
    truth: Literal["free", "enforced"]
    """Whether a sign must be true."""
    orders: Literal["none", "binding"]
    """Whether the governor orders what the partner plays next."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How points make a game."""

    target: int
    """What wins a game: points, or units if points make units."""
    points_per_unit: int
    """Points that make one unit, in which the game is counted; 0: the game is counted in points."""
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
    """Ranks, strongest first; cards of a rank tie. An entry may also be a card, or several that tie, with spaces."""
    turnup: TurnUp | None
    """The card that is turned up and raises a rank, nil if there is none."""
    short_deal: bool
    """Whether the pack is cut or tapped, and after a tap the dealer may deal one card each."""
    redeal: Redeal | None
    """The redeal, nil if there is none."""
    tie_leader: Literal["same", "spoiler"]
    """Who leads after a tied trick: the seat that led it, or the last that played a tying card."""
    partner_tie: Literal["earlier", "leader_only"]
    """When the best cards are equal and all of one side: it wins the trick always, or only if one of them was led."""
    all_tied: Literal["eldest", "draw"]
    """Who wins a hand in which every trick is tied: eldest, or nobody."""
    hand_rule: Literal["standard", "put"]
    """How tricks win a hand: two of them, or after a tie the first that is not tied; or simply the most."""
    ladder: Ladder
    """The stakes: all of them; or doubling; or two more (from 1 to 2); or any; or only the game, or one unit."""
    cap: Literal["target", "strict", "no_overkill"]
    """What bounds an ask: the target; the target less the higher score; or that the present stake already wins."""
    ask_window: Literal["b", "ba"]
    """When a seat asks: before its own card, or before or after it."""
    accept: Literal["explicit", "implicit"]
    """Whether playing a card accepts an ask."""
    answerer: Literal["any", "governor"]
    """Which seat of the asked side answers: any, or its governor, who is the dealer or eldest."""
    alternate: Literal["yes", "no", "once"]
    """Who may ask after an accepted ask: the side that accepted, anybody, nobody."""
    raise_in_answer: bool
    """Whether an ask may be answered by a higher one."""
    remainder: Literal["none", "accept", "counter"]
    """Whether the whole game may be asked for, and how it is taken: by accepting, or by asking for it too."""
    concede: Literal["vs_ask", "any", "on_turn", "governor"]
    """When a hand may be given up: only as an answer, at any time, on one's turn, at any time by the governor."""
    last_point: LastPoint | None
    """The rule for a side at its last point, nil if there is none."""
    blind: bool
    """Whether a hand in which both sides are at their last point is played with cards that nobody has seen."""
    cover_from_trick: int
    """From which trick on a card may be played face down; 0: never."""
    envido: Envido | None
    """The envido contest, nil if there is none."""
    flor: Flor | None
    """The flor contest, nil if there is none."""
    pica: Pica | None
    """Duels in every other hand, nil if there are none."""
    signals: Signals | None
    """Signs and orders, nil if there are none."""
    phrases: tuple[str, ...]
    """Quick phrases that players say at the table; they bind nobody."""
    show: Literal["none", "owner"]
    """Whether a seat may show its own unplayed cards when the hand is over."""
    scoring: Scoring
    """How points make a game."""
    match: int
    """The match is the best of this many games."""
    words: str
    """Which set of local words the game uses; it changes no rule."""
    absent: Literal["play", "concede"] = "play"
    """What a ruling does on a turn: play the lowest slot, or give the hand up."""
    reveal: Literal["hand", "match"] = "hand"
    """When cards that the rules do not show are opened: at the end of the hand or of the match."""
    strengths: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The strength of every card, by card, and last that of a covered one; follows from pack and order."""
    turned: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    """The same for each card that may be turned up, by that card; empty without a turn-up."""
    has_contests: bool = field(init=False, repr=False, compare=False)
    """Whether envido or flor is played."""
    has_orders: bool = field(init=False, repr=False, compare=False)
    """Whether governors give orders."""
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether there is neither: the stake is all that is bet on or called for."""
    ranks: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The ranks of the pack, each once, in its order."""
    suits: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The suit of every card, by card."""
    numbers: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """What every card counts for in envido and flor, by card; rules.md, 8.4: court cards 0."""

    def __post_init__(self) -> None:
        consistency.check_table(self)
        plain = strengths(self.pack, self.order)
        object.__setattr__(self, "strengths", plain)
        object.__setattr__(self, "turned", self._turned(plain))
        has_contests = self.envido is not None or self.flor is not None
        has_orders = self.signals is not None and self.signals.orders == "binding"
        object.__setattr__(self, "has_contests", has_contests)
        object.__setattr__(self, "has_orders", has_orders)
        object.__setattr__(self, "is_plain", not (has_contests or has_orders))
        object.__setattr__(self, "ranks", tuple(dict.fromkeys(map(rank_of, self.pack))))
        object.__setattr__(self, "suits", tuple(map(suit_of, self.pack)))
        object.__setattr__(self, "numbers", envido_numbers(self.pack))
        consistency.check_rules(self)

    def _turned(self, plain: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        if self.turnup is None:
            return ()
        return turned_strengths(self.pack, plain, raised=self.turnup.raised, suits=self.turnup.suits)

    @property
    def base_stake(self) -> int:
        """What a hand is worth before anybody asks."""
        return self.ladder[0] if isinstance(self.ladder, tuple) and self.ladder else 1

    @property
    def is_governed(self) -> bool:
        """Whether a side has a governor, who answers for it, receives signs or gives orders."""
        signals = self.signals
        if signals is not None and (signals.visible_to == "governor" or signals.orders == "binding"):
            return True
        return self.answerer == "governor"

    @property
    def games_to_win(self) -> int:
        """The games that win a match."""
        return self.match // 2 + 1

    @property
    def turn_count(self) -> int:
        """How many cards are turned up with the first deal."""
        return 0 if self.turnup is None else 1
