"""What lies on a table as one seat, or a watcher, sees it: the view of the verified ledger, with cards by their names.

The rules say what a seat may see. What a view does not hold is remembered from facts and notices: what was said and
signed, the cards that a guest or a partner was told, and how the hand was committed to. Invariant: a board holds no card
that its player may not see.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from truc_client.happenings import Fact
from truc_rules import (
    COVERED,
    REST,
    TRUT,
    ContraflorAsk,
    EnvidoAsk,
    LastPointAsk,
    RedealAsk,
    StakeAsk,
    View,
)

ShownScore = tuple[tuple[int, int, int], tuple[int, int, int]]

_PARTNERED: Final = 4
_SIDES, _SIDE_FIGURES = 2, 3  # of a score
_LOCKED: Final[Mapping[str | None, str]] = {REST: "game", TRUT: TRUT}
"""What a hand is worth where it is not points: the whole game, or a whole unit."""


class LaidCard(NamedTuple):
    """A card on the table and who laid it; `card` is None if it lies face down."""

    seat: int
    card: str | None


class LaidTrick(NamedTuple):
    """The cards laid in a trick, in order.

    Attributes:
        side: once the trick is over, the side that took it; None for a tie.
        best: the seat whose card took it; None for a tie.
        duel: the two seats that play each other in it; None if all play together.
    """

    laid: tuple[LaidCard, ...] = ()
    is_over: bool = False
    side: int | None = None
    best: int | None = None
    duel: tuple[int, int] | None = None


class SeatMemory(NamedTuple):
    """What a seat knows of the hand beside the view, and how the cards of the match were committed to.

    Attributes:
        own: one's own cards as told, by slot.
        partners: the partners' cards that the rules show, each after its seat.
        opened: cards that their seats had to show, each after its seat.
        values: who said which envido or flor value.
        signs: who signed which word.
        is_blind: whether nobody sees a card before it is played.
        is_paused: whether the match rests.
        digests: per seat, the commitment to its cards.
        proven: for each hand dealt, whether its cards were opened and checked.
        is_dealt: whether the newest of those hands is still being played.
        is_open: whether the cards that `digests` commit to were opened and checked.
    """

    own: tuple[str, ...] = ()
    partners: tuple[tuple[int, tuple[str, ...]], ...] = ()
    opened: tuple[tuple[int, tuple[str, ...]], ...] = ()
    values: tuple[tuple[int, int], ...] = ()
    signs: tuple[tuple[int, str], ...] = ()
    is_blind: bool = False
    is_paused: bool = False
    digests: tuple[bytes, ...] = ()
    proven: tuple[bool, ...] = ()
    is_dealt: bool = False
    is_open: bool = False


NOTHING_REMEMBERED: Final = SeatMemory()


class ShownHand(NamedTuple):
    """A hand as its table shows it.

    Attributes:
        score: [games, upper, points] of each side.
        stake: what the hand is worth, "game" or "trut".
        tricks: the finished tricks; of the present duel, if two seats play each other.
        laid: the cards of the trick on the table.
        held: per seat, the cards that it still holds: those known here, then None for each of the others.
        own: one's own cards of the deal, by their places in the hand, played or not; None for one not known.
        offers: what waits for an answer, as the facts that told it, newest last.
        turned_up: the card that raises a rank.
        duel: the two seats that play each other.
        orders: who ordered what about their partner's next card.
        acting: the seats that the match waits for, as far as everybody may know.
        memory: what is known beside the view.
    """

    seats: int
    seat: int | None
    score: ShownScore = ((0, 0, 0), (0, 0, 0))
    dealer: int | None = None
    stake: int | str = 1
    tricks: tuple[LaidTrick, ...] = ()
    laid: tuple[LaidCard, ...] = ()
    held: tuple[tuple[str | None, ...], ...] = ()
    own: tuple[str | None, ...] = ()
    offers: tuple[Fact, ...] = ()
    turned_up: str | None = None
    duel: tuple[int, int] | None = None
    orders: tuple[tuple[int, str], ...] = ()
    acting: tuple[int, ...] = ()
    memory: SeatMemory = NOTHING_REMEMBERED

    @property
    def cards(self) -> tuple[str, ...]:
        """One's own cards that are left, as far as they are known."""
        return tuple(card for card in self.held_by(self.seat) if card is not None)

    @property
    def is_unseen(self) -> bool:
        """Whether one holds cards that nobody may see before they are played."""
        return self.memory.is_blind and not self.cards

    def held_by(self, seat: int | None) -> tuple[str | None, ...]:
        """Return the cards that a seat holds; none for a watcher."""
        return self.held[seat] if seat is not None and seat < len(self.held) else ()

    @property
    def proven_hands(self) -> tuple[bool, ...]:
        """For each finished hand, whether its cards were opened and checked."""
        proven, is_played = self.memory.proven, self.memory.is_dealt and not self.memory.is_open
        return proven[:-1] if is_played else proven

    @property
    def last_trick(self) -> LaidTrick:
        """The cards that lie before the seats: those of a trick lie there until the first card of the next is played."""
        return self.tricks[-1] if self.tricks and not self.laid else LaidTrick(self.laid)

    @property
    def asked(self) -> tuple[int, int | str] | None:
        """Who asked for which stake, while there is no answer."""
        asks = [offer for offer in self.offers if offer["what"] == "stake_asked"]
        return (asks[-1]["seat"], asks[-1]["stake"]) if asks else None

    @property
    def answering(self) -> str:
        """What kind of offer the next answer is to; empty if none waits."""
        return _OFFERS[self.offers[-1]["what"]] if self.offers else ""

    def leaders(self, role: str) -> tuple[int, ...]:
        """Return the seats that lead their sides: the last to play as captains, dealer and eldest as governors."""
        # rules.md 6.1 and 13b.16
        if self.dealer is None or self.seats < _PARTNERED:
            return ()
        other = 1 if role == "governor" else -1
        return self.dealer, (self.dealer + other) % self.seats


_OFFERS: Final[Mapping[str, str]] = {
    "redeal_proposed": "redeal",
    "last_point_asked": "last-point",
    "stake_asked": "stake",
    "envido_called": "envido",
    "contraflor_called": "flor",
}
"""The facts that wait for an answer, and to which kind of offer it is."""


def board_of(view: View, pack: Sequence[str], memory: SeatMemory = NOTHING_REMEMBERED) -> ShownHand:
    """Return what lies on the table as a view shows it, with the cards of a pack by their names."""
    row, bets = view.row, view.bets
    # Where all play together each card is the next seat's; in
    # pica-pica it is that of the seat across (rules.md 8.7).
    duel = (row.eldest, (row.eldest + row.stride) % view.seats) if row.stride > 1 else None
    # Of each trick the leader of the one after it.
    leaders = [*(trick.leader for trick in row.tricks), row.leader][1:]
    laid = _laid(row.leader, row.table, view, pack)
    tricks = tuple(
        LaidTrick(
            _laid(trick.leader, trick.cards, view, pack),
            is_over=True,
            side=trick.side,
            best=None if trick.side is None else taker,  # rules.md 1.4: the winner of a trick leads the next
            duel=duel,
        )
        for trick, taker in zip(row.tricks, leaders, strict=True)
    )
    board = ShownHand(
        view.seats,
        view.seat,
        score=_score(view),
        dealer=view.dealer,
        stake=_LOCKED.get(bets.locked, bets.stake),
        tricks=tricks,
        laid=laid,
        own=_own(view, pack, memory),
        offers=tuple(_offers(view)),
        turned_up=pack[view.up[0]] if view.up else None,
        duel=duel,
        # A match that rests waits for nobody's move, though the rules still know whose it is.
        acting=() if memory.is_paused else view.deciders,
        memory=memory,
    )
    given = ((seat, view.orders[seat % 2]) for seat in board.leaders("governor"))
    orders = tuple((seat, order.word) for seat, order in given if order is not None)
    return board._replace(orders=orders, held=tuple(_held(board, view, pack)))


def _score(view: View) -> ShownScore:
    (first, second), (games, others) = view.score, view.games
    return (games, first.upper, first.points), (others, second.upper, second.points)


def _laid(leader: int, cards: Sequence[int], view: View, pack: Sequence[str]) -> tuple[LaidCard, ...]:
    seats = ((leader + n * view.row.stride) % view.seats for n in range(len(cards)))
    return tuple(
        LaidCard(seat, None if card == COVERED else pack[card])
        for seat, card in zip(seats, cards, strict=False)
    )


def _own(view: View, pack: Sequence[str], memory: SeatMemory) -> tuple[str | None, ...]:
    """Return one's own cards by slot: as the view has them, and for a guest, who opens no box, as the server told them."""
    if view.seat is None or not view.row.left:
        return ()  # nothing is dealt yet
    # The view comes second: what the ledger has checked is above what a message says.
    told = dict(enumerate(memory.own))
    told |= {slot: pack[card] for slot, card in enumerate(view.cards) if card is not None}
    return tuple(told.get(slot) for slot in range(view.each))


def _held(board: ShownHand, view: View, pack: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
    memory = board.memory
    lies = {card for trick in (*board.tricks, LaidTrick(board.laid)) for _, card in trick.laid}
    for seat, left in enumerate(view.row.left):
        if seat == view.seat:
            yield tuple(board.own[slot] for slot in left)
            continue
        shown = [pack[card] for other, card in view.shown if other == seat]
        told = [
            card for other, cards in (*memory.partners, *memory.opened) if other == seat for card in cards
        ]
        # The same card may have been told and shown; one that lies on the table is no longer held.
        known = [card for card in dict.fromkeys((*told, *shown)) if card not in lies]
        yield (*known, *[None] * (len(left) - len(known)))


def _offers(view: View) -> Iterator[Fact]:
    """Yield what waits for an answer, as the facts that told it."""
    for offer in view.offers:
        match offer:
            case StakeAsk(seat=seat, stake=stake):
                yield {"what": "stake_asked", "seat": seat, "stake": stake}
            case EnvidoAsk(seat=seat, calls=(*_, call)):
                yield {"what": "envido_called", "seat": seat, "call": str(call)}
            case ContraflorAsk(seat=seat, call=call):
                yield {"what": "contraflor_called", "seat": seat, "call": str(call)}
            case RedealAsk(seat=seat):
                yield {"what": "redeal_proposed", "seat": seat}
            case LastPointAsk(side=side):
                yield {"what": "last_point_asked", "side": side}
            case _:
                pass  # values or flores are said: nobody answers yes or no


def with_all_open(board: ShownHand, hands: Iterable[Sequence[str]]) -> ShownHand:
    """Return the board of a finished hand, with the cards of every seat as opened and checked."""
    lies = {card for trick in (*board.tricks, LaidTrick(board.laid)) for _, card in trick.laid}
    held = tuple(tuple(card for card in cards if card not in lies) for cards in hands)
    return board._replace(held=held, acting=(), memory=_opened(board.memory, {}))


def is_state_of(board: ShownHand, fact: Fact) -> bool:
    """Tell whether a fact, which may be unchecked, is a `state` with a score and a dealer as this table can have them."""
    score, dealer = fact.get("score"), fact.get("dealer")
    sides = score if isinstance(score, list | tuple) else ()
    is_score = len(sides) == _SIDES and all(
        isinstance(side, list | tuple) and list(map(type, side)) == [int] * _SIDE_FIGURES for side in sides
    )
    is_dealer = dealer is None or (type(dealer) is int and 0 <= dealer < board.seats)
    return fact.get("what") == "state" and is_score and is_dealer


def with_score(board: ShownHand, state: Fact) -> ShownHand:
    """Return the board with nothing on it but the score and the dealer of a fact `state`, which may be unchecked."""
    memory = remembered(_closed(board.memory, {}), state)
    return ShownHand(board.seats, board.seat, score_of(state), state.get("dealer"), memory=memory)


def score_of(state: Fact) -> ShownScore:
    """Return the score as a fact `state` has it."""
    first, second = (tuple(side) for side in state["score"])
    return first, second


def remembered(memory: SeatMemory, fact: Fact) -> SeatMemory:
    """Return what is remembered after a fact."""
    fold = _FOLDS.get(fact["what"])
    return memory if fold is None else fold(memory, fact)


def with_partner(memory: SeatMemory, seat: int, cards: tuple[str, ...]) -> SeatMemory:
    """Return what is remembered after a partner's cards were shown."""
    others = (shown for shown in memory.partners if shown[0] != seat)
    return memory._replace(partners=(*others, (seat, cards)))


def with_sign(memory: SeatMemory, seat: int, word: str) -> SeatMemory:
    """Return what is remembered after a sign was seen."""
    sign = (seat, word)
    return memory if sign in memory.signs else memory._replace(signs=(*memory.signs, sign))


def _closed(memory: SeatMemory, _fact: Fact) -> SeatMemory:
    # The digests stay to be compared with the cards, which may be opened only with the end of the match.
    return SeatMemory(digests=memory.digests, proven=memory.proven, is_open=memory.is_open)


def _committed(memory: SeatMemory, fact: Fact) -> SeatMemory:
    proven = memory.proven if memory.is_dealt else (*memory.proven, False)  # a redeal is the same hand
    # New cards; what was signed and whether the hand is blind hold for the whole hand.
    kept = memory._replace(own=(), partners=(), opened=(), values=())
    return kept._replace(digests=tuple(fact["digests"]), proven=proven, is_dealt=True, is_open=False)


def _opened(memory: SeatMemory, _fact: Fact) -> SeatMemory:
    return memory._replace(proven=(*memory.proven[:-1], True), is_open=True)


_FOLDS: Final[Mapping[str, Callable[[SeatMemory, Fact], SeatMemory]]] = {
    "hand_closed": _closed,
    "hands_committed": _committed,
    "hands_opened": _opened,
    # the record that ends the match opens everything not yet open
    "match_ended": lambda memory, _: memory._replace(proven=(True,) * len(memory.proven), is_open=True),
    "played_blind": lambda memory, _: memory._replace(is_blind=True),
    "duel_begun": lambda memory, _: memory._replace(values=()),
    "value_said": lambda memory, fact: memory._replace(
        values=(*memory.values, (fact["seat"], fact["value"]))
    ),
    "cards_opened": lambda memory, fact: memory._replace(
        opened=(*memory.opened, (fact["seat"], tuple(fact["cards"])))
    ),
    "state": lambda memory, fact: memory._replace(is_paused=bool(fact.get("paused"))),
}
"""How a fact changes what is remembered."""
