"""What the seats of one match are asked and shown: options, in a box or in clear; cards in clear; and what all may know.

Derived from the ledger and the dealer alone. After a flor the server sees at once whether another seat holds one. Nobody
is told before that seat could have spoken: what a record means, and whom the match waits for, is what the open cards
alone tell, and the rest comes with the next record (rules.md 13b.3). Invariants: `must` and the deadline do not depend
on hidden cards; of a window, only `later` depends on closed cards; a box goes to the seat whose key it is sealed with and
to nobody else, and a seat with a box key is given no card in clear; only a connection that has been sent every earlier
record is asked anything; one that knows the rules is sent nothing that hangs on what its seat holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from truc_protocol.acts import options_of
from truc_protocol.bodies import Act, AnyBody, Proxy, Rule
from truc_protocol.dealer import BoxSealer, Dealer
from truc_protocol.ledger import FoldedRecord, Ledger, box_public, deciding_match, fold, may_show
from truc_protocol.messages import BoxedOptions, Choice, OpenOptions, OwnCards, ServerMessage, Waiting
from truc_protocol.own_steps import random_cut
from truc_protocol.records import Phase, Record
from truc_protocol.wire.connection import broadcast_frame
from truc_rules import (
    Action,
    Event,
    Kind,
    Match,
    Seat,
    as_seen_by_all,
    deciders,
    deciders_in_view,
    described,
    is_blind,
    legal,
    waits_for_unknown,
)

Hints = tuple[tuple[str, int | str], ...]

_WAITS: Final[Hints] = (("waits", 1),)  # said to one seat alone: the hand waits for it


class AskedMoment(Struct, frozen=True):
    """Where seats are asked, and until when: what the messages say in clear. `holders`: those everybody can tell."""

    table: str
    match: bytes
    at: int
    offer: int
    holders: tuple[int, ...]
    deadline_ms: int | None


class Position(Struct, frozen=True):
    """A ledger, with all that is asked of it before the next record.

    Attributes:
        deciding: the rules' state, if the rules say what comes next.
        holders: the seats that hold the decision the match waits for.
        in_view: those of `holders` whom everybody can tell.
        rules: the rules' state, if any seat may choose now, be it only to show cards.
        found: by seat, what it may do, for those asked about so far.
    """

    ledger: Ledger
    deciding: Match | None
    holders: tuple[int, ...]
    in_view: tuple[int, ...]
    rules: Match | None
    # filled as seats are asked about: options, asks and the rest at the end of a hand want the same answer
    found: dict[int, tuple[Action, ...]]

    def find(self, seats: Iterable[int]) -> Mapping[int, tuple[Action, ...]]:
        """Return, by seat, every action that these seats may choose from now."""
        rules, found = self.rules, self.found
        for seat in seats:
            if seat not in found:
                found[seat] = () if rules is None else legal(rules, Seat(seat))
        return found


def position(ledger: Ledger) -> Position:
    """Return a ledger as the position that seats decide in."""
    match = deciding_match(ledger)
    if match is None:
        return Position(ledger, None, (), (), ledger.match if may_show(ledger) else None, {})
    holders = deciders(match)
    # without an open offer everybody can tell who decides
    in_view = deciders_in_view(match) if match.hand.offers else holders
    return Position(ledger, match, holders, in_view, match, {})


def asks_all(here: Position) -> bool:
    """Tell whether every seat with a box is sent options, if only an empty list: else being sent some would tell what it holds."""
    match = here.deciding
    if match is None or not match.variant.has_windows:
        return False
    return here.ledger.phase is Phase.HAND and bool(match.hand.dealt.cards)


def _choices(match: Match, actions: tuple[Action, ...], secret: Hints) -> tuple[Choice, ...]:
    return tuple(
        [
            Choice(key=line, kind=str(action.kind), hints=dict(hints + secret))
            for action, (line, hints) in zip(actions, described(match, actions), strict=True)
        ]
    )


_OF_CARDS = (Kind.PLAY, Kind.COVER, Kind.SHOW)  # they show a card: nobody is silent after them


class Window(Struct, frozen=True):
    """A record after which the hand may wait for seats that have nothing to say.

    `ledger` and `events` are the match and what happened as everybody sees it; `later` happened too, and is told with
    the next record.
    """

    ledger: Ledger
    events: tuple[Event, ...]
    later: tuple[Event, ...]


def window(before: Ledger, record: Record, body: AnyBody, folded: FoldedRecord) -> Window | None:
    """Return the window that a record opens, if it opens one."""
    if before.match is None or before.hand is None or not before.match.variant.has_windows:
        return None
    match body:
        case Act(kind=kind) | Proxy(kind=kind) | Rule(ruling="move", kind=kind) if kind not in _OF_CARDS:
            pass
        case _:
            return None
    # folded again with every closed card unknown: what anybody can tell of this record
    public = fold(replace(before, match=as_seen_by_all(before.match)), record, body)
    # the server could go on at once when nobody holds a flor, but that would tell what nobody has said (rules.md 13b.3)
    if public.ledger.match is None or not waits_for_unknown(public.ledger.match):
        return None
    # what the open cards give comes first; the rest is known only to those who hold the other cards
    return Window(public.ledger, public.events, folded.events[len(public.events) :])


def is_asked(opened: Window, ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat has something to say in the window that is open."""
    public = opened.ledger.match
    # the closed cards have ended the contest already: nobody has anything to say, and the window only passes
    if ledger.match is None or public is None or ledger.match.hand.offers != public.hand.offers:
        return False
    return seat in deciders(ledger.match)


class Answerers(Struct, frozen=True):
    """Seats that may have to decide, by what they are sent then.

    Attributes:
        asked: those that are offered what they may do.
        knowing: those that sign acts, and find that out by the rules.
    """

    asked: Sequence[int]
    knowing: Sequence[int]


class SeatFrames(Struct, frozen=True):
    """What is sent at a position where seats have a choice: a frame to each seat, and what everybody else is told."""

    to_seats: tuple[tuple[int, bytes], ...]
    notice: bytes | None


class SeatQuestions:
    """What the seats of one match are asked."""

    def __init__(self, table: str, dealer: Dealer, sealer: BoxSealer) -> None:
        self._sealer = sealer
        self._table = table
        self._dealer = dealer
        self._cut: tuple[int, int] | None = None

    def cut(self, ledger: Ledger) -> int:
        """Return the place of the cut that the options at this position offer; 0 in a hand, where nobody cuts."""
        if ledger.hand is not None:
            return 0
        # drawn once for a position: a guest who names no place cuts where its options would have
        if self._cut is None or self._cut[0] != ledger.k:
            self._cut = (ledger.k, random_cut(ledger))
        return self._cut[1]

    def cards(self, ledger: Ledger, seat: int, *, of: int | None = None) -> tuple[tuple[int, bytes], ...]:
        """Return the frame that tells a guest its own cards, or those of a partner, in clear.

        There is none if the guest has a box, or if the hand is played blind.
        """
        hand, match = ledger.hand, ledger.match
        if hand is None or match is None or is_blind(match) or box_public(ledger, seat) is not None:
            return ()
        pack, mid, newest = ledger.setup.terms.variant.pack, ledger.setup.mid, hand.deals[-1]
        openings = self._dealer.openings(ledger, seat if of is None else of)
        cards = tuple(pack[card] for card, _ in openings)
        told = OwnCards(table=self._table, match=mid, k=newest.k, j=newest.j, d=newest.d, cards=cards, of=of)
        return ((seat, broadcast_frame(told)),)

    def all_cards(self, ledger: Ledger, seat: int) -> tuple[tuple[int, bytes], ...]:
        """Return the frames that tell a guest without a box its cards, and those it was shown."""
        shares = ledger.hand.shares if ledger.hand is not None else ()
        shown = (self.cards(ledger, seat, of=share.giver) for share in shares if share.receiver == seat)
        return tuple(chain(self.cards(ledger, seat), *shown))

    def ask(
        self, here: Position, waiting: Waiting | None, offer: int, window: Window | None, seats: Answerers
    ) -> SeatFrames:
        """Ask seats; those that need not answer, or know the rules, are told whom the match waits for."""
        ledger, rules = here.ledger, here.rules
        holders: tuple[int, ...] = ()
        left_ms = None
        if waiting is not None and waiting.what == "decision":
            holders, left_ms = waiting.seats, waiting.deadline_ms
        moment = AskedMoment(self._table, ledger.setup.mid, ledger.k, offer, holders, left_ms)
        hides = asks_all(here)
        found = here.find(seats.asked) if seats.asked else {}
        to_seats: list[tuple[int, bytes]] = []
        told = [*seats.knowing]  # whatever they hold, they are sent what everybody is told
        for seat in seats.asked:
            # in an open window only seats with something to say are asked
            is_asked_now = window is None or is_asked(window, ledger, seat)
            actions = found[seat] if is_asked_now else ()
            is_secret = hides and seat not in moment.holders and box_public(ledger, seat) is not None
            if rules is not None and (actions or is_secret):
                public = box_public(ledger, seat)
                options = self._options(here, rules, moment, seat, actions, public=public)
                to_seats.append((seat, broadcast_frame(options)))
            if is_secret or not actions:
                told.append(seat)
        if waiting is None:
            return SeatFrames((*to_seats, *self._rest(ledger, seats.knowing)), None)
        notice = broadcast_frame(waiting)
        return SeatFrames((*to_seats, *zip(told, repeat(notice))), notice)

    def _rest(self, ledger: Ledger, knowing: Sequence[int]) -> tuple[tuple[int, bytes], ...]:
        """Return the frames that tell seats which know the rules that there is time to show cards."""
        if not knowing or not may_show(ledger):
            return ()
        rest = Waiting(table=self._table, match=ledger.setup.mid, at=ledger.k, seats=())
        return tuple(zip(knowing, repeat(broadcast_frame(rest))))

    def _options(
        self,
        here: Position,
        rules: Match,
        moment: AskedMoment,
        seat: int,
        actions: tuple[Action, ...],
        *,
        public: bytes | None,
    ) -> ServerMessage:
        """Return the options of a seat, boxed if it has a box key; a box may hold none."""
        ledger, must = here.ledger, seat in moment.holders
        # decision 11: `must` would tell that a seat holds a flor; the hint is seen by that seat alone
        secret = _WAITS if not must and seat in here.holders else ()
        cut = self.cut(ledger) if ledger.hand is None else 0
        if public is None:
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
        options = options_of(rules, actions, openings, cut=cut, more_hints=secret)
        return BoxedOptions(
            table=moment.table,
            match=moment.match,
            at=moment.at,
            offer=moment.offer,
            must=must,
            deadline_ms=moment.deadline_ms,
            box=self._sealer.seal(public, moment.match, options, seat=seat, at=moment.at, offer=moment.offer),
        )
