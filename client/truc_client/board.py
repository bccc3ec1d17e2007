"""What a player looks at: the state of the hand on the table, folded from the facts of the records.

It knows no rules: everything in it was said by a fact. Invariant: it holds no card that its player may not see.
"""

from typing import Any, NamedTuple

from truc_client.happenings import Fact

Score = tuple[tuple[int, int, int], tuple[int, int, int]]


class Laid(NamedTuple):
    """A card on the table and who laid it."""

    seat: int
    card: str


class Board(NamedTuple):
    """A hand as its table shows it.

    Attributes:
        score: [games, upper, points] of each side.
        stake: what the hand is worth, or "game".
        tricks: the side that took each trick, None for a tied one.
        laid: the cards of the trick on the table.
        cards: one's own cards that are left.
        digests: per seat, the commitment to its hand.
        asked: who asked for which stake, while it is open.
    """

    seats: int
    seat: int | None
    score: Score = ((0, 0, 0), (0, 0, 0))
    dealer: int | None = None
    stake: int | str = 1
    tricks: tuple[int | None, ...] = ()
    laid: tuple[Laid, ...] = ()
    cards: tuple[str, ...] = ()
    digests: tuple[bytes, ...] = ()
    asked: tuple[int, int | str] | None = None


def with_cards(board: Board, cards: tuple[str, ...]) -> Board:
    """Return the board after one's own cards were dealt."""
    return board._replace(cards=cards)


def after(board: Board, fact: Fact) -> Board:
    """Return the board after a fact."""
    match fact["what"]:
        case "card_played":
            return _played(board, fact)
        case "state":
            return _stated(board, fact)
        case _:
            return board._replace(**_changes(fact))


def _changes(fact: Fact) -> dict[str, Any]:
    match fact["what"]:
        case "hands_committed":
            return {"digests": tuple(fact["digests"]), "laid": (), "tricks": (), "asked": None}
        case "trick_won" | "trick_tied":
            return {"laid": ()}
        case "stake_asked":
            return {"asked": (fact["seat"], fact["stake"])}
        case "stake_accepted" | "stake_declined":
            return {"asked": None}
        case "hand_closed":
            return {"laid": (), "cards": (), "asked": None}
        case _:
            return {}


def _played(board: Board, fact: Fact) -> Board:
    seat, card = fact["seat"], fact["card"]
    left = tuple(own for own in board.cards if seat != board.seat or own != card)
    return board._replace(laid=(*board.laid, Laid(seat, card)), cards=left)


def _stated(board: Board, fact: Fact) -> Board:
    first, second = fact["score"]
    known: dict[str, Any] = {"score": (tuple(first), tuple(second))}
    known |= {name: fact[name] for name in ("dealer", "stake") if name in fact}
    if "tricks" in fact:
        known["tricks"] = tuple(fact["tricks"])
    return board._replace(**known)
