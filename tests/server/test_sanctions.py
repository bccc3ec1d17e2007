"""Bans and mutes while a server runs: who is cut, who is silent, and what happens to their seats."""

from contextlib import closing

import pytest
import trio
from server.conftest import in_hand, only_cut, play_on, running, under
from server.stored import url
from server.visitors import follower, greeted, guest, heard, keyed, said, say

from truc_protocol.crypto.keys import fingerprint, generate_signing_key
from truc_server.net.sanctions import Sanctions, in_force
from truc_server.settings.settings import AccessSettings
from truc_server.storage import Sanction, SanctionKind, StoreError
from truc_server.storage.journal import JournalStoppedError
from truc_server.storage.sql import Store, open_store
from truc_server.timing.clock import now_ms
from truc_server.upkeep import sanction_watch

KEY = generate_signing_key()
OWN = fingerprint(KEY.public)
HERE = "127.0.0.1"
BAN, MUTE = SanctionKind.BAN, SanctionKind.MUTE
FRENCH = {"t": "create", "variant": "truc-french"}


def order(kind, subject, *, since=0, until=None) -> Sanction:
    return Sanction(subject, kind, since, until)


class Readings:
    """How often a server has looked at what is imposed."""

    def __init__(self) -> None:
        self.begun = 0
        self._lot = trio.lowlevel.ParkingLot()

    def note(self) -> None:
        self.begun += 1
        self._lot.unpark_all()

    async def heeded(self) -> None:
        """Wait until what is in the store by now is heeded: the next look has ended when one more begins."""
        wanted = self.begun + 2
        with trio.fail_after(10):
            while self.begun < wanted:
                await self._lot.park()


@pytest.fixture(autouse=True)
def readings(monkeypatch):
    """Let servers look all the time, and count it."""
    counted, read = Readings(), Store.sanctions

    def counting(store):
        trio.from_thread.run_sync(counted.note)
        return read(store)

    monkeypatch.setattr(Store, "sanctions", counting)
    monkeypatch.setattr(sanction_watch, "SANCTIONS_S", 0.001)
    return counted


async def goodbye(client) -> str:
    """Return the code of the bye that ends a connection."""
    with trio.fail_after(10):
        return (await client.closed())[-1]["code"]


class TestBan:
    async def test_every_connection_of_a_key_is_cut(self, server):
        clients = [await keyed(server, key=KEY) for _ in range(2)]
        server.store.impose(order(BAN, OWN))
        assert [await goodbye(client) for client in clients] == ["banned", "banned"]

    async def test_address_is_cut_also_before_the_login(self, server):
        client = await greeted(server)
        server.store.impose(order(BAN, "127.0.0.0/8"))
        assert await goodbye(client) == "banned"

    async def test_others_stay(self, server, readings):
        client = await guest(server)
        server.store.impose(order(BAN, OWN))
        server.store.impose(order(BAN, "192.0.2.0/24"))
        await readings.heeded()
        assert await heard(client, "bye") == []

    async def test_key_that_is_banned_during_its_login_is_refused(self, server, readings, monkeypatch):
        ignored = server.store.ignored

        def slowly(player):
            server.store.impose(order(BAN, OWN))
            trio.from_thread.run(readings.heeded)
            return ignored(player)

        monkeypatch.setattr(server.store, "ignored", slowly)
        client = await keyed(server, "kay", KEY)
        await client.ask({"t": "ignore", "player": "x"})  # of who ignores nobody nothing is read
        assert (await (await server.connect()).login_key(KEY))["code"] == "banned"

    async def test_ban_by_command_is_in_force_from_the_first_connection_on(self, path):
        async with running(path) as server:
            server.store.impose(order(BAN, HERE))
        async with running(path) as server:
            assert await goodbye(await server.connect()) == "banned"

    @under(access={"banned": (OWN,)})
    async def test_list_of_the_settings_goes_on_beside_what_is_imposed(self, server, readings):
        server.store.impose(order(BAN, "192.0.2.1"))
        await readings.heeded()
        assert (await (await server.connect()).login_key(KEY))["code"] == "banned"


async def sit_beside(other, client) -> None:
    """Let a player with a key take the second seat of a guest's table."""
    code = (await other.ask({**FRENCH, "options": {"guests": 1}}))["table"]
    await client.ask({"t": "join", "table": code})


class TestSeats:
    async def test_seat_at_an_open_table_is_given_up_and_a_table_of_nobody_else_closed(self, server):
        other, client = await guest(server, "Pau"), await keyed(server, key=KEY)
        await sit_beside(other, client)
        await client.ask(FRENCH)
        server.store.impose(order(BAN, OWN))
        await goodbye(client)
        (table,) = (await other.ask({"t": "tables"}))["tables"]
        assert table["seats"][1] == {"seat": 1, "kind": "empty"}

    async def test_seat_of_who_is_gone_is_given_up_too(self, server, readings):
        other, client = await guest(server, "Pau"), await keyed(server, key=KEY)
        await sit_beside(other, client)
        await client.stream.aclose()
        server.store.impose(order(BAN, OWN))
        await readings.heeded()
        assert (await other.ask({"t": "tables"}))["tables"][0]["seats"][1] == {"seat": 1, "kind": "empty"}

    async def test_seat_in_a_match_stays_and_is_offline(self, server):
        first, second = await in_hand(server)
        server.store.impose(order(BAN, fingerprint(second.key.public)))
        await goodbye(second.client)
        await second.client.stream.aclose()
        with trio.fail_after(10):
            while (told := await first.client.until("table"))["seats"][1].get("online"):
                pass
        assert (told["state"], told["seats"][1]["kind"]) == ("playing", "key")

    async def test_seat_in_a_match_is_given_up_when_the_match_is_over(self, server):
        first, second = await in_hand(server)
        server.store.impose(order(BAN, fingerprint(second.key.public)))
        await goodbye(second.client)
        await first.resign()
        with trio.fail_after(10):
            while (await first.client.until("table"))["seats"][1]["kind"] != "empty":
                pass

    async def test_seat_of_who_was_banned_while_no_server_ran_is_given_up(self, path, readings):
        async with running(path) as server:
            other, client = await guest(server, "Pau"), await keyed(server, key=KEY)
            await sit_beside(other, client)
        with closing(open_store(url(path))) as store:
            store.impose(order(BAN, OWN))
        async with running(path) as server:
            await readings.heeded()
            (table,) = (await (await guest(server)).ask({"t": "tables"}))["tables"]
        assert table["seats"][1] == {"seat": 1, "kind": "empty"}

    async def test_who_is_there_from_another_address_too_keeps_the_seat(self, server):
        elsewhere = await keyed(server, key=KEY)
        client = await server.connect("127.0.0.2")
        await client.login_key(KEY)
        code = (await elsewhere.ask(FRENCH))["table"]
        server.store.impose(order(BAN, "127.0.0.2"))
        await goodbye(client)
        tables = (await elsewhere.ask({"t": "tables"}))["tables"]
        assert [table["table"] for table in tables] == [code]


class TestMute:
    async def test_chat_at_a_table_is_refused(self, server, readings):
        client = await keyed(server, key=KEY)
        code = (await client.ask(FRENCH))["table"]
        server.store.impose(order(MUTE, OWN))
        await readings.heeded()
        assert (await say(client, "hello", code))["code"] == "muted"

    @under(access={"muted": (HERE,)})
    async def test_what_a_muted_address_says_is_refused_and_not_told(self, server):
        other, client = await follower(server), await follower(server)
        await say(client, "hello")
        assert await said(other) == []
        seats = await server.seats(2, "truco-argentino")
        phrase = {"t": "say", "table": seats[0].table, "phrase": "come"}
        answer = await seats[0].client.ask(phrase)
        assert (answer["code"], await heard(seats[1].client, "said")) == ("muted", [])

    @under(access={"muted": (HERE,)})
    async def test_signs_of_partners_are_passed_on(self, server):
        seats = await server.match(4, "truc-catalan", guests=(0, 1, 2, 3), boxed=False)
        for seat in seats:
            seat.chooses = only_cut
        await play_on(seats, lambda seat: bool(seat.cards))
        where = {"table": seats[2].table, "match": seats[2].ledger.setup.mid, "at": seats[2].next}
        word = seats[2].ledger.setup.terms.variant.signals.vocabulary[0]
        await seats[2].client.ask({"t": "sign", **where, "word": word})
        assert len(await heard(seats[0].client, "sign")) == 1

    @under(access={"muted": (OWN,)})
    async def test_others_talk_and_the_muted_player_goes_on_playing(self, server):
        assert (await say(await follower(server), "hello"))["t"] == "ok"
        client = await keyed(server, key=KEY)
        assert (await client.ask(FRENCH))["t"] == "ok"

    async def test_chat_in_the_lobby_is_refused_until_the_mute_is_lifted(self, server, readings):
        client = await follower(server)
        tag = client.welcome["player"]
        server.store.impose(order(MUTE, tag))
        await readings.heeded()
        assert (await say(client, "hello"))["code"] == "muted"
        server.store.lift(tag, MUTE)
        await readings.heeded()
        assert (await say(client, "hello"))["t"] == "ok"


class TestStoreFails:
    @pytest.fixture
    def broken(self, server, readings, monkeypatch):
        """Let what is imposed be unreadable from now on."""

        def fail(store):
            trio.from_thread.run_sync(readings.note)
            raise StoreError("cannot read it")

        return lambda: monkeypatch.setattr(Store, "sanctions", fail)

    async def test_what_is_imposed_holds_on(self, server, readings, broken):
        server.store.impose(order(BAN, OWN))
        await readings.heeded()
        broken()
        await readings.heeded()
        assert (await (await server.connect()).login_key(KEY))["code"] == "banned"

    async def test_what_is_over_ends_all_the_same(self, server, readings, broken, monkeypatch):
        server.store.impose(order(BAN, OWN, until=now_ms() + 3_600_000))
        await readings.heeded()
        broken()
        monkeypatch.setattr(sanction_watch, "now_ms", lambda: now_ms() + 3_600_001)
        await readings.heeded()
        assert (await (await server.connect()).login_key(KEY))["t"] == "welcome"

    async def test_server_that_cannot_know_does_not_start(self, path, monkeypatch):
        def fail(store):
            raise StoreError("cannot read it")

        monkeypatch.setattr(Store, "sanctions", fail)
        with pytest.RaisesGroup(StoreError, flatten_subgroups=True, allow_unwrapped=True):
            async with running(path):
                pass

    @pytest.mark.parametrize("error", [ZeroDivisionError(), JournalStoppedError("stopped")], ids=repr)
    async def test_cut_that_fails_harms_nobody_else(self, server, monkeypatch, error):
        def fail(lobby, player):
            raise error

        monkeypatch.setattr(sanction_watch, "vacate_seats", fail)
        client, banned = await guest(server), await keyed(server, key=KEY)
        server.store.impose(order(BAN, OWN))
        await goodbye(banned)
        assert (await client.ask({"t": "tables"}))["t"] == "ok"


class TestLog:
    async def test_ban_cut_and_lifting_are_logged_with_the_subject(self, server, readings, shown):
        client = await keyed(server, key=KEY)
        server.store.impose(order(BAN, OWN))
        await goodbye(client)
        server.store.lift(OWN, BAN)
        await readings.heeded()
        lines = [line for line in shown.getvalue().splitlines() if OWN in line]
        words = ("imposed", "cut", "lifted")
        assert [word for line in lines for word in words if f" {word} " in line] == list(words)

    async def test_refused_talk_is_logged_once_for_a_connection(self, server, readings, shown):
        client = await follower(server)
        server.store.impose(order(MUTE, client.welcome["player"]))
        await readings.heeded()
        for _ in range(3):
            await say(client, "hello")
        assert sum(" muted " in line for line in shown.getvalue().splitlines()) == 1

    async def test_what_is_imposed_already_is_not_listed_at_the_start(self, path, shown):
        async with running(path) as server:
            server.store.impose(order(BAN, "192.0.2.77"))
        shown.truncate(0)
        async with running(path) as server:
            await guest(server)
        assert "192.0.2.77" not in shown.getvalue()


class TestValue:
    def test_what_is_over_is_not_in_force(self):
        over, newer, endless = order(BAN, "a", until=100), order(BAN, "b", until=101), order(BAN, "c")
        assert in_force((over, newer, endless), 100) == (newer, endless)
        assert in_force((over, newer, endless), 10**15) == (endless,)

    def test_mute_shuts_nobody_out_and_ban_mutes_nobody(self):
        muting = Sanctions.of(AccessSettings(), [order(MUTE, OWN)])
        assert (muting.banned.tags, muting.has_banned(HERE)) == (frozenset(), False)
        assert not Sanctions.of(AccessSettings(), [order(BAN, OWN)]).is_muted(tag=OWN, address=HERE)
