"""What the server of mode blind has of a hand in play: no card, and no key of a place that is not open."""

import gc
from collections.abc import Iterator

import msgspec
import pytest
import structlog
from server.blind_seats import BlindSeat, blind_match, is_in_hand
from server.conftest import play_on
from structlog.testing import capture_logs

from truc_protocol.blind_mode.points import encoded
from truc_protocol.codec import pack
from truc_protocol.ledger import sealed_pack
from truc_server.matches.game import Game

SHORT = {"target": 3, "match": 1}
GAMES = [(2, "truc-catalan"), (2, "truco-paulista")]


def reachable(start: object) -> Iterator[object]:
    """Yield all values that an object holds, through its fields and containers."""
    seen: set[int] = set()
    left = [start]
    while left:
        value = left.pop()
        if id(value) in seen or isinstance(value, type) or callable(value):
            continue
        seen.add(id(value))
        yield value
        match value:
            case bytes() | bytearray() | str() | int() | float() | None:
                pass
            case dict():
                left += [*value.keys(), *value.values()]
            case list() | tuple() | set() | frozenset():
                left += value
            case msgspec.Struct():
                left += [getattr(value, name) for name in value.__struct_fields__]
            case _:
                left += vars(value).values() if hasattr(value, "__dict__") else ()


def game_of(seat: BlindSeat) -> Game:
    mid = seat.ledger.setup.mid
    return next(each for each in gc.get_objects() if isinstance(each, Game) and each.mid == mid)


def secret_bytes(seats: list[BlindSeat]) -> set[bytes]:
    """Return every key of a place in somebody's hand, and every link of the open index."""
    keys = set()
    for seat in seats:
        secrets, places = seat.secrets(), sealed_pack(seat.ledger).places
        keys |= {encoded(secrets.lock(p)) for p, place in enumerate(places) if place.seat is not None}
        keys |= {secrets.link, encoded(secrets.mask()), encoded(secrets.box(0))}
    return keys


@pytest.mark.parametrize(("count", "variant"), GAMES)
async def test_server_holds_no_card_and_no_key_of_a_hand(server, count, variant):
    structlog.reset_defaults()
    with capture_logs() as logged:
        seats = await blind_match(server, count, variant, options=SHORT)
        eye = await server.connect()
        await eye.login_guest()
        await eye.ask({"t": "watch", "table": seats[0].table})
        for seat in seats:
            seat.chooses = lambda _message, options: next(
                (option for option in options if option["kind"] in ("cut", "tap")), None
            )
        await play_on(seats, is_in_hand)
        secrets = secret_bytes(seats)
    game = game_of(seats[0])
    held = list(reachable(game))
    assert sealed_pack(seats[0].ledger).places[0].locked in held  # what it holds of the pack is looked at
    assert secrets.isdisjoint(value for value in held if isinstance(value, bytes))
    assert not any(key in value for key in secrets for value in held if isinstance(value, bytes))
    match = game.ledger.match
    assert match is not None
    assert {card for cards in match.hand.dealt.cards for card in cards} == {None}
    sent = [pack(message) for client in (eye, *(seat.client for seat in seats)) for message in client.log]
    stored = b"".join(path.read_bytes() for path in sorted(server.folder.root.glob("truc.db*")))
    for key in secrets:
        assert not any(key in message for message in sent)
        assert key not in stored
        assert key.hex() not in str(logged)
