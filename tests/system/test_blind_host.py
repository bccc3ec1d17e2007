"""A host of mode blind, searched: the memory, files and bytes of its process hold nothing that tells a card in hand."""

import ctypes
import sys
from contextlib import asynccontextmanager
from itertools import product as product_of

import pytest
from chaos.seating import all_ready, entrance, seated
from chaos.servers import QUICK, serving
from rows import each_row
from server.blind_seats import WANT, BlindSeat
from server.conftest import play_on
from server.rawclient import RawClient, RawSeat
from system.memory import dump, found_in

from truc_protocol.blind_mode.points import ORDER, card_scalar, encoded, inverse, product
from truc_protocol.bodies import Act, Close
from truc_protocol.codec import digest
from truc_protocol.crypto.shuffle import shuffle
from truc_protocol.ledger import sealed_pack

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]
TABLE = {"target": 12, "match": 1}
EVERYWHERE = ("memory", "files", "wire")


class HeardClient(RawClient):
    """A raw client that keeps what it sends, too."""

    def __init__(self, *arguments, **fields) -> None:
        super().__init__(*arguments, **fields)
        self.said = bytearray()

    async def send_bytes(self, raw):
        self.said += raw
        await super().send_bytes(raw)


def acts(seat, kind):
    return [body for body in seat.bodies(Act) if body.kind == kind]


def has_played(seat):
    return acts(seat, "play")


def has_closed(seat):
    return seat.bodies(Close)


def plain(_message, options):
    """Choose what leads to the cards, and the cards."""
    return next((option for option in options if option["kind"] in ("cut", "tap", "play")), None)


@asynccontextmanager
async def heard(server, kind, count, **options):
    """Let players be ready at a table of their own, to the end of the block."""
    want = WANT if kind is BlindSeat else ()
    async with entrance(server.connect, HeardClient) as players:
        seats = await seated(players.connect, "truc-catalan", count, kind=kind, want=want, **TABLE, **options)
        for seat in seats:
            seat.chooses = plain
        yield await all_ready(seats)


def either(numbers):
    """Return each class as it travels, and as the two numbers that it is."""
    return [form for t in numbers for form in (encoded(t), t, ORDER - t)]


def secrets_of(seats, places, openings):
    """Return by name what tells the cards at these places, once one knows it, and what leads to that."""
    pack, drawn = sealed_pack(seats[0].ledger), [seat.secrets() for seat in seats]
    of_place = {p: [secrets.lock(p) for secrets in drawn] for p in places}
    j = pack.plan.j
    later = [seat.chain.link(i) for seat in seats for i in range(j + 1, seat.chain.last + 1)]
    return {
        "links": later,
        "keys of a card": either(key for keys in of_place.values() for key in keys),
        "their products": either(product(keys) for keys in of_place.values()),
        "what takes them off": either(inverse(product(keys)) for keys in of_place.values()),
        "what opens a card": either(
            product([card_scalar(card), *of_place[p]]) for p, card in openings.items() if p in of_place
        ),
        "what locks": either(s.lock(p) * inverse(s.mask()) % ORDER for s in drawn for p in places),
        "masks": either(s.mask() for s in drawn),
        "what blinds": either(s.blind(k) for s in drawn for k in range(s.deck)),
        "orders": [digest("perm", s.link, s.mid, s.j) for s in drawn]
        + [bytes(shuffle(digest("perm", s.link, s.mid, s.j), s.deck)) for s in drawn],
        "keys of boxes": either(s.box(0) for s in drawn),
        "exchanged": [seat.x.exchange(keys.box) for seat in seats for keys in pack.dealt[0] if keys.box],
        "keys of seats": [secret for seat in seats for secret in (seat.x.secret, seat.key.seed())],
    }


def known_to(server, seats):
    """Return what a host has: its memory, its files, its log, all it was sent and all it said."""
    files = [path.read_bytes() for path in sorted(server.data.rglob("*")) if path.is_file()]
    assert any(path.name.startswith("truc.db") for path in server.data.rglob("*"))
    try:
        memory = dump(server.pid)
    except PermissionError:
        pytest.skip("needs leave to read the memory of a process of its own")
    said = [bytes(part) for seat in seats for part in (seat.client.said, seat.client.received)]
    return {"memory": memory, "files": [*files, server.log.read_bytes()], "wire": said}


def searched(server, seats, secrets):
    return {where: found_in(parts, secrets) for where, parts in known_to(server, seats).items()}


async def test_host_has_nothing_of_the_cards_in_hand_until_the_hand_is_opened(tmp_path):
    async with (
        serving(tmp_path / "data", QUICK, level="debug") as server,
        heard(server, BlindSeat, 4, mode="blind") as seats,
    ):
        await play_on(seats, has_played)
        pack = sealed_pack(seats[0].ledger)
        openings = {
            pack.plan.place(0, seat.seat, slot): held.card
            for seat in seats
            for slot, held in enumerate(seat.hand())
        }
        (played,) = acts(seats[0], "play")
        [shown] = [p for p in openings if played_at(pack, played) == p]
        hidden = secrets_of(seats, [p for p in openings if p != shown], openings)
        shows = {
            "a point of the pack": [pack.places[0].locked],
            "keys of the card played": [encoded(seat.secrets().lock(shown)) for seat in seats],
        }
        found = searched(server, seats, {**hidden, **shows})
        assert found == dict.fromkeys(EVERYWHERE, shows.keys())
        links = {"links of the hand": [seat.secrets().link for seat in seats]}
        await play_on(seats, has_closed)
        assert searched(server, seats, links) == dict.fromkeys(EVERYWHERE, links.keys())


def played_at(pack, act):
    """Return the place of the card that an act plays."""
    return pack.plan.place(0, act.seat, act.args[0])


async def test_same_search_finds_every_hand_of_mode_dealt(tmp_path):
    async with (
        serving(tmp_path / "data", QUICK, level="debug") as server,
        heard(server, RawSeat, 2) as seats,
    ):
        await play_on(seats, has_played)
        salts = {
            f"salt {seat.seat} {slot}": [opening.salt]
            for seat in seats
            for slot, opening in enumerate(seat.auditor.openings)
        }
        assert len(salts) == 6
        assert searched(server, seats, salts)["memory"] == set(salts)


HELD = {
    "bytes": lambda octets: octets,
    "the other way round": lambda octets: octets[::-1],
    "text": lambda octets: octets.hex().encode(),
    "a number": lambda octets: memory_of(int.from_bytes(octets, "little")),
    "a number written from its other end": lambda octets: memory_of(int.from_bytes(octets, "big")),
}


def memory_of(value):
    return ctypes.string_at(id(value), sys.getsizeof(value))


@each_row("held, before", product_of(HELD, range(9)))
def test_search_finds_a_secret_however_it_is_held_and_wherever_it_begins(held, before):
    secret = digest("test/secret")
    part = bytes(before) + HELD[held](secret) + bytes(7)
    assert found_in([b"", bytes(100), part], {"it": [secret], "another": [digest("test/other")]}) == {"it"}
