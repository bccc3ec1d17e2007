"""What one played card, and one login, cost the server in steps: bounds that may only be lowered."""

import pytest
from server.act_trace import Way, traced
from server.conftest import holder_of, in_hand
from server.rawclient import RawSeat

from truc_protocol import dealing
from truc_protocol.wire.capabilities import OWN_OPTIONS

MOST = {"key": Way(35, 60, 176), "guest": Way(35, 59, 175), "own options": Way(29, 46, 125)}
"""From the bytes of a card to those of everything it leads to, commit included. The goal is Way(20, 60, 300) for both;
whoever shortens the way lowers these."""

MOST_OF_A_LOGIN = {"key": Way(30, 70, 174), "guest": Way(29, 58, 157)}
"""From the connection to the welcome, the line in the log included."""


ACT = 1_000
"""The id of the request."""


@pytest.fixture(autouse=True)
def _nobody_looks_for_silence(monkeypatch):
    """What is done once a second for all connections is no part of the way of one."""
    monkeypatch.setattr("truc_server.net.connections.LOOK_S", 3600)


async def first_card(server, *, guests, want):
    """Return what the server does about the first card of a hand."""
    seats = await in_hand(server, "truco-argentino", guests=guests, want=want)
    seat, _ = holder_of(seats)
    card = next(option for option in seat.offered if option["kind"] == "play")
    # its fields in the order in which our own clients write them, as nearly everything that comes has them
    message = {"t": "act", "id": ACT} | seat.act_message(seat.options, card)
    with traced() as trace:
        assert (await seat.ask(message))["t"] == "ok"
    return trace


@pytest.mark.parametrize(
    ("kind", "guests", "want"), [("key", (), ()), ("guest", (0, 1), ()), ("own options", (), (OWN_OPTIONS,))]
)
async def test_played_card_passes_no_more_than_this(server, monkeypatch, kind, guests, want):
    # one deal for every run: what may be played and asked depends on the cards
    monkeypatch.setattr(dealing, "first_dealer", lambda *_: 0)
    monkeypatch.setattr(dealing, "deck_order", lambda _seed, *, size, cut: tuple(range(size)))
    # what depends on values alone, such as the lines of moves, is made when it is first needed
    await first_card(server, guests=guests, want=want)
    trace = await first_card(server, guests=guests, want=want)
    assert all(counted <= most for counted, most in zip(trace.way, MOST[kind], strict=True)), str(trace)


@pytest.mark.parametrize(("kind", "newcomer"), [("key", 2), ("guest", 3)])
async def test_login_passes_no_more_than_this(server, kind, newcomer):
    async def login(seed, kind):
        seat = RawSeat(await server.connect(), seed=seed, keyed=kind == "key")
        assert (await seat.login())["t"] == "welcome"

    for seed, other in enumerate(MOST_OF_A_LOGIN):  # after which the log knows the names of its fields
        await login(seed, other)
    with traced() as trace:
        await login(newcomer, kind)  # with a name that was never looked at
    most = MOST_OF_A_LOGIN[kind]
    assert all(counted <= bound for counted, bound in zip(trace.way, most, strict=True)), str(trace)
