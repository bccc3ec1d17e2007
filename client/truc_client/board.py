"""What a player looks at: the state of the hand on the table, folded from the facts of the records.

It knows no rules: everything in it was said by a fact, a notice or an option. Invariant: it holds no card that its player
may not see.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from truc_client.happenings import Fact

Score = tuple[tuple[int, int, int], tuple[int, int, int]]

_PARTNERED: Final = 4


class Laid(NamedTuple):
    """A card on the table and who laid it; None if it lies face down."""

    seat: int
    card: str | None


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
        pending: what waits for an answer, the newest last.
        turned_up: the card that raises a rank.
        is_blind: whether nobody sees a card before it is played.
        duel: the two seats that play each other.
        values: who said which envido or flor value.
        signs: who signed which word.
        partners: the cards of partners that the rules show.
        orders: who ordered what of their partner's next card.
        played: one's own cards that have been played in this hand.
        covered: whether one of one's own cards lies face down, and which is not known here.
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
    pending: tuple[str, ...] = ()
    turned_up: str | None = None
    is_blind: bool = False
    duel: tuple[int, int] | None = None
    values: tuple[tuple[int, int], ...] = ()
    signs: tuple[tuple[int, str], ...] = ()
    partners: tuple[tuple[int, tuple[str, ...]], ...] = ()
    orders: tuple[tuple[int, str], ...] = ()
    played: tuple[str, ...] = ()
    covered: bool = False


_OPENS: Final[Mapping[str, str]] = {
    "redeal_proposed": "redeal",
    "last_point_asked": "last-point",
    "stake_asked": "stake",
    "envido_called": "envido",
    "contraflor_called": "flor",
}
_CLOSES: Final[Mapping[str, str]] = {
    "redeal_granted": "redeal",
    "redeal_refused": "redeal",
    "last_point_taken": "last-point",
    "last_point_declined": "last-point",
    "stake_accepted": "stake",
    "stake_declined": "stake",
    "envido_accepted": "envido",
    "envido_declined": "envido",
    "flor_declared": "envido",  # a flor voids the envido calls
    "contraflor_accepted": "flor",
    "flor_folded": "flor",
}
"""What waits for an answer, and what settles it."""

_NEW_ROW: Final[Mapping[str, Any]] = {"laid": (), "tricks": (), "asked": None, "pending": (), "values": ()}
_NEW_HAND: Final[Mapping[str, Any]] = {
    **_NEW_ROW,
    "cards": (),
    "turned_up": None,
    "is_blind": False,
    "duel": None,
    "signs": (),
    "partners": (),
    "orders": (),
    "played": (),
    "covered": False,
}


def with_cards(board: Board, cards: tuple[str, ...]) -> Board:
    """Return the board after one was told one's own cards, at the deal or later in the hand."""
    return board._replace(cards=tuple(card for card in cards if card not in board.played))


def with_partner(board: Board, seat: int, cards: tuple[str, ...]) -> Board:
    """Return the board after a partner's cards were shown."""
    others = (shown for shown in board.partners if shown[0] != seat)
    return board._replace(partners=(*others, (seat, cards)))


def with_sign(board: Board, seat: int, word: str) -> Board:
    """Return the board after a sign was seen."""
    sign = (seat, word)
    return board if sign in board.signs else board._replace(signs=(*board.signs, sign))


def with_options(board: Board, lines: Iterable[str]) -> Board:
    """Return the board after one's turn came: no fact tells which card one has covered, but it is not offered any more."""
    playable = {word for kind, word in (_first_two(line) for line in lines) if kind in ("play", "cover")}
    is_ordered = board.seat is not None and any(giver == _partner(board.seat) for giver, _ in board.orders)
    if is_ordered or not board.covered or not playable:
        return board
    return board._replace(cards=tuple(card for card in board.cards if card in playable), covered=False)


def _partner(seat: int) -> int:
    return (seat + 2) % _PARTNERED


def _first_two(line: str) -> tuple[str, str]:
    kind, word, *_ = [*line.split(), "", ""]
    return kind, word


def answering(board: Board) -> str:
    """Return what the next answer is to."""
    return board.pending[-1] if board.pending else ""


def leaders(board: Board, role: str) -> tuple[int, ...]:
    """Return the seats that lead their sides: the last to play as captains, dealer and eldest as governors."""
    # rules.md 6.1 and 13b.16
    if board.dealer is None or board.seats < _PARTNERED:
        return ()
    other = 1 if role == "governor" else -1
    return board.dealer, (board.dealer + other) % board.seats


def after(board: Board, fact: Fact) -> Board:
    """Return the board after a fact."""
    what = fact["what"]
    board = board._replace(pending=_pending(board.pending, what))
    match what:
        case "card_played" | "card_covered":
            return _played(board, fact)
        case "value_said":
            return board._replace(values=(*board.values, (fact["seat"], fact["value"])))
        case "order_given":
            others = (order for order in board.orders if order[0] != fact["seat"])
            return board._replace(orders=(*others, (fact["seat"], fact["order"])))
        case "state":
            return _stated(board, fact)
        case _:
            return board._replace(**_changes(fact))


def _pending(pending: tuple[str, ...], what: str) -> tuple[str, ...]:
    settled = _OPENS.get(what) or _CLOSES.get(what)
    left = tuple(offer for offer in pending if offer != settled)
    return (*left, _OPENS[what]) if what in _OPENS else left


def _changes(fact: Fact) -> Mapping[str, Any]:
    match fact["what"]:
        case "hands_committed":
            return {**_NEW_ROW, "played": (), "digests": tuple(fact["digests"])}
        case "trick_won" | "trick_tied":
            return {"laid": ()}
        case "stake_asked":
            return {"asked": (fact["seat"], fact["stake"])}
        case "stake_accepted" | "stake_declined":
            return {"asked": None}
        case "hand_closed":
            return _NEW_HAND
        case _:
            return _set_up(fact)


def _set_up(fact: Fact) -> Mapping[str, Any]:
    match fact["what"]:
        case "turned_up":
            return {"turned_up": fact["card"]}
        case "played_blind":
            return {"is_blind": True}
        case "duel_begun":
            return {**_NEW_ROW, "duel": (fact["seat"], fact["opponent"])}
        case _:
            return {}


def _played(board: Board, fact: Fact) -> Board:
    seat, card = fact["seat"], fact.get("card")
    orders = tuple(order for order in board.orders if order[0] != _partner(seat))
    board = board._replace(laid=(*board.laid, Laid(seat, card)), orders=orders)
    if seat != board.seat:
        return board
    if card is None:
        return board._replace(covered=True)
    left = tuple(own for own in board.cards if own != card)
    return board._replace(cards=left, played=(*board.played, card))


def _stated(board: Board, fact: Fact) -> Board:
    first, second = fact["score"]
    known: dict[str, Any] = {"score": (tuple(first), tuple(second))}
    known |= {name: fact[name] for name in ("dealer", "stake") if name in fact}
    if "tricks" in fact:
        known["tricks"] = tuple(fact["tricks"])
    return board._replace(**known)
