"""Seats and sides: who sits where, who plays next, who belongs together.

Seats are numbered in order of play, so only "the next seat" matters and never a direction. Sides alternate: the
seat after any seat is always an opponent's.
"""

from functools import cache
from typing import NewType

Seat = NewType("Seat", int)
Side = NewType("Side", int)

SIDES = (Side(0), Side(1))
# rules.md 1.1; 13b.18: no source describes three or five
SEAT_COUNTS = (2, 4, 6)
"""The numbers of seats that games of the family have."""


def side_of(seat: Seat) -> Side:
    """Return the side `seat` plays for."""
    return Side(seat % 2)


def other_side(side: Side) -> Side:
    """Return the opponents of `side`."""
    return Side(1 - side)


def seat_after(seat: Seat, seats: int, *, steps: int = 1) -> Seat:
    """Return the seat `steps` places after `seat` in order of play."""
    return Seat((seat + steps) % seats)


@cache
def seats_after(seat: Seat, seats: int) -> tuple[Seat, ...]:
    """Return all seats in order of play, beginning after `seat` and ending with it."""
    return tuple(Seat((seat + step) % seats) for step in range(1, seats + 1))


@cache
def side_after(seat: Seat, side: Side, seats: int) -> tuple[Seat, ...]:
    """Return the seats of `side` in order of play, beginning after `seat`."""
    return tuple(other for other in seats_after(seat, seats) if other % 2 == side)


@cache
def seats_from(seat: Seat, stride: int, seats: int) -> tuple[Seat, ...]:
    """Return every `stride`-th seat in order of play, beginning with `seat`."""
    return tuple(Seat((seat + step) % seats) for step in range(0, seats, stride))


@cache
def opponents_from(seat: Seat, stride: int, seats: int) -> tuple[Seat, ...]:
    """Return the seats of `seats_from` that play against `seat`: the two sides alternate."""
    return seats_from(seat, stride, seats)[1::2]
