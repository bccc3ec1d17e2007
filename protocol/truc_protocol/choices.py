"""The options of a seat: how they are written, and what the seat checks in one before it offers it to its player.

An option carries (kind, args), which is signed, and a move line, which is shown. The seat makes the line again from
(kind, args), and compares the cards it would open with its own. Whether the rules allow it is not checked.
"""

from collections.abc import Sequence

from truc_protocol.acts import Move, read_act, write_args
from truc_protocol.boxes import BoxError, Option
from truc_protocol.checks import CheckError
from truc_protocol.dealing import Opening
from truc_rules import KINDS, Action, ArgShape, Card, Kind, Match, Variant, described, move_line


def options_of(
    match: Match,
    actions: Sequence[Action],
    openings: Sequence[Opening],
    *,
    cut: int = 0,
    also: tuple[tuple[str, int | str], ...] = (),
) -> tuple[Option, ...]:
    """Return legal actions as their seat is offered them; `openings` are its own, and `also` stands beside each."""
    return tuple(
        [
            Option(str(action.kind), write_args(action, openings, cut=cut), line, hints + also)
            for action, (line, hints) in zip(actions, described(match, actions), strict=True)
        ]
    )


def check_option(variant: Variant, seat: int, option: Option, openings: Sequence[Opening]) -> Move:
    """Return the move that an option would sign; `openings` are the seat's own of the newest deal, by slot.

    Raises:
        BoxError: (kind, args) are no act, the line says something else, or the cards are not the seat's own.
    """
    try:
        move = read_act(seat, option.kind, option.args, deck=len(variant.pack))
    except CheckError as error:
        raise BoxError(f"option {option.line!r}: {error.message}") from error
    for opening in move.openings:
        if opening.slot >= len(openings) or openings[opening.slot] != Opening(opening.card, opening.salt):
            raise BoxError(f"option {option.line!r}: expected the seat's own card in slot {opening.slot}")
    line = move_line(variant, _named(move.action, openings, option.line))
    if line != option.line:
        raise BoxError(f"expected the line {line!r} for what would be signed, got {option.line!r}")
    return move


def _named(action: Action, openings: Sequence[Opening], line: str) -> Action:
    """Fill in the card, where the act names only its slot and the line names the card."""
    slot = action.value
    if KINDS[Kind(action.kind)] is not ArgShape.COVER or not isinstance(slot, int):
        return action
    if slot >= len(openings):
        raise BoxError(f"option {line!r}: expected the seat's own card in slot {slot}")
    return Action(action.seat, action.kind, (Card(openings[slot].card),))
