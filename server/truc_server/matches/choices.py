"""What the seats of one match are asked and shown: options, in a box or in clear; cards in clear; and what all may know.

Derived from the ledger and the dealer alone. After a flor the server sees at once whether another seat holds one. Nobody
is told before that seat could have spoken: what a record means, and whom the match waits for, is what the open cards
alone tell, and the rest comes with the next record (rules.md 13b.3). Invariants: `must` and the deadline do not depend
on hidden cards; of a window, only `later` depends on closed cards; a box goes to the seat whose key it is sealed with and
to nobody else, and a seat with a box key is given no card in clear; only a connection that has been sent every earlier
record is asked anything.
"""

from collections.abc import Iterable
from itertools import chain
from secrets import randbelow
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from truc_protocol.acts import options_of, write_args
from truc_protocol.bodies import Act, AnyBody, Proxy, Rule
from truc_protocol.boxes import (
    OPTIONS_BYTES,
    Option,
    PrivateKey,
    counter,
    private_key,
    seal_options,
    seal_sign,
)
from truc_protocol.dealer import Dealer
from truc_protocol.ledger import Due, Folded, Ledger, box_public, due, fold
from truc_protocol.messages import BoxedOptions, Choice, OpenOptions, OwnCards, ServerMessage, Waiting
from truc_protocol.records import Phase, Record
from truc_protocol.wire.connection import broadcast_frame
from truc_rules import (
    Action,
    Event,
    Kind,
    Match,
    deciders,
    deciders_in_view,
    described,
    is_blind,
    is_hand_over,
    is_window,
    legal_by_seat,
    unseen,
)

Hints = tuple[tuple[str, int | str], ...]

# looked up once: a lookup in an Enum is slow
_HAND, _BETWEEN, _PLAYERS = Phase.HAND, Phase.BETWEEN, Due.PLAYERS
_WAITS: Final[Hints] = (("waits", 1),)  # said to one seat alone: the hand waits for it


class Moment(NamedTuple):
    """Where seats are asked, and until when: what the messages say in clear. `holders`: those everybody can tell."""

    table: str
    match: bytes
    at: int
    offer: int
    holders: tuple[int, ...]
    deadline_ms: int | None


class Sealer:
    """The private boxes of one match under one ownership of its table: no counter is used twice."""

    def __init__(self, dealer: Dealer, epoch: int) -> None:
        self._dealer = dealer
        self._epoch = epoch
        self._keys: dict[tuple[int, bytes], PrivateKey] = {}
        self._numbers: dict[int, int] = {}

    def seal(self, public: bytes, seat: int, moment: Moment, options: tuple[Option, ...]) -> bytes:
        """Return the box of the options of a seat with this box key."""
        return seal_options(
            self._key(public, moment.match, seat),
            moment.match,
            seat=seat,
            at=moment.at,
            offer=moment.offer,
            ctr=self._counter(seat),
            options=options,
            fill=OPTIONS_BYTES,
        )

    def seal_sign(self, ledger: Ledger, seat: int, sender: int, word: str) -> bytes:
        """Return the box of a sign that a seat sees."""
        public, mid = box_public(ledger, seat), ledger.setup.mid
        if public is None:
            raise ValueError(f"seat {seat} has no box key")
        key = self._key(public, mid, seat)
        return seal_sign(key, mid, seat=seat, at=ledger.k, sender=sender, ctr=self._counter(seat), word=word)

    def _counter(self, seat: int) -> int:
        """Return the counter of a seat's next box: options and signs have one key, and so one count."""
        number = self._numbers.get(seat, 0)
        self._numbers[seat] = number + 1
        return counter(epoch=self._epoch, number=number)

    def _key(self, public: bytes, mid: bytes, seat: int) -> PrivateKey:
        # once for each box key: the exchange is the dear part of a box
        key = self._keys.get((seat, public))
        if key is None:
            key = private_key(self._dealer.exchange(public), mid, seat)
            self._keys[seat, public] = key
        return key


class Position(NamedTuple):
    """A ledger, with all that is asked of it before the next record.

    Attributes:
        deciding: the rules' state, if the rules say what comes next.
        holders: the seats that hold the decision the match waits for.
        in_view: those of `holders` whom everybody can tell.
        actions: by seat, every action that it may choose from now.
    """

    ledger: Ledger
    deciding: Match | None
    holders: tuple[int, ...]
    in_view: tuple[int, ...]
    actions: tuple[tuple[Action, ...], ...]


def position(ledger: Ledger) -> Position:
    """Return a ledger as the position that seats decide in."""
    deciding = _deciding(ledger)
    match = ledger.match if deciding is not None or may_show(ledger) else None
    if match is None:
        return Position(ledger, None, (), (), ((),) * ledger.seats)
    actions = legal_by_seat(match)
    if deciding is None:
        return Position(ledger, None, (), (), actions)
    holders = deciders(match)
    return Position(
        ledger, match, holders, deciders_in_view(match) if match.hand.offers else holders, actions
    )


def may_show(ledger: Ledger) -> bool:
    """Tell whether a hand is over but neither opened nor closed yet: seats may still show their cards."""
    hand = ledger.hand
    if hand is None or hand.opens or ledger.phase is not _HAND or ledger.pause.active:
        return False
    return ledger.match is not None and is_hand_over(ledger.match)


def _deciding(ledger: Ledger) -> Match | None:
    """Return the rules' state, if the rules say what comes next."""
    if not (ledger.phase is _HAND or ledger.phase is _BETWEEN) or ledger.pause.active:
        return None
    return ledger.match if due(ledger) is _PLAYERS else None


def some_cut(ledger: Ledger) -> int:
    """Return a place to cut at, for a seat that does not choose its own."""
    return 1 + randbelow(ledger.setup.terms.table.deck - 1)


def args_of(ledger: Ledger, dealer: Dealer, action: Action, cut: int) -> tuple[Any, ...]:
    """Return the args that say `action` in a record."""
    return write_args(action, dealer.openings(ledger, action.seat), cut=cut)


def comes_always(here: Position, seat: int) -> bool:
    """Tell whether a seat is sent options even if it has none: being sent some would otherwise tell what it holds."""
    ledger, match = here.ledger, here.ledger.match
    if match is None or not match.variant.has_windows or box_public(ledger, seat) is None:
        return False
    return ledger.phase is Phase.HAND and bool(match.hand.dealt.cards) and here.deciding is not None


def _choices(match: Match, actions: tuple[Action, ...], secret: Hints) -> tuple[Choice, ...]:
    return tuple(
        [
            Choice(key=line, kind=str(action.kind), hints=dict(hints + secret))
            for action, (line, hints) in zip(actions, described(match, actions), strict=True)
        ]
    )


def _rules(ledger: Ledger) -> Match:
    if ledger.match is None:
        raise ValueError("nothing is decided before the draw")
    return ledger.match


_OF_CARDS = (Kind.PLAY, Kind.COVER, Kind.SHOW)  # they show a card: nobody is silent after them


class Window(NamedTuple):
    """A record after which the hand may wait for seats that have nothing to say.

    `ledger` and `events` are the match and what happened as everybody sees it; `later` happened too, and is told with
    the next record.
    """

    ledger: Ledger
    events: tuple[Event, ...]
    later: tuple[Event, ...]


def window(before: Ledger, record: Record, body: AnyBody, folded: Folded) -> Window | None:
    """Return the window that a record opens, if it opens one."""
    if before.match is None or before.hand is None or not before.match.variant.has_windows:
        return None
    match body:
        case Act(kind=kind) | Proxy(kind=kind) | Rule(ruling="move", kind=kind) if kind not in _OF_CARDS:
            pass
        case _:
            return None
    public = fold(replace(before, match=unseen(before.match)), record, body)
    if public.ledger.match is None or not is_window(public.ledger.match):
        return None
    return Window(public.ledger, public.events, folded.events[len(public.events) :])


def is_asked(opened: Window, ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat has something to say in the window that is open."""
    public = opened.ledger.match
    if ledger.match is None or public is None or ledger.match.hand.offers != public.hand.offers:
        return False
    return seat in deciders(ledger.match)


def cards_message(
    ledger: Ledger, dealer: Dealer, table: str, *, seat: int, of: int | None
) -> OwnCards | None:
    """Return what a seat is told of the hand dealt at a table: its cards, or a partner's.

    None if it has a box, or if the hand is played blind.
    """
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None or is_blind(match) or box_public(ledger, seat) is not None:
        return None
    pack = ledger.setup.terms.variant.pack
    openings = dealer.openings(ledger, seat if of is None else of)
    cards = tuple(pack[card] for card, _ in openings)
    newest = hand.deals[-1]
    return OwnCards(
        table=table, match=ledger.setup.mid, k=newest.k, j=newest.j, d=newest.d, cards=cards, of=of
    )


class SeatFrames(NamedTuple):
    """What is sent at a position where seats have a choice: a frame to each seat, and what everybody else is told."""

    to_seats: tuple[tuple[int, bytes], ...]
    notice: bytes | None


class Asking:
    """What the seats of one match are asked."""

    def __init__(self, table: str, dealer: Dealer, sealer: Sealer) -> None:
        self._sealer = sealer
        self._table = table
        self._dealer = dealer
        self._cut: tuple[int, int] | None = None

    def cut(self, ledger: Ledger) -> int:
        """Return the place of the cut that the options at this position offer; 0 in a hand, where nobody cuts."""
        if ledger.hand is not None:
            return 0
        if self._cut is None or self._cut[0] != ledger.k:
            self._cut = (ledger.k, some_cut(ledger))
        return self._cut[1]

    def cards(self, ledger: Ledger, seat: int, *, of: int | None = None) -> tuple[tuple[int, bytes], ...]:
        """Return the frame that tells a guest without a box its own cards, or those of a partner, in clear."""
        message = cards_message(ledger, self._dealer, self._table, seat=seat, of=of)
        return () if message is None else ((seat, broadcast_frame(message)),)

    def all_cards(self, ledger: Ledger, seat: int) -> tuple[tuple[int, bytes], ...]:
        """Return the frames that tell a guest without a box its cards, and those it was shown."""
        shares = ledger.hand.shares if ledger.hand is not None else ()
        shown = (self.cards(ledger, seat, of=share.giver) for share in shares if share.receiver == seat)
        return tuple(chain(self.cards(ledger, seat), *shown))

    def ask(
        self, here: Position, waiting: Waiting | None, offer: int, window: Window | None, seats: Iterable[int]
    ) -> SeatFrames:
        """Ask seats; those that need not answer are told whom the match waits for."""
        ledger = here.ledger
        notice = None if waiting is None else broadcast_frame(waiting)
        holders: tuple[int, ...] = ()
        left_ms = None
        if waiting is not None and waiting.what == "decision":
            holders, left_ms = waiting.seats, waiting.deadline_ms
        moment = Moment(self._table, ledger.setup.mid, ledger.k, offer, holders, left_ms)
        to_seats: list[tuple[int, bytes]] = []
        for seat in seats:
            # in an open window only seats with something to say are asked
            is_asked_now = window is None or is_asked(window, ledger, seat)
            actions = here.actions[seat] if is_asked_now else ()
            is_secret = seat not in moment.holders and comes_always(here, seat)
            if actions or is_secret:
                to_seats.append((seat, broadcast_frame(self._options(here, moment, seat, actions))))
            if notice is not None and (is_secret or not actions):
                to_seats.append((seat, notice))
        return SeatFrames(tuple(to_seats), notice)

    def _options(
        self, here: Position, moment: Moment, seat: int, actions: tuple[Action, ...]
    ) -> ServerMessage:
        """Return the options of a seat; a box may hold none."""
        ledger, must = here.ledger, seat in moment.holders
        secret = _WAITS if not must and seat in here.holders else ()
        rules = _rules(ledger)
        cut = self.cut(ledger) if ledger.hand is None else 0
        if (public := box_public(ledger, seat)) is None:
            return OpenOptions(
                table=moment.table,
                match=moment.match,
                at=moment.at,
                offer=moment.offer,
                must=must,
                deadline_ms=moment.deadline_ms,
                choices=_choices(rules, actions, secret),
            )
        openings = self._dealer.openings(ledger, seat)
        options = options_of(rules, actions, openings, cut=cut, also=secret)
        return BoxedOptions(
            table=moment.table,
            match=moment.match,
            at=moment.at,
            offer=moment.offer,
            must=must,
            deadline_ms=moment.deadline_ms,
            box=self._sealer.seal(public, seat, moment, options),
        )
