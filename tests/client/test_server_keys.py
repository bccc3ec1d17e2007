"""Real servers whose key changes, is given up, or is not theirs: what a client does, and what its player is told."""

import itertools
import time
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from client.playing import homes
from server.conftest import QUICK, Running, running

from truc_client import (
    Address,
    HomeError,
    MatchEnded,
    Player,
    RefusedError,
    ServerKeyError,
    Table,
    YourTurn,
    connect,
    open_home,
)
from truc_client.bots import play_match, simple_bot
from truc_client.happenings import Happening
from truc_client.home.account import NewKey
from truc_client.home.home import accept_revocation, master_seed, player_key
from truc_client.line.dialing import dial_tcp
from truc_client.verifying import verify_file
from truc_protocol.audit import Result
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.key_files import revocation_text
from truc_protocol.records import parse
from truc_protocol.transcript import read_transcript
from truc_protocol.wire.handshake import Fingerprint, Trust, revoke
from truc_server.identity.identity import Identity, load_identity, roll
from truc_server.identity.identity import accept_revocation as heed
from truc_server.settings.folder import open_folder

pytestmark = pytest.mark.slow
ADDRESS = "truc.test:7373"
_IN_THE_MIDDLE = 8
"""Decisions of both players, long before a match is over."""


class Host:
    """A server's data folder, served over loopback; all hosts seem to stand at one address."""

    def __init__(self, nursery: trio.Nursery, path: Path) -> None:
        self.folder = open_folder(path)
        self.first = self.identity
        self.server: Running | None = None
        self._nursery = nursery
        self._stop = trio.Event()
        self._stopped = trio.Event()

    @property
    def identity(self) -> Identity:
        return load_identity(self.folder)

    @property
    def fingerprint(self) -> str:
        return self.identity.fingerprint

    def roll(self, times: int = 1) -> None:
        for _ in range(times):
            roll(self.folder, int(time.time()))

    async def start(self) -> "Host":
        self._stop, self._stopped = trio.Event(), trio.Event()
        await self._nursery.start(self._serve)
        return self

    async def stop(self) -> None:
        self._stop.set()
        await self._stopped.wait()

    async def _serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with running(self.folder.root, QUICK) as self.server:
            task_status.started()
            await self._stop.wait()
        self._stopped.set()

    async def dial(self, address: Address) -> trio.abc.Stream:
        assert self.server is not None
        return await dial_tcp(address._replace(host="127.0.0.1", port=self.server.port))

    def connect(self, player: Player, address: str = ADDRESS):
        return connect(address, player, dial=self.dial)

    async def trust(self, player: Player, address: str = ADDRESS) -> Trust:
        """Connect once; returns how the server's key came to be accepted."""
        async with self.connect(player, address) as connection:
            return connection.trust

    async def stop_of(self, player: Player, address: str = ADDRESS) -> str:
        """Connect once in vain; returns why."""
        with pytest.raises(ServerKeyError) as stopped:
            await self.trust(player, address)
        return str(stopped.value)


@pytest.fixture
async def host(nursery: trio.Nursery, tmp_path: Path) -> Host:
    return await Host(nursery, tmp_path / "server").start()


@pytest.fixture
def told() -> list[NewKey]:
    return []


@pytest.fixture
def player(tmp_path: Path, told: list[NewKey]) -> Player:
    return Player(open_home(tmp_path / "home"), "north", on_new_key=told.append)


async def rolled(host: Host, times: int = 1) -> None:
    await host.stop()
    host.roll(times)
    await host.start()


def link(prefix: str) -> str:
    return f"{ADDRESS}#{prefix}"


# What is told


@pytest.mark.parametrize("is_guest", [False, True])
async def test_first_and_changed_key_are_told_once_with_their_fingerprints(host, player, told, is_guest):
    player = replace(player, is_guest=is_guest)
    # a guest whose token has run out comes twice, so that the second time counts
    trusts = [await host.trust(player) for _ in range(2)]
    assert is_guest or trusts == [Trust.FIRST_CONTACT, Trust.PINNED]
    assert told == [NewKey(ADDRESS, Fingerprint(host.fingerprint))]
    await rolled(host)
    trusts = [await host.trust(player) for _ in range(2)]
    assert is_guest or trusts == [Trust.ROLLED, Trust.PINNED]
    assert told[1:] == [NewKey(ADDRESS, host.fingerprint, host.first.fingerprint)]


# Following


async def test_link_with_the_key_of_before_the_roll_still_works(host, player, told) -> None:
    await rolled(host)
    assert await host.trust(player, link(host.first.fingerprint)) is Trust.ROLLED
    assert told == [NewKey(ADDRESS, host.fingerprint, host.first.fingerprint)]


async def test_client_two_rolls_behind_follows_by_a_link_with_either_key(host, player, told):
    await host.trust(player)
    await rolled(host)
    between = host.fingerprint
    await rolled(host)
    assert await host.trust(player, link(host.fingerprint)) is Trust.ROLLED
    assert told[1].before == host.first.fingerprint
    assert await host.trust(player, link(between)) is Trust.PINNED


# The player's own key


async def test_same_master_seed_is_the_same_player_by_the_link_with_the_first_key(host, player, tmp_path):
    async with host.connect(player) as connection:
        table = await connection.create("truc-french", private=True)
        (seat,) = host.server.store.seats(table.code)
        await table.leave()
    await rolled(host)
    elsewhere = Player(open_home(tmp_path / "elsewhere"), "north")
    elsewhere.home.seed.write_bytes(master_seed(player.home))
    async with host.connect(elsewhere, link(host.first.fingerprint)) as connection:
        own = player_key(master_seed(elsewhere.home), connection.session.first_spk)
    assert own.public == seat.player


# A match in between


def signed_by(ended: MatchEnded) -> str:
    """Return the fingerprint of the key that a match was begun under."""
    return fingerprint(parse(read_transcript(ended.transcript.read_bytes()).records[0]).spk)


async def test_match_ends_proven_under_the_key_it_was_begun_with_and_the_next_has_the_new_one(host, tmp_path):
    ended: list[MatchEnded] = []
    turns, due = itertools.count(1), trio.Event()

    def look(happening: Happening) -> None:
        if isinstance(happening, YourTurn) and next(turns) == _IN_THE_MIDDLE:
            due.set()

    async def play(table: Table, seed: int) -> None:
        for _ in range(2):
            await table.ready()
            ended.append(await play_match(table, simple_bot(seed), look))

    first, second = homes(tmp_path / "players", False, False)
    with trio.fail_after(60):
        async with host.connect(first) as one, host.connect(second) as other, trio.open_nursery() as players:
            table = await one.create("truc-french", options={"match": 1}, private=True)
            players.start_soon(play, table, 1)
            players.start_soon(play, await other.join(table.code), 2)
            await due.wait()
            await rolled(host, 2)
    assert [match.verdict.result for match in ended] == [Result.PROVEN] * 4
    assert [verify_file(match.transcript).result for match in ended[::2]] == [Result.PROVEN] * 2
    assert {signed_by(match) for match in ended[:2]} == {host.first.fingerprint} != {host.fingerprint}
    assert [signed_by(match) for match in ended[2:]] == [host.fingerprint] * 2


async def test_key_changed_while_connected_is_told(host, player, told) -> None:
    async with host.connect(player):
        await rolled(host)
        with trio.fail_after(10):
            while len(told) < 2:
                await trio.lowlevel.checkpoint()
    assert [key.before for key in told] == [None, host.first.fingerprint]


# Hard stops


async def test_more_rolls_missed_than_are_shown_is_a_stop_with_both_keys(host, player) -> None:
    await host.trust(player)
    await rolled(host, 9)
    told = await host.stop_of(player)
    assert told == (
        f"{ADDRESS}: C39: expected the rotation with serial 1, got 2; expected {host.first.fingerprint}, "
        f"got {host.fingerprint}; if its host confirms the change: truc keys forget {ADDRESS}"
    )


async def test_other_server_at_the_address_is_a_stop_and_the_known_key_stays(host, player, nursery, tmp_path):
    await host.trust(player)
    other = await Host(nursery, tmp_path / "other").start()
    told = await other.stop_of(player)
    assert told == (
        f"{ADDRESS}: C37: the server's key has changed: expected {host.fingerprint}, got {other.fingerprint}; "
        f"if its host confirms the change: truc keys forget {ADDRESS}"
    )
    assert await host.trust(player) is Trust.PINNED


async def test_link_of_another_server_is_a_stop_for_who_knows_this_one(host, player) -> None:
    await host.trust(player)
    told = await host.stop_of(player, link("A" * 26))
    known = f"{ADDRESS} is known with the key {host.fingerprint}"
    assert told.startswith(f"{known}, but the link says {'A' * 26}")


async def test_link_that_the_server_does_not_fit_is_a_stop_with_both_keys(host, player) -> None:
    told = await host.stop_of(player, link("A" * 26))
    changed = f"expected {'A' * 26}, got {host.fingerprint}"
    assert told.startswith(f"{ADDRESS}: C37: the server's key has changed: {changed}; the link")


# Keys that were given up


def gives_up(host: Host) -> str:
    return revocation_text(revoke(host.first.key))


@pytest.mark.parametrize("is_known", [False, True])
async def test_revoked_key_is_neither_pinned_nor_accepted_though_known(host, player, is_known) -> None:
    if is_known:
        await host.trust(player)
    accept_revocation(player.home, gives_up(host))
    told = await host.stop_of(player)
    what_to_do = "do not play there; ask its host for the address of a new server"
    assert told.startswith(f"{ADDRESS}: C40: the key {host.fingerprint} was revoked: {what_to_do}")
    assert told.endswith(f"; then: truc keys forget {ADDRESS}") is is_known


async def test_bot_heeds_what_its_owner_does(host, player) -> None:
    accept_revocation(player.home, gives_up(host))
    bot = Player(open_home(player.home.root / "bots" / "bot"), "bot")
    assert "C40" in await host.stop_of(bot)


async def test_file_that_is_no_revocation_is_not_passed_over(host, player) -> None:
    player.home.revoked.mkdir()
    (player.home.revoked / "x").write_text("something else")
    with pytest.raises(HomeError, match="x: expected a revocation: line 1"):
        await host.trust(player)


async def test_revoked_player_is_not_let_in_and_others_are(host, player, tmp_path) -> None:
    await host.trust(player)
    key = player_key(master_seed(player.home), host.identity.key.public)
    await host.stop()
    heed(host.folder, revocation_text(revoke(key)))
    await host.start()
    with pytest.raises(RefusedError, match=f"C40: the key {fingerprint(key.public)} was revoked") as refused:
        await host.trust(player)
    assert refused.value.code == "key_not_allowed"
    other = Player(open_home(tmp_path / "elsewhere"), "south")
    assert await host.trust(other) is Trust.FIRST_CONTACT
