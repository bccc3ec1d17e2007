"""What a seat may do now, as sent to that seat: options in a box, or in clear to a guest without a box key.

Derived from the ledger and the dealer alone. Invariant: `must` and the deadline do not depend on hidden cards, and a
box goes to the seat whose key it is sealed with and to nobody else.
"""

from secrets import randbelow
from typing import Any, Final, NamedTuple

from truc_protocol.acts import write_args
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
from truc_protocol.dealing import Opening
from truc_protocol.ledger import Due, Ledger, box_public, due
from truc_protocol.messages import BoxedOptions, Choice, OpenOptions
from truc_protocol.newest import remembered
from truc_protocol.records import Phase
from truc_rules import (
    Action,
    Match,
    Seat,
    deciders,
    deciders_in_view,
    has_windows,
    hints,
    is_hand_over,
    legal,
    move_line,
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

    def seal(self, ledger: Ledger, seat: int, moment: Moment, options: tuple[Option, ...]) -> bytes:
        """Return the box of a seat's options."""
        return seal_options(
            self._key(ledger, seat),
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
        key, mid = self._key(ledger, seat), ledger.setup.mid
        return seal_sign(key, mid, seat=seat, at=ledger.k, sender=sender, ctr=self._counter(seat), word=word)

    def _counter(self, seat: int) -> int:
        """Return the counter of a seat's next box: options and signs have one key, and so one count."""
        number = self._numbers.get(seat, 0)
        self._numbers[seat] = number + 1
        return counter(epoch=self._epoch, number=number)

    def _key(self, ledger: Ledger, seat: int) -> PrivateKey:
        public = box_public(ledger, seat)
        if public is None:
            raise ValueError(f"seat {seat} has no box key")
        key = self._keys.get((seat, public))
        if key is None:
            key = private_key(self._dealer.exchange(public), ledger.setup.mid, seat)
            self._keys[seat, public] = key
        return key


def open_actions(ledger: Ledger) -> tuple[tuple[Action, ...], ...]:
    """Return, by seat, every action that it may choose from now."""
    match = ledger.match if may_show(ledger) else _deciding(ledger)
    if match is None:
        return ((),) * ledger.seats
    return tuple([legal(match, Seat(seat)) for seat in range(match.seats)])


def may_show(ledger: Ledger) -> bool:
    """Tell whether a hand is over but neither opened nor closed yet: seats may still show their cards."""
    hand = ledger.hand
    if hand is None or hand.opens or ledger.phase is not _HAND or ledger.pause.active:
        return False
    return ledger.match is not None and is_hand_over(ledger.match)


def holders(ledger: Ledger) -> tuple[int, ...]:
    """Return the seats that hold the decision the match waits for."""
    match = _deciding(ledger)
    return () if match is None else deciders(match)


def holders_in_view(ledger: Ledger) -> tuple[int, ...]:
    """Return those of `holders` whom everybody can tell."""
    match = _deciding(ledger)
    return () if match is None else deciders_in_view(match)


@remembered
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
    return tuple(write_args(_rules(ledger), action, dealer.openings(ledger, action.seat), cut=cut))


def options_message(
    ledger: Ledger,
    sealer: Sealer,
    dealer: Dealer,
    moment: Moment,
    seat: int,
    *,
    actions: tuple[Action, ...],
    cut: int,
) -> BoxedOptions | OpenOptions:
    """Return the options of a seat; a box may hold none."""
    table, match, at, offer, holding, left = moment
    must = seat in holding
    secret = _WAITS if not must and seat in holders(ledger) else ()
    rules = _rules(ledger)
    if box_public(ledger, seat) is None:
        choices = tuple([_choice(rules, action, secret) for action in actions])
        return OpenOptions(
            table=table, match=match, at=at, offer=offer, must=must, deadline_ms=left, choices=choices
        )
    openings = dealer.openings(ledger, seat)
    options = tuple([_option(rules, action, openings, cut, secret) for action in actions])
    box = sealer.seal(ledger, seat, moment, options)
    return BoxedOptions(table=table, match=match, at=at, offer=offer, must=must, deadline_ms=left, box=box)


def comes_always(ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat is sent options even if it has none: being sent some would otherwise tell what it holds."""
    match = ledger.match
    if match is None or not has_windows(match) or box_public(ledger, seat) is None:
        return False
    return ledger.phase is Phase.HAND and bool(match.hand.dealt.cards) and _deciding(ledger) is not None


def _choice(match: Match, action: Action, secret: Hints) -> Choice:
    line, told = move_line(match.variant, action), hints(match, action) + secret
    return Choice(key=line, kind=str(action.kind), hints=dict(told))


def _option(match: Match, action: Action, openings: tuple[Opening, ...], cut: int, secret: Hints) -> Option:
    args = tuple(write_args(match, action, openings, cut=cut))
    line, told = move_line(match.variant, action), hints(match, action) + secret
    return Option(str(action.kind), args, line, told)


def _rules(ledger: Ledger) -> Match:
    if ledger.match is None:
        raise ValueError("nothing is decided before the draw")
    return ledger.match
