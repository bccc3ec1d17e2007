"""Every action worth trying: all kinds with all that could stand beside them, and some that never can."""

from itertools import chain, combinations, product

from truc_rules import REST, TRUT, Action, Kind, Seat
from truc_rules.orders import order_words

_HIGHEST_VALUE = 40
_UNHEARD_OF = "unheard-of"
_MOST_SHOWS = 60


def candidates(match):
    """Yield actions of every seat, and of the two that stand beside the table."""
    for seat in map(Seat, range(-1, match.seats + 1)):
        yield from candidates_of(match, seat)


def candidates_of(match, seat):
    """Yield actions of `seat`."""
    cards = [(card,) for card in range(len(match.variant.pack))]
    stakes = (*range(match.variant.scoring.target + 3), REST, TRUT, _UNHEARD_OF)
    yield from (Action(seat, kind) for kind in Kind)
    yield from (Action(seat, Kind.RAISE, (), stake) for stake in stakes)
    yield from (Action(seat, Kind.DEAL, (), each) for each in (0, 1, 2, 3, 4, "3"))
    yield from (Action(seat, kind, card) for kind, card in product((Kind.PLAY, Kind.COVER), cards))
    yield from (Action(seat, Kind.PLAY, card, stake) for card, stake in product(cards[::3], (0, 2, 3, REST)))
    yield from (
        Action(seat, kind, (), slot) for kind, slot in product((Kind.COVER, Kind.BLIND), range(-1, 4))
    )
    yield from (Action(seat, Kind.POINTS, (), value) for value in range(_HIGHEST_VALUE))
    yield from (Action(seat, Kind.CLAIM, (), other) for other in range(-1, match.seats + 1))
    yield from (Action(seat, Kind.ORDER, (), word) for word in (*order_words(match.variant), _UNHEARD_OF))
    yield from (Action(seat, Kind.SHOW, chosen) for chosen in _shows(match))
    yield from _misshapen(seat)


def _shows(match):
    dealt = [*chain.from_iterable(match.hand.dealt.cards)]
    return [chosen for size in (1, 2, 3) for chosen in combinations(dealt, size)][:_MOST_SHOWS]


def _misshapen(seat):
    yield Action(seat, Kind.PLAY, (0, 1))
    yield Action(seat, Kind.PLAY, (-1,))
    yield Action(seat, Kind.PLAY, (99,))
    yield Action(seat, Kind.PLAY, (None,))
    yield Action(seat, Kind.COVER, (99,))
    yield Action(seat, Kind.COVER, (None,))
    yield Action(seat, Kind.SHOW, (0, 0))
    yield Action(seat, Kind.RAISE, (0,), 2)
    yield Action(seat, Kind.ACCEPT, (0,))
    yield Action(seat, Kind.DECLINE, (), 1)
    yield Action(seat, Kind.ENVIDO, (), 2)
    yield Action(seat, Kind.CLAIM, (), "0")
