"""What is stored with the last record of a match: that it is over, and for whom it counts, if it is rated.

A match counts if it has a winner, however it was won, at a public table where every seat was taken with a key. It
counts for those who began it: a player who leaves a match to a substitute gets the result, the substitute gets none.
The host's bots are players like any other.
"""

from collections.abc import Iterator

from truc_protocol.bodies import AnyBody, End, SeatTaken
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.setup import Setup
from truc_server.house import House
from truc_server.storage import EndMatch, RatedPlayer, RateMatch
from truc_server.timing.clock import now_ms


def ending(house: House, setup: Setup, body: AnyBody, *, is_public: bool) -> tuple[EndMatch | RateMatch, ...]:
    """Return what is stored beside a record: nothing, except for the last one."""
    if not isinstance(body, End):
        return ()
    result = _result(setup, body) if is_public and house.settings.ratings else ()
    return (EndMatch(setup.mid, body.reason, now_ms()), *result)


def _result(setup: Setup, end: End) -> tuple[RateMatch, ...]:
    """Return for whom a match counts; nobody if it has no winner, or a guest began it."""
    players = tuple(_players(setup))
    if end.winner is None or len(players) < len(setup.seats):
        return ()
    sides = players[end.winner :: 2], players[1 - end.winner :: 2]
    return (RateMatch(setup.mid, setup.terms.variant.name, len(players), *sides),)


def _players(setup: Setup) -> Iterator[RatedPlayer]:
    for seat in setup.seats:
        if isinstance(seat, SeatTaken):
            yield RatedPlayer(seat.pk, fingerprint(seat.pk), seat.name.decode())
