"""Acts as they are signed, (kind, args), and as the rules know them, an Action: one table of shapes, both ways.

A signed act opens cards: `play` carries slot, card and salt. The rules know only the card. So reading an act gives the
action and the openings it brings, and writing one needs the seat's own openings.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, assert_never

import msgspec

from truc_protocol.checks import CheckError
from truc_protocol.dealing import SALT_BYTES, Opening
from truc_rules import KINDS, REST, TRUT, Action, ArgShape, Card, Kind, Match, Seat, slot_of

_KINDS = {str(kind): kind for kind in Kind}
COUNTS = (3, 1)
"""How many cards a deal act may give each seat."""


class SlotOpening(NamedTuple):
    """One card of a seat's deal laid open: its place, the card and the salt of its leaf."""

    slot: int
    card: int
    salt: bytes


class Move(msgspec.Struct, frozen=True):
    """An act read from its record: what the rules are told, the cards it opens, and the place of a cut (else 0)."""

    action: Action
    openings: tuple[SlotOpening, ...] = ()
    cut: int = 0


def read_act(seat: int, kind: str, args: Sequence[Any], *, deck: int, culprit: str | None = None) -> Move:
    """Read (kind, args); `deck` is the number of cards in the pack, `culprit` who has signed it, if anybody.

    Raises:
        CheckError: C2, if the kind is unknown or its args have another shape.
    """
    known = _KINDS.get(kind)
    if known is None:
        raise CheckError("C2", f"act: expected a known kind, got {kind!r}", culprit)
    move = _read(Seat(seat), known, args, deck)
    if move is None:
        message = f"act {kind}: expected args of the shape {KINDS[known].name.lower()}, got others"
        raise CheckError("C2", message, culprit)
    return move


def _read(seat: Seat, kind: Kind, args: Sequence[Any], deck: int) -> Move | None:
    match KINDS[kind], args:
        case ArgShape.NONE, []:
            return Move(Action(seat, kind))
        case ArgShape.PLAY, [*opened, ask] if ask is None or _is_stake(ask):
            opening = _opening(opened, deck)
            return opening and Move(Action(seat, kind, (Card(opening.card),), ask), (opening,))
        case ArgShape.SHOW, [list() | tuple() as items]:
            return _read_show(seat, kind, items, deck)
        case ArgShape.CUT, [place] if _is_number(place) and place < deck:
            return Move(Action(seat, kind), cut=place)
        case ArgShape.STAKE, [stake] if _is_stake(stake):
            return Move(Action(seat, kind, (), stake))
        case ArgShape.COUNT, [count] if _is_number(count) and count in COUNTS:
            return Move(Action(seat, kind, (), count))
        case ((ArgShape.COVER | ArgShape.SLOT | ArgShape.NUMBER | ArgShape.SEAT), [number]) if _is_number(
            number
        ):
            return Move(Action(seat, kind, (), number))
        case ArgShape.ORDER, [str(word)]:
            return Move(Action(seat, kind, (), word))
        case _:
            return None


def _read_show(seat: Seat, kind: Kind, items: Sequence[Any], deck: int) -> Move | None:
    openings = tuple(
        opening for item in items if isinstance(item, list | tuple) and (opening := _opening(item, deck))
    )
    slots = [opening.slot for opening in openings]
    if len(openings) != len(items) or not slots or slots != sorted(set(slots)):
        return None
    return Move(Action(seat, kind, tuple(Card(opening.card) for opening in openings)), openings)


def _opening(item: Sequence[Any], deck: int) -> SlotOpening | None:
    if len(item) != len(SlotOpening._fields):
        return None
    slot, card, salt = item
    is_card = _is_number(slot) and _is_number(card) and card < deck
    return (
        SlotOpening(slot, card, salt) if is_card and type(salt) is bytes and len(salt) == SALT_BYTES else None
    )


def _is_number(value: object) -> bool:
    return type(value) is int


def _is_stake(value: object) -> bool:
    return _is_number(value) or value in (REST, TRUT)


def write_args(match: Match, action: Action, openings: Sequence[Opening], *, cut: int = 0) -> list[Any]:
    """Return the args that express `action`; `openings` are the acting seat's own, by slot, of the newest deal."""
    match KINDS[action.kind]:
        case ArgShape.PLAY:  # first, as most acts are plays
            slot = slot_of(match, action)
            return [slot, *openings[slot], action.value]
        case ArgShape.NONE:
            return []
        case ArgShape.CUT:
            return [cut]
        case ArgShape.SHOW:
            slots = sorted(slot for slot, opening in enumerate(openings) if opening.card in action.cards)
            return [[[slot, *openings[slot]] for slot in slots]]
        case ArgShape.COVER:
            return [slot_of(match, action) if action.cards else action.value]
        case (
            ArgShape.STAKE | ArgShape.SLOT | ArgShape.NUMBER | ArgShape.SEAT | ArgShape.COUNT | ArgShape.ORDER
        ):
            return [action.value]
        case shape:
            assert_never(shape)
