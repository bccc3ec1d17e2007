"""No card of another seat is in any byte a seat or a spectator receives before it is opened; nor in the log.

A card's salt stands for it: whoever knows the salt can find the card from its leaf, and 16 random bytes do not occur by
chance. For the cards in clear (`cards`, `options` of guests) the messages themselves are looked at.
"""

from io import StringIO

import pytest
from server.calls import BRIEF
from server.conftest import play_on
from server.late import eye_at
from server.rawclient import RawClient

from truc_protocol import dealer
from truc_protocol.bodies import Act, Close, Deal, Proxy, Rule
from truc_protocol.records import parse
from truc_server.operation import logs
from truc_server.settings.settings import LogSettings

pytestmark = pytest.mark.slow


@pytest.fixture
def salts(monkeypatch):
    """Collect the salt of every card that the dealer deals."""
    dealt: set[bytes] = set()
    really = dealer.dealing.deal_cards

    def noted(*args, **fields):
        cards = really(*args, **fields)
        dealt.update(opening.salt for hand in cards.hands for opening in hand)
        return cards

    monkeypatch.setattr(dealer.dealing, "deal_cards", noted)
    return dealt


def opened(records) -> set[bytes]:
    """Return the salts that records lay open."""
    bodies = [parse(record) for record in records]
    plays = [body.args for body in bodies if isinstance(body, Act | Proxy | Rule) and body.kind == "play"]
    return {args[2] for args in plays}


def leaked(client: RawClient, salts, records) -> set[bytes]:
    raw = bytes(client.received)
    return {salt for salt in salts if salt in raw} - opened(records)


@pytest.mark.parametrize(
    ("variant", "fields"),
    [
        ("truc-catalan", {}),
        ("truc-french", {"guests": (1,)}),
        ("truc-catalan", {"guests": (0, 1), "boxed": False}),
    ],
)
async def test_no_salt_of_an_unopened_card_of_another_seat_is_in_any_byte(server, salts, variant, fields):
    seats = await server.match(2, variant, options=BRIEF, **fields)
    await play_on(seats)
    assert salts
    assert [leaked(seat.client, salts, seat.records) for seat in seats] == [set(), set()]


async def test_a_spectator_is_sent_nothing_private_and_no_salt_of_an_unopened_card(server, salts):
    seats = await server.seats(2, "truc-catalan", guests=(0, 1), boxed=False, options=BRIEF)
    eye = await eye_at(server, seats[0].table)
    for seat in seats:
        await seat.ready()
    await play_on(seats)
    await eye.settle()
    assert leaked(eye.client, salts, seats[0].records) == set()
    public = {"hello", "welcome", "table", "setup", "terms", "record", "waiting", "ok"}
    assert {message["t"] for message in eye.client.log} == public


async def test_cards_in_clear_are_the_own_ones_and_no_others_and_none_is_in_the_log(server, salts):
    logs.configure(LogSettings(level="debug"), shown := StringIO())
    seats = await server.match(2, "truc-french", guests=(0, 1), boxed=False, options=BRIEF)
    await play_on(seats)
    for seat in seats:
        told = {(m["j"], m["d"]): m["cards"] for m in seat.client.log if m["t"] == "cards"}
        assert told == shown_at_close(seat, told)
    text = shown.getvalue()
    assert "match_ended" in text
    assert not any(salt.hex() in text or str(salt) in text for salt in salts)


def shown_at_close(seat, told) -> dict:
    """Return the cards of the seat's newest deals as each close opened them, and the others as they were told."""
    final = dict(told)
    newest = {}
    for message in (m for m in seat.client.log if m["t"] == "record"):
        body = parse(seat.played[message["k"]])
        if isinstance(body, Deal):
            newest[body.j] = body.d
        if isinstance(body, Close):
            hands = next((fact["cards"] for fact in message["means"] if fact["what"] == "hands_opened"), None)
            if hands is not None:
                final[body.j, newest[body.j]] = hands[seat.seat]
    return final


async def test_what_a_record_means_names_a_card_only_where_the_record_opens_it(server):
    seats = await server.match(2, "truc-catalan", options=BRIEF)
    await play_on(seats)
    naming = [m for m in seats[0].client.log if m["t"] == "record"]
    kinds = {
        type(parse(seats[0].played[m["k"]])) for m in naming if any("card" in fact for fact in m["means"])
    }
    assert kinds == {Act}


async def test_under_reveal_match_unplayed_cards_stay_closed_until_the_end(server):
    seats = await server.match(2, "truc-french", options={"reveal": "match", **BRIEF})
    await play_on(seats)
    facts = [fact["what"] for m in seats[0].client.log if m["t"] == "record" for fact in m["means"]]
    assert "hands_opened" not in facts
