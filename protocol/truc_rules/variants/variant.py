"""A variant: the rules of one game as a value.

Every rule in which the games of the family differ is a field here; the machines read fields and never a name. A game
whose machine is not here has no field here either. A variant that contradicts itself cannot be built: the checks below
the fields name the field and say what was expected of it.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from truc_rules.cards import (
    CARDS_EACH,
    LARGEST_PACK,
    envido_numbers,
    is_card_name,
    rank_of,
    strengths,
    suit_of,
    turned_strengths,
)
from truc_rules.errors import VariantError
from truc_rules.seats import SEAT_COUNTS
from truc_rules.variants.toml_text import as_toml
from truc_rules.variants.vocabulary import SIGNS, is_checkable

ENGINE = 1
"""The version of this engine, that is, of the meaning of the fields below.

A rule that is added to a group, with a default, leaves it as it is: documents of older games stay what they were. A
field of `Variant` itself would change every document and its hash, and needs another version.
"""
HIGHEST_TARGET = 1000
"""The highest target that a game can have, and the highest stake."""
HIGHEST_TARGET_OF_ANY = 120
"""The highest target where every number above the stake may be asked for: each of them is an option."""
PAIRED = 20
"""What two cards of one suit count for besides their numbers, and the three of a flor (rules.md 8.4)."""
_HIGHEST_NUMBERS = (7, 6, 5)
HIGHEST_PIECE = 20
"""The most that a piece can count: every value that cards may have is an option."""
MOST_CALLS = 16
"""How often envido, and real envido, can be called in one contest: each call looks through all those before it."""

Ladder = tuple[int, ...] | Literal["x2", "+2", "any", "game", "trut"]


@dataclass(frozen=True, slots=True)
class TurnUp:
    """A card turned up after the deal, which raises others: the next rank of a cycle, or pieces of its own suit."""

    cycle: tuple[str, ...] = ()
    """Ranks, ascending; after the last comes the first again, and the one after the card turned up is raised."""
    suits: tuple[str, ...] = ()
    """Suits of the raised rank, strongest first."""
    pieces: tuple[str, ...] = ()
    """Ranks that are raised in the suit of the card turned up, strongest first; then there is no cycle."""
    numbers: tuple[int, ...] = ()
    """What each piece counts for in envido and flor, where it is of any suit."""
    stand_in: str = ""
    """The rank that is the piece instead, if a piece itself is turned up; empty: none."""

    def raised(self, turned: str) -> tuple[str, ...]:
        """Return the names of the cards that a card turned up raises above all others, strongest first."""
        rank, suit = rank_of(turned), suit_of(turned)
        if self.pieces:
            return tuple((self.stand_in if piece == rank else piece) + suit for piece in self.pieces)
        raised = self.cycle[(self.cycle.index(rank) + 1) % len(self.cycle)]
        return tuple(raised + other for other in self.suits)


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
    settle: Literal["said", "hand_end"] = "said"
    """When accepted calls are settled: by values said at once, or unsaid, by all cards dealt, when the hand is over."""


@dataclass(frozen=True, slots=True)
class Flor:
    """The side bet on three cards of one kind, which must be declared before the first card."""

    kind: Literal["suit", "run"]
    """Three cards of one suit, or three consecutive ones of one suit."""
    claims: bool
    """Whether an opponent may claim that a flor was kept quiet."""
    challenge: bool = True
    """Whether a flor may be answered by giving in or by a contraflor; else only by a flor."""
    pays: Literal["all", "own"] = "all"
    """What the best flor scores for: the flores of both sides, or those of its own."""
    reserved: bool = False
    """Whether each piece of a flor but one counts 20 more."""


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
    """The rules of one game; docs/rules/parameters.md is made from the fields and the lines under them."""

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
    remainder: Literal["none", "accept", "counter", "last"]
    """Whether the whole game may be asked for; taken by accepting or asking too; last: only where no number is left."""
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
    strengths_by_turn_up: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    """The same for each card that may be turned up, by that card; empty without a turn-up."""
    base_stake: int = field(init=False, repr=False, compare=False)
    """What a hand is worth before anybody asks."""
    has_contests: bool = field(init=False, repr=False, compare=False)
    """Whether envido or flor is played."""
    has_orders: bool = field(init=False, repr=False, compare=False)
    """Whether governors give orders."""
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether there is neither: the stake is all that is bet on or called for."""
    is_settled_late: bool = field(init=False, repr=False, compare=False)
    """Whether cards that were not played can change the score when the hand is over."""
    has_windows: bool = field(init=False, repr=False, compare=False)
    """Whether what a seat may do can depend on what only it sees: on a flor that it holds."""
    waits_its_turn: bool = field(init=False, repr=False, compare=False)
    """Whether, with no offer open, a seat whose turn it is not has nothing to say in the play."""
    ranks: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The ranks of the pack, each once, in its order."""
    suits: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The suit of every card, by card."""
    numbers: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """What every card counts for in envido and flor, by card; rules.md, 8.4: court cards 0."""
    counts_by_turn_up: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = field(
        init=False, repr=False, compare=False
    )
    """Suits and numbers for each card that may be turned up, by that card, a piece of no suit; empty without pieces."""
    envido_values: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The values that unknown cards may have in envido."""
    flor_values: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The values that unknown cards may have in a flor."""

    def __post_init__(self) -> None:
        # in this order: what is derived needs a sound pack, and the other checks need what is derived
        _check_table(self)
        for name, value in self._derived().items():
            object.__setattr__(self, name, value)  # the class is frozen
        _check_rules(self)

    def _derived(self) -> dict[str, object]:
        """Return what follows from the rules alone, by field: the machines ask for it with every move."""
        plain, turnup, signals = strengths(self.pack, self.order), self.turnup, self.signals
        has_contests = self.envido is not None or self.flor is not None
        has_orders = signals is not None and signals.orders == "binding"
        has_claims = self.flor is not None and self.flor.claims
        concedes = self.concede in ("any", "governor")
        return {
            "strengths": plain,
            "strengths_by_turn_up": ()
            if turnup is None
            else turned_strengths(self.pack, plain, map(turnup.raised, self.pack)),
            "base_stake": self.ladder[0] if isinstance(self.ladder, tuple) and self.ladder else 1,
            "has_contests": has_contests,
            "has_orders": has_orders,
            "is_plain": not (has_contests or has_orders),
            "is_settled_late": self.flor is not None
            or (self.envido is not None and self.envido.settle == "hand_end"),
            "has_windows": self.flor is not None,
            "waits_its_turn": self.ask_window == "b" and not (has_orders or has_claims or concedes),
            "ranks": tuple(dict.fromkeys(map(rank_of, self.pack))),
            "suits": tuple(map(suit_of, self.pack)),
            "numbers": envido_numbers(self.pack),
            **_of_values(self.pack, turnup, self.flor),
        }

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


def _of_values(pack: tuple[str, ...], turnup: TurnUp | None, flor: Flor | None) -> dict[str, object]:
    """Return, by field, what side bets with a card turned up count, and the values that hands can have in them."""
    own = () if turnup is None else turnup.numbers
    # the best hand takes the highest two, or three, of all numbers (specification.md, "Unknown cards")
    first, second, third, *_ = sorted((*_HIGHEST_NUMBERS, *own), reverse=True)
    reserved = PAIRED * max(min(len(own), CARDS_EACH) - 1, 0) if flor is not None and flor.reserved else 0
    return {
        "counts_by_turn_up": tuple(_counted(pack, turnup, turned) for turned in pack)
        if own and turnup
        else (),
        "envido_values": (*range(_HIGHEST_NUMBERS[0] + 1), *range(PAIRED, PAIRED + first + second + 1)),
        "flor_values": (*range(PAIRED, PAIRED + first + second + third + reserved + 1),),
    }


def _counted(pack: tuple[str, ...], turnup: TurnUp, turned: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    own = dict(zip(turnup.raised(turned), turnup.numbers, strict=True))
    plain = zip(pack, envido_numbers(pack), strict=True)
    suits = tuple("" if name in own else suit_of(name) for name in pack)
    return suits, tuple(own.get(name, number) for name, number in plain)


def _require(name: str, reason: str, *, holds: bool) -> None:
    if not holds:
        raise VariantError(f"{name}: expected {reason}")


def _at_most(name: str, value: int, most: int) -> None:
    _require(name, f"at most {most}, got {value}", holds=value <= most)


def _check_table(variant: Variant) -> None:
    """Check players, pack and the card turned up.

    Raises:
        VariantError: They do not go together.
    """
    pack, players = variant.pack, variant.players
    _require("pack", "no card twice", holds=len(set(pack)) == len(pack))
    _require("pack", f"at most {LARGEST_PACK} cards, got {len(pack)}", holds=len(pack) <= LARGEST_PACK)
    cards = "cards of a rank, a number or a capital letter, and a small letter of suit"
    _require("pack", cards, holds=all(map(is_card_name, pack)))
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


def _check_turnup(variant: Variant) -> None:
    rule = variant.turnup
    if rule is None:
        return
    ranks, suits = {*map(rank_of, variant.pack)}, {*map(suit_of, variant.pack)}
    _require("redeal", "no redeal where a card is turned up", holds=variant.redeal is None)
    if rule.pieces:
        _check_pieces(rule, ranks)
        return
    plain = not rule.numbers and not rule.stand_in
    _require("turnup.pieces", "ranks, where numbers or a stand-in are given", holds=plain)
    # any card may be turned up, and the rank after its own is raised
    cycle = "every rank of the pack, each once"
    _require("turnup.cycle", cycle, holds={*rule.cycle} == ranks and len(rule.cycle) == len(ranks))
    order = "every suit of the pack, each once"
    _require("turnup.suits", order, holds={*rule.suits} == suits and len(rule.suits) == len(suits))


def _check_pieces(rule: TurnUp, ranks: set[str]) -> None:
    pieces, numbers = {*rule.pieces}, rule.numbers
    known = len(pieces) == len(rule.pieces) and pieces <= ranks
    _require("turnup.pieces", f"ranks of the pack, each once, got {as_toml(rule.pieces)}", holds=known)
    _require("turnup.cycle", "no cycle beside pieces", holds=not (rule.cycle or rule.suits))
    counted = len(numbers) == len(pieces) and max(numbers) <= HIGHEST_PIECE
    each = f"a number of at most {HIGHEST_PIECE} for each piece, got {as_toml(numbers)}"
    _require("turnup.numbers", each, holds=counted)
    instead = f"a rank of the pack that is no piece, or nothing, got {as_toml(rule.stand_in)}"
    _require("turnup.stand_in", instead, holds=not rule.stand_in or rule.stand_in in ranks - pieces)


def _check_rules(variant: Variant) -> None:
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
    # hidden flores may have ended the hand, and nobody has seen the cards of a blind one
    # (test_cards_are_not_shown_by_choice_where_a_reader_could_not_follow)
    open_hands = variant.show == "none" or (variant.flor is None and not variant.blind)
    _require("show", "none, where flor is played or hands are blind", holds=open_hands)


def _check_hand(variant: Variant) -> None:
    redeal, cover = variant.redeal, variant.cover_from_trick
    often = redeal is None or redeal.max == "pack" or redeal.max >= 1
    _require("redeal.max", "at least 1, or no redeal at all", holds=often)
    # rules.md 9, "Face-down card": the first card of a hand is played face up
    tricks = f"0, or a trick from 2 to {CARDS_EACH}, got {cover}"
    _require("cover_from_trick", tricks, holds=cover == 0 or 1 < cover <= CARDS_EACH)
    # rules.md 6.1: dealer and eldest govern, each with a single partner
    governed = variant.players == (4,)
    _require(
        "answerer", "any, as only four players have governors", holds=governed or variant.answerer == "any"
    )
    _require(
        "concede",
        "another rule, as only four players have governors",
        holds=governed or variant.concede != "governor",
    )


def _check_stakes(variant: Variant) -> None:
    ladder = variant.ladder
    if isinstance(ladder, tuple):
        rises = len(ladder) > 1 and ladder[0] >= 1 and all(low < high for low, high in pairwise(ladder))
        _require("ladder", f"two or more rising stakes, got {as_toml(ladder)}", holds=rises)
        _require(
            "ladder",
            f"stakes of at most {HIGHEST_TARGET}, got {as_toml(ladder)}",
            holds=ladder[-1] <= HIGHEST_TARGET,
        )
    # the ladder "game" has no numbers: without a remainder nothing could be asked for
    offered = ladder != "game" or variant.remainder != "none"
    _require("remainder", "accept or counter, as the ladder is the game alone", holds=offered)
    # nothing is higher than the one ask
    single = ladder in ("game", "trut")
    _require("ladder", "stakes that an answer can raise", holds=not (single and variant.raise_in_answer))
    units = ladder != "trut" or variant.scoring.points_per_unit > 0
    _require("scoring.points_per_unit", "a number of points, as a unit is played for", holds=units)
    # rules.md 1.7: it is taken by a word, or by asking for it too
    answers = variant.accept == "explicit" or variant.remainder == "none"
    _require("accept", "explicit, as a remainder is never taken by playing on", holds=answers)


def _check_scoring(variant: Variant) -> None:
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
    # a game that was staked pays the points up to the target, which here counts units
    alone = not scoring.points_per_unit or variant.remainder == "none"
    _require("remainder", "none, where points make units", holds=alone)
    # rules.md 2 bars a short deal near the target by points
    whole = not scoring.points_per_unit or not variant.short_deal
    _require("short_deal", "three cards each, where points make units", holds=whole)


def _check_last_point(variant: Variant) -> None:
    last, target = variant.last_point, variant.scoring.target
    if last is None:
        # rules.md 9: blind is the hand in which both sides are at their last point
        _require("blind", "a rule for the last point, or no blind hands", holds=not variant.blind)
        return
    # it lies a number of points below the target, which there counts units
    _require("last_point", "no such rule where points make units", holds=not variant.scoring.points_per_unit)
    _require("last_point.at", f"1 to {target - 1} points short, got {last.at}", holds=1 <= last.at < target)
    raised = last.stake >= variant.base_stake and last.decline >= 1
    _require("last_point.stake", "at least the first stake, and at least 1 for declining", holds=raised)
    _at_most("last_point.stake", last.stake, HIGHEST_TARGET)
    _at_most("last_point.decline", last.decline, HIGHEST_TARGET)


def _check_contests(variant: Variant) -> None:
    envido, flor, pica = variant.envido, variant.flor, variant.pica
    if envido is not None or flor is not None:
        # rules.md 8.4: they score points, and falta is measured to a target of points
        _require(
            "scoring.points_per_unit",
            "0, where envido or flor are played",
            holds=not variant.scoring.points_per_unit,
        )
        # rules.md 8.4, 8.6: their values are those of three cards
        _require(
            "short_deal", "three cards each, where envido or flor are played", holds=not variant.short_deal
        )
        # rules.md 8.3: an ask that waited below a contest is answered by a word
        _require("accept", "explicit, where envido or flor are played", holds=variant.accept == "explicit")
        _require("blind", "cards that are seen, where envido or flor are played", holds=not variant.blind)
        # rules.md 19.8: a flor must stay provable
        _require(
            "cover_from_trick", "0, where flor is played", holds=flor is None or not variant.cover_from_trick
        )
    if envido is not None:
        calls = envido.max_envido >= 1 and envido.max_real >= 0
        _require("envido.max_envido", "at least 1", holds=calls)
        _at_most("envido.max_envido", envido.max_envido, MOST_CALLS)
        _at_most("envido.max_real", envido.max_real, MOST_CALLS)
        _at_most("envido.fold_bonus", envido.fold_bonus, HIGHEST_TARGET)
        said = pica is None or envido.settle == "said"
        _require("envido.settle", "said, where a deal is played as three games", holds=said)
    runs = flor is not None and flor.kind == "run" and variant.turnup is not None and variant.turnup.pieces
    _require("flor.kind", "suit, where pieces are of any suit", holds=not runs)
    if pica is not None:
        _require("pica", "six players, who meet in pairs", holds=max(SEAT_COUNTS) in variant.players)
        # rules.md 1.3 asks a side once a deal, 8.7 plays each duel for a stake of its own
        once = variant.last_point is None
        _require("pica", "no rule for the last point, where a deal is played as three games", holds=once)
        _require("pica.max", f"at least {pica.min}, got {pica.max}", holds=pica.max >= pica.min)


def _check_signals(variant: Variant) -> None:
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
