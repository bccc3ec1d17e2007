"""Guests: found by their tokens, last seen, and forgotten when they stay away."""

import threading

import pytest
import trio
import trio.testing
from server.conftest import QUICK, changed, running
from server.gates import Gate
from server.stored import sql
from server.visitors import greeted, guest, table_of

from truc_server.storage import SaveGuest, StoreError
from truc_server.storage.guest_tokens import GuestTokens
from truc_server.storage.sql import Store
from truc_server.timing.clock import now_ms
from truc_server.upkeep import retention

DAY_MS = 86_400_000
FOREVER = changed(QUICK, access={"guest_days": 0})


class Pruned:
    """How often a store has been asked to forget guests, and has done so."""

    def __init__(self) -> None:
        self._turns = threading.Semaphore(0)

    def note(self) -> None:
        self._turns.release()

    async def wait(self) -> None:
        """Wait until it has been done once in all."""
        assert await trio.to_thread.run_sync(self._turns.acquire, True, 10)

    async def wait_again(self) -> None:
        """Wait until it has been done once from now on: whatever is being done now, and then one more."""
        while self._turns.acquire(blocking=False):
            pass
        for _ in range(2):
            await self.wait()


@pytest.fixture
def pruned(monkeypatch):
    counted, prune = Pruned(), Store.prune_guests

    def counting(store, **fields):
        try:
            return prune(store, **fields)
        finally:
            counted.note()

    monkeypatch.setattr(Store, "prune_guests", counting)
    return counted


async def stored_guest(server, *, seat=False):
    """Return a guest who can come back, with a seat or without."""
    guest = await server.seat(keyed=False)
    table = await guest.create("truc-french", options={"guests": 2})
    if not seat:
        await guest.ask({"t": "leave", "table": table})
    return guest


def seen(server) -> list[int]:
    """Return when the guests that are stored were seen last."""
    return [at_ms for (at_ms,) in sql(server.folder.database, "SELECT seen_ms FROM guests")]


def set_seen(server, days_ago: float) -> int:
    """Let the guests have been seen so many days ago."""
    at_ms = now_ms() - round(days_ago * DAY_MS)
    sql(server.folder.database, "UPDATE guests SET seen_ms = ?", (at_ms,))
    return at_ms


async def left_behind(path, days_ago, **fields):
    """Return a guest of a server that has ended, last seen so many days ago."""
    async with running(path, FOREVER) as server:
        guest = await stored_guest(server, **fields)
    set_seen(server, days_ago)
    return guest


async def comes_back(path, guest, pruned, settings=QUICK) -> str:
    """Return how a server answers the guest, once it has looked for those who stay away."""
    async with running(path, settings) as server:
        if settings.access.guest_days:
            await pruned.wait()
        answer = await (await server.connect()).login_token(guest.token)
    return answer.get("code", answer["t"])


@pytest.mark.parametrize(
    ("days_ago", "guest_days", "has_seat", "answer"),
    [
        (31, 30, False, "bad_token"),
        (29, 30, False, "welcome"),
        (3, 2, False, "bad_token"),
        (3_000, 30, True, "welcome"),
        (3_000, 0, False, "welcome"),  # a server that forgets nobody
    ],
)
async def test_guest_who_stays_away_is_forgotten(path, pruned, *, days_ago, guest_days, has_seat, answer):
    guest = await left_behind(path, days_ago, seat=has_seat)
    settings = changed(QUICK, access={"guest_days": guest_days})
    assert await comes_back(path, guest, pruned, settings) == answer


async def test_server_that_has_moved_forgets_nobody(path, pruned):
    guest = await left_behind(path, 3_000)
    async with running(path, changed(QUICK, access={"moved_to": "truc.example:7373"})) as server:
        await greeted(server)
    assert await comes_back(path, guest, pruned, FOREVER) == "welcome"


async def test_guest_who_is_connected_counts_as_seen_and_is_kept_however_long(path, pruned, monkeypatch):
    monkeypatch.setattr(retention, "DAY_S", 0.001)
    async with running(path) as server:
        guest = await stored_guest(server)
        before = set_seen(server, 3_000)
        await pruned.wait_again()
        assert seen(server) > [before]
        answer = await (await server.connect()).login_token(guest.token)
    assert answer["t"] == "welcome"


async def test_guests_are_looked_for_again_and_again(path, pruned, monkeypatch):
    monkeypatch.setattr(retention, "DAY_S", 0.001)
    async with running(path) as server:
        guest = await stored_guest(server)
        await guest.client.stream.aclose()
        while seen(server):  # until it is noticed that they have gone, they are seen now
            set_seen(server, 31)
            await pruned.wait_again()
        answer = await (await server.connect()).login_token(guest.token)
    assert answer["code"] == "bad_token"


async def test_guest_who_has_joined_a_table_comes_back_by_their_token(server):
    client = await guest(server)
    await client.ask({"t": "join", "table": await table_of(await guest(server))})
    assert (await (await server.connect()).login_token(client.welcome["token"]))["t"] == "welcome"


async def test_guest_counts_as_seen_when_they_first_sit_down(server, monkeypatch):
    guest = await server.seat(keyed=False)
    later = now_ms() + 7 * DAY_MS
    monkeypatch.setattr("truc_server.requests.login.now_ms", lambda: later)
    await guest.create("truc-french", options={"guests": 2})
    assert seen(server) == [later]


async def test_guest_counts_as_seen_when_they_come_back_and_the_token_stays_good(path):
    async with running(path, FOREVER) as server:
        guest = await stored_guest(server)
        before = set_seen(server, 1.01)
        client = await server.connect()
        await client.login_token(guest.token)
        await client.ask({"t": "tables"})
        again = await (await server.connect()).login_token(guest.token)
    assert seen(server) > [before]
    assert (again["t"], again["name"]) == ("welcome", guest.name)


async def test_guest_who_comes_back_within_a_day_is_not_written_again(path):
    async with running(path, FOREVER) as server:
        guest = await stored_guest(server)
        before = set_seen(server, 0.9)
        await (await server.connect()).login_token(guest.token)
    assert seen(server) == [before]


async def test_guest_who_comes_back_while_they_are_forgotten_is_kept(path, monkeypatch):
    guest = await left_behind(path, 31)
    gate, looked, prune = Gate(), threading.Event(), Store.prune_guests

    def late(store, **fields):
        gate.hold()
        looked.set()
        return prune(store, **fields)

    monkeypatch.setattr(Store, "prune_guests", late)
    async with running(path) as server:
        assert (await (await server.connect()).login_token(guest.token))["t"] == "welcome"
        gate.open()
        await trio.to_thread.run_sync(looked.wait, 10)
    assert await comes_back(path, guest, None, FOREVER) == "welcome"


async def test_store_that_fails_is_logged_and_harms_nobody(path, pruned, monkeypatch, shown):
    counting = Store.prune_guests

    def fail(store, **fields):
        counting(store, **fields)
        raise StoreError("cannot write to it")

    monkeypatch.setattr(Store, "prune_guests", fail)
    async with running(path) as server:
        await pruned.wait()
        guest = await server.seat(keyed=False)
        assert (await guest.ask({"t": "tables"}))["t"] == "ok"
    assert "guests_not_pruned" in shown.getvalue()


PAU, NEUS = (SaveGuest(name, name.decode(), name * 8, 0) for name in (b"Pau", b"Neus"))


class Reads:
    """A store of these two guests; what is looked for at once, and whether it can be read."""

    def __init__(self) -> None:
        self.asked: list[set[bytes]] = []
        self.fails: Exception | None = None

    def guests_by_tokens(self, hashes) -> dict[bytes, SaveGuest]:
        self.asked.append(set(hashes))
        if self.fails is not None:
            raise self.fails
        return {guest.token_hash: guest for guest in (PAU, NEUS) if guest.token_hash in hashes}


async def answers(tokens: GuestTokens, *hashes: bytes) -> list[SaveGuest | str | None]:
    """Return what each is answered, who have all asked before anything is looked for; in their order."""
    found: dict[bytes, SaveGuest | str | None] = {}

    async def ask(token_hash: bytes) -> None:
        try:
            found[token_hash] = await tokens.guest(token_hash)
        except StoreError as error:
            found[token_hash] = str(error)

    async with trio.open_nursery() as running:
        async with trio.open_nursery() as asking:
            for token_hash in hashes:
                asking.start_soon(ask, token_hash)
            await trio.testing.wait_all_tasks_blocked()
            running.start_soon(tokens.run)
        running.cancel_scope.cancel()
    return [found[token_hash] for token_hash in hashes]


async def test_all_who_have_come_meanwhile_are_looked_for_at_once():
    reads = Reads()
    wanted = [PAU.token_hash, b"nobody's", NEUS.token_hash]
    assert await answers(GuestTokens(reads), *wanted) == [PAU, None, NEUS]
    assert reads.asked == [set(wanted)]


async def test_more_than_are_looked_for_at_once_are_all_answered(monkeypatch):
    monkeypatch.setattr("truc_server.storage.guest_tokens.MAX_AT_ONCE", 1)
    reads = Reads()
    assert await answers(GuestTokens(reads), PAU.token_hash, NEUS.token_hash) == [PAU, NEUS]
    assert len(reads.asked) == 2


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (StoreError("the disk is gone"), "the disk is gone"),
        (KeyError(), "the store has failed in an unforeseen way"),
    ],
)
async def test_store_that_cannot_be_read_fails_those_who_asked_and_no_others(failure, said):
    reads = Reads()
    tokens, wanted = GuestTokens(reads), (PAU.token_hash, NEUS.token_hash)
    reads.fails = failure
    assert await answers(tokens, *wanted) == [said, said]
    reads.fails = None
    assert await answers(tokens, *wanted) == [PAU, NEUS]
