"""Acts as they are signed, (kind, args), as the rules know them, and as a seat is offered them: one table of shapes.

A signed act opens cards: `play` carries slot, card and salt. The rules know only the card. So reading an act gives the
action and the openings it brings, and writing one needs the seat's own openings. An option also carries a move line,
which is shown: the seat makes the line again from (kind, args), and compares the cards it would open with its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from truc_protocol.blind_mode.points import SCALAR_BYTES
from truc_protocol.blind_mode.seat_steps import CardWithKeys
from truc_protocol.boxes import BoxError, Option
from truc_protocol.checks import CheckError
from truc_protocol.dealing import SALT_BYTES, Opening
from truc_protocol.records import BLIND, DEALT
from truc_rules import (
    KINDS,
    PLAIN_PLAYS,
    REST,
    TRUT,
    Action,
    ArgShape,
    Card,
    CardError,
    Kind,
    Match,
    Seat,
    Variant,
    described,
    move_line,
)

_KINDS = {str(kind): kind for kind in Kind}
# looked up once: an Enum lookup is expensive
_CUT, _SHOW, _COVER = Kind.CUT, Kind.SHOW, Kind.COVER
_new = tuple.__new__  # builds a NamedTuple without calling its constructor
DEAL_COUNTS = (3, 1)
"""How many cards a deal act may give each seat."""


Proof = bytes | Sequence[bytes]
"""What shows that a card lies in its place: the salt of its leaf, or in mode blind the key of each seat."""


HeldCard = Opening | CardWithKeys
"""One of a seat's own cards, with what opens its place."""
IsOpening = Callable[[object, object, object, int], bool]


class SlotOpening(NamedTuple):
    """One card of a seat's deal laid open: its place, the card and what proves it."""

    slot: int
    card: int
    proof: Proof


class Move(msgspec.Struct, frozen=True):
    """An act read from its record: what the rules are told, the cards it opens, and the place of a cut (else 0)."""

    action: Action
    openings: tuple[SlotOpening, ...] = ()
    cut: int = 0


def read_act(
    seat: int, kind: str, args: Sequence[Any], *, deck: int, culprit: str | None = None, mode: str = DEALT
) -> Move:
    """Read (kind, args); `deck` is the number of cards in the pack, `culprit` who signed it, if anybody.

    What opens a card differs between the modes of a table.

    Raises:
        CheckError: C2, if the kind is unknown or its args have another shape.
    """
    if kind not in _KINDS:
        raise CheckError("C2", f"act: expected a known kind, got {kind!r}", culprit)
    known = _KINDS[kind]
    move = _read(Seat(seat), known, args, deck, _IS_OPENING[mode])
    if move is None:
        message = f"act {kind}: expected args of the shape {KINDS[known].name.lower()}, got others"
        raise CheckError("C2", message, culprit)
    return move


def _read(seat: Seat, kind: Kind, args: Sequence[Any], deck: int, is_opening: IsOpening) -> Move | None:
    match KINDS[kind], args:
        case ArgShape.PLAY, [slot, card, proof, ask]:  # first, as most acts are plays
            if not is_opening(slot, card, proof, deck) or not (ask is None or _is_stake(ask)):
                return None
            is_plain = ask is None and seat < len(PLAIN_PLAYS)
            action = PLAIN_PLAYS[seat][card] if is_plain else Action(seat, kind, (card,), ask)
            return Move(action, (_new(SlotOpening, (slot, card, proof)),))
        case ArgShape.NONE, []:
            return Move(Action(seat, kind))
        case ArgShape.SHOW, [list() | tuple() as items]:
            return _read_show(seat, kind, items, deck, is_opening)
        # decoded numbers are never negative; 0, which only a ruling may cut, is of a seat C20, not C2
        case ArgShape.CUT, [place] if type(place) is int and place < deck:
            return Move(Action(seat, kind), cut=place)
        case ArgShape.STAKE, [stake] if _is_stake(stake):
            return Move(Action(seat, kind, (), stake))
        case ArgShape.COUNT, [count] if type(count) is int and count in DEAL_COUNTS:
            return Move(Action(seat, kind, (), count))
        case ((ArgShape.COVER | ArgShape.SLOT | ArgShape.NUMBER | ArgShape.SEAT), [value]) if (
            type(value) is int
        ):
            return Move(Action(seat, kind, (), value))
        # that the word is one of the orders is C20, not C2 (specification.md 8)
        case ArgShape.ORDER, [str(word)]:
            return Move(Action(seat, kind, (), word))
        case _:
            return None


def _read_show(seat: Seat, kind: Kind, items: Sequence[Any], deck: int, is_opening: IsOpening) -> Move | None:
    openings: list[SlotOpening] = []
    for item in items:
        match item:
            case [slot, card, proof] if is_opening(slot, card, proof, deck):
                openings.append(SlotOpening(slot, card, proof))
            case _:
                return None
    slots = [opening.slot for opening in openings]
    # ascending and without repeats, so that each set of cards has one form (specification.md 8)
    if not slots or slots != sorted(set(slots)):
        return None
    return Move(Action(seat, kind, tuple(Card(opening.card) for opening in openings)), tuple(openings))


def _is_opening(slot: object, card: object, salt: object, deck: int) -> bool:
    """Tell whether these are a slot, a card of the pack and a salt; `type`, as True and False count as int."""
    is_card = type(slot) is int and type(card) is int and card < deck
    return is_card and type(salt) is bytes and len(salt) == SALT_BYTES


def _is_opening_by_keys(slot: object, card: object, keys: object, deck: int) -> bool:
    """Tell whether these are a slot, a card of the pack and keys."""
    if not (type(slot) is int and type(card) is int and card < deck and isinstance(keys, list | tuple)):
        return False
    # how many keys there must be, and whether they fit, is checked against the place itself (C19)
    return all(type(key) is bytes and len(key) == SCALAR_BYTES for key in keys)


_IS_OPENING: Final[Mapping[str, IsOpening]] = {DEALT: _is_opening, BLIND: _is_opening_by_keys}


def _is_stake(value: object) -> bool:
    return type(value) is int or value in (REST, TRUT)


def write_args(action: Action, openings: Sequence[HeldCard], *, cut: int = 0) -> tuple[Any, ...]:
    """Return the args that express `action`; `openings` are the acting seat's own, by slot, of the newest deal.

    Raises:
        CardError: The seat does not hold a card of the action.
    """
    _, kind, cards, value = action
    if not cards:
        return (cut,) if kind is _CUT else () if value is None else (value,)
    if kind is _SHOW:
        shown = [(slot, *opening) for slot, opening in enumerate(openings) if opening.card in cards]
        return (shown,)
    for slot, (card, salt) in enumerate(openings):
        if card == cards[0]:
            return (slot,) if kind is _COVER else (slot, card, salt, value)
    raise CardError(f"expected a card that seat {action.seat} holds, got {cards[0]}")


def options_of(
    match: Match,
    actions: Sequence[Action],
    openings: Sequence[HeldCard],
    *,
    cut: int = 0,
    more_hints: tuple[tuple[str, int | str], ...] = (),
) -> tuple[Option, ...]:
    """Return legal actions as their seat is offered them; `openings` are its own, and each gets `more_hints`."""
    return tuple(
        [
            _new(Option, (str(action.kind), write_args(action, openings, cut=cut), line, hints + more_hints))
            for action, (line, hints) in zip(actions, described(match, actions), strict=True)
        ]
    )


def check_option(variant: Variant, seat: int, option: Option, openings: Sequence[HeldCard]) -> Move:
    """Return the move that an option would sign; `openings` are the seat's own of the newest deal, by slot.

    Raises:
        BoxError: (kind, args) is not an act, the line says something else, or the cards are not the seat's own.
    """
    try:
        # mode dealt only: at a blind table seats make their own options and are offered none
        move = read_act(seat, option.kind, option.args, deck=len(variant.pack))
    except CheckError as error:
        raise BoxError(f"option {option.line!r}: {error.message}") from error
    # the server only proposes: a seat that signs a card it does not hold has only itself to blame (C19)
    for opening in move.openings:
        if opening.slot >= len(openings) or openings[opening.slot] != (opening.card, opening.proof):
            raise BoxError(f"option {option.line!r}: expected the seat's own card in slot {opening.slot}")
    # the line is all that a person sees, so it is made again here from what would be signed
    line = move_line(variant, _with_card(move.action, openings, option.line))
    if line != option.line:
        raise BoxError(f"expected the line {line!r} for what would be signed, got {option.line!r}")
    return move


def _with_card(action: Action, openings: Sequence[HeldCard], line: str) -> Action:
    """Fill in the card, where the act names only its slot and the line names the card."""
    slot = action.value
    if KINDS[Kind(action.kind)] is not ArgShape.COVER or not isinstance(slot, int):
        return action
    if slot >= len(openings):
        raise BoxError(f"option {line!r}: expected the seat's own card in slot {slot}")
    return Action(action.seat, action.kind, (Card(openings[slot].card),))
