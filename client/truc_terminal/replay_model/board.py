"""What a player looks at: the state of the hand on the table, folded from the facts of the records.

It knows no rules: everything in it comes from a fact, a notice or an option. Invariant: it holds no card that its
player may not see.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from truc_client.happenings import Fact

Score = tuple[tuple[int, int, int], tuple[int, int, int]]

_PARTNERED: Final = 4


class Laid(NamedTuple):
    """A card on the table and who laid it; `card` is None if it lies face down."""

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
        digests: per seat, the commitment to its cards.
        asked: who asked for which stake, while there is no answer.
        offers: the facts that wait for an answer, newest last.
        turned_up: the card that raises a rank.
        is_blind: whether nobody sees a card before it is played.
        duel: the two seats that play each other.
        values: who said which envido or flor value.
        signs: who signed which word.
        partners: partners' cards that the rules show.
        orders: who ordered what about their partner's next card.
        played: one's own cards that have been played in this hand.
        covered: whether one of one's own cards lies face down and it is not known here which.
        each: how many cards every seat was dealt.
        used: the seats that have played in this hand, once for each card.
        past: the cards of the finished tricks.
        takers: for each of those tricks the seat whose card took it, None for a tied one.
        shown: per seat, cards that everybody sees though they are not played.
        acting: the seats that the match waits for, as far as everybody may know.
        proven: for each hand dealt, whether its cards were opened and checked.
        is_dealt: whether the newest of those hands is still being played.
        is_open: whether the cards that `digests` commit to were opened and checked.
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
    offers: tuple[Fact, ...] = ()
    turned_up: str | None = None
    is_blind: bool = False
    duel: tuple[int, int] | None = None
    values: tuple[tuple[int, int], ...] = ()
    signs: tuple[tuple[int, str], ...] = ()
    partners: tuple[tuple[int, tuple[str, ...]], ...] = ()
    orders: tuple[tuple[int, str], ...] = ()
    played: tuple[str, ...] = ()
    covered: bool = False
    each: int = 0
    used: tuple[int, ...] = ()
    past: tuple[tuple[Laid, ...], ...] = ()
    takers: tuple[int | None, ...] = ()
    shown: tuple[tuple[int, tuple[str, ...]], ...] = ()
    acting: tuple[int, ...] = ()
    proven: tuple[bool, ...] = ()
    is_dealt: bool = False
    is_open: bool = False


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

_NEW_ROW: Final[Mapping[str, Any]] = {
    "laid": (),
    "tricks": (),
    "asked": None,
    "offers": (),
    "values": (),
    "past": (),
    "takers": (),
}
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
    "is_dealt": False,
    "each": 0,
    "used": (),
    "shown": (),
}


def with_cards(board: Board, cards: tuple[str, ...]) -> Board:
    """Return the board after one's own cards were reported, at the deal or later in the hand."""
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
    """Return the board after one's turn came: no fact tells which card one has covered, but it is no longer offered."""
    playable = {word for kind, word in (_first_two(line) for line in lines) if kind in ("play", "cover")}
    is_ordered = board.seat is not None and any(giver == _partner(board.seat) for giver, _ in board.orders)
    if is_ordered or not board.covered or not playable:
        return board
    return board._replace(cards=tuple(card for card in board.cards if card in playable), covered=False)


def held_by(board: Board, seat: int) -> tuple[str | None, ...]:
    """Return the cards that a seat holds: those known here, then None for each of the others."""
    count = board.each - board.used.count(seat)
    told = [card for other, cards in (*board.partners, *board.shown) if other == seat for card in cards]
    laid = {card for trick in (*board.past, board.laid) for _, card in trick}
    known = [card for card in dict.fromkeys(told) if card not in laid]
    return (*known, *[None] * (count - len(known)))


def _partner(seat: int) -> int:
    return (seat + 2) % _PARTNERED


def _first_two(line: str) -> tuple[str, str]:
    kind, word, *_ = [*line.split(), "", ""]
    return kind, word


def last_trick(board: Board) -> tuple[tuple[Laid, ...], int | None]:
    """Return the cards that lie before the seats, and the seat whose card has taken them, if the trick is over.

    The cards of a trick lie there until the first card of the next one is played.
    """
    if board.laid or not board.past:
        return board.laid, None
    return board.past[-1], board.takers[-1]


def taking_cards(board: Board) -> Iterator[str | None]:
    """Yield the card that took each finished trick; None for a tied one, or if the card lies face down."""
    for laid, taker in zip(board.past, board.takers, strict=True):
        yield next((card for seat, card in laid if seat == taker), None)


def with_all_open(board: Board, hands: Iterable[Sequence[str]]) -> Board:
    """Return the board of a finished hand, with the cards of every seat as opened and checked."""
    shown = tuple((seat, tuple(cards)) for seat, cards in enumerate(hands))
    return _opened(board)._replace(shown=shown, acting=())


def proven_hands(board: Board) -> tuple[bool, ...]:
    """Return, for each finished hand, whether its cards were opened and checked."""
    return board.proven[:-1] if board.is_dealt and not board.is_open else board.proven


def answering(board: Board) -> str:
    """Return what kind of offer the next answer is to; empty if none waits."""
    return _OPENS[board.offers[-1]["what"]] if board.offers else ""


def leaders(board: Board, role: str) -> tuple[int, ...]:
    """Return the seats that lead their sides: the last to play as captains, dealer and eldest as governors."""
    # rules.md 6.1 and 13b.16
    if board.dealer is None or board.seats < _PARTNERED:
        return ()
    other = 1 if role == "governor" else -1
    return board.dealer, (board.dealer + other) % board.seats


def after(board: Board, fact: Fact) -> Board:
    """Return the board after a fact."""
    board = board._replace(offers=_offers(board.offers, fact))
    fold = _FOLDS.get(fact["what"])
    return board._replace(**_changes(fact)) if fold is None else fold(board, fact)


def _offers(offers: tuple[Fact, ...], fact: Fact) -> tuple[Fact, ...]:
    what = fact["what"]
    settled = _OPENS.get(what) or _CLOSES.get(what)
    left = tuple(offer for offer in offers if _OPENS[offer["what"]] != settled)
    return (*left, fact) if what in _OPENS else left


def _changes(fact: Fact) -> Mapping[str, Any]:
    match fact["what"]:
        case "hand_closed":
            return _NEW_HAND
        case "stake_asked":
            return {"asked": (fact["seat"], fact["stake"])}
        case "stake_accepted" | "stake_declined":
            return {"asked": None}
        case _:
            return _set_up(fact)


def _set_up(fact: Fact) -> Mapping[str, Any]:
    match fact["what"]:
        case "dealt":
            return {"each": fact["each"]}
        case "turned_up":
            return {"turned_up": fact["card"]}
        case "played_blind":
            return {"is_blind": True}
        case "duel_begun":
            return {**_NEW_ROW, "duel": (fact["seat"], fact["opponent"])}
        case _:
            return {}


def _said(board: Board, fact: Fact) -> Board:
    return board._replace(values=(*board.values, (fact["seat"], fact["value"])))


def _ordered(board: Board, fact: Fact) -> Board:
    others = (order for order in board.orders if order[0] != fact["seat"])
    return board._replace(orders=(*others, (fact["seat"], fact["order"])))


def _shown(board: Board, fact: Fact) -> Board:
    seat = fact["seat"]
    before = next((known for shower, known in board.shown if shower == seat), ())
    others = (shown for shown in board.shown if shown[0] != seat)
    return board._replace(shown=(*others, (seat, tuple(dict.fromkeys((*before, *fact["cards"]))))))


def _won(board: Board, fact: Fact) -> Board:
    # rules.md 1.4: the winner of a trick leads the next
    return _trick_over(board, fact["leader"])


def _tied(board: Board, _fact: Fact) -> Board:
    return _trick_over(board, None)


def _trick_over(board: Board, taker: int | None) -> Board:
    return board._replace(laid=(), past=(*board.past, board.laid), takers=(*board.takers, taker))


def _committed(board: Board, fact: Fact) -> Board:
    proven = board.proven if board.is_dealt else (*board.proven, False)  # a redeal is the same hand
    board = board._replace(digests=tuple(fact["digests"]), proven=proven, is_dealt=True, is_open=False)
    return board._replace(**_NEW_ROW, played=(), used=(), shown=())


def _opened(board: Board, _fact: Fact | None = None) -> Board:
    return board._replace(proven=(*board.proven[:-1], True), is_open=True)


def _all_opened(board: Board, _fact: Fact) -> Board:
    return board._replace(proven=(True,) * len(board.proven), is_open=True)


def _played(board: Board, fact: Fact) -> Board:
    seat, card = fact["seat"], fact.get("card")
    orders = tuple(order for order in board.orders if order[0] != _partner(seat))
    used = (*board.used, seat)
    board = board._replace(laid=(*board.laid, Laid(seat, card)), orders=orders, used=used)
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
    known["acting"] = () if fact.get("paused") else tuple(fact.get("waiting", ()))
    return board._replace(**known)


_FOLDS: Final[Mapping[str, Callable[[Board, Fact], Board]]] = {
    "card_played": _played,
    "card_covered": _played,
    "cards_opened": _shown,
    "cards_shown": _shown,
    "value_said": _said,
    "order_given": _ordered,
    "trick_won": _won,
    "trick_tied": _tied,
    "hands_committed": _committed,
    "hands_opened": _opened,
    "match_ended": _all_opened,  # its record opens everything not yet open
    "state": _stated,
}
"""How a fact changes the board, if that depends on the board."""
