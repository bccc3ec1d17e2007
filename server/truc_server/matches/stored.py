"""What is stored of a match beside its records: its secrets before it begins, and for whom it counts when it has ended.

Secrets are sealed, and stored before anything made from them leaves. A match counts if it has a winner, however it was
won, at a public table where every seat was taken with a key, and the host rates matches. It counts for those who began
it: a player who leaves a match to a substitute gets the result, the substitute gets none. The host's bots are players
like any other.
"""

from collections.abc import Iterator

from truc_protocol.bodies import End, SeatTaken
from truc_protocol.crypto.keys import fingerprint, seal_at_rest
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.setup import MatchSetup
from truc_server.storage import EndMatch, RatedPlayer, RateMatch, SaveSecrets
from truc_server.timing.clock import now_ms


def ending(setup: MatchSetup, end: End, *, is_rated: bool) -> tuple[EndMatch | RateMatch, ...]:
    """Return what is stored beside the last record."""
    result = _result(setup, end) if is_rated else ()
    return (EndMatch(setup.mid, end.reason, now_ms()), *result)


def _result(setup: MatchSetup, end: End) -> tuple[RateMatch, ...]:
    """Return for whom a match counts; nobody if it has no winner, or a guest began it."""
    players = tuple(_players(setup))
    if end.winner is None or len(players) < len(setup.seats):
        return ()
    sides = players[end.winner :: 2], players[1 - end.winner :: 2]
    return (RateMatch(setup.mid, setup.terms.variant.name, len(players), *sides),)


def _players(setup: MatchSetup) -> Iterator[RatedPlayer]:
    for seat in setup.seats:
        if isinstance(seat, SeatTaken):
            yield RatedPlayer(seat.pk, fingerprint(seat.pk), seat.name.decode())


def save_secrets(at_rest: bytes, th: bytes, secrets: MatchSecrets) -> SaveSecrets:
    """Return what is stored of the secrets of a match under the terms `th`, sealed with the key `at_rest`."""
    return SaveSecrets(th, seal_at_rest(at_rest, secrets.to_bytes(), th))
