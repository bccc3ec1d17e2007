"""Being forgotten: what is gone afterwards, what stays, and when it is not done."""

from server.conftest import QUICK, changed, in_hand, over, running
from server.gates import Gate
from server.visitors import greeted, heard, keyed, said, say
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto.keys import fingerprint, generate_signing_key
from truc_server.lobby import members

FORGET = {"t": "forget"}


async def seated_guest(server):
    """Return a guest who has a seat at a table of their own, and so can come back."""
    guest = await server.seat(keyed=False)
    await guest.create("truc-french", options={"guests": 2})
    return guest


async def history(client, seats):
    return await client.ask({"t": "history", "match": seats[0].ledger.setup.mid, "from": 0})


class TestGuest:
    async def test_guest_who_is_logging_in_meanwhile_is_not_let_in(self, server, monkeypatch):
        guest = await seated_guest(server)
        client = await greeted(server)
        gate = Gate()
        monkeypatch.setattr(server.store, "guests_by_tokens", gate.behind(server.store.guests_by_tokens))
        number = await client.send({"t": "login", "token": guest.token})
        await gate.reached()
        await guest.ask(FORGET)
        gate.open()
        assert (await client.until("error", re=number))["code"] == "bad_token"

    async def test_guest_whose_seats_at_other_nodes_are_looked_up_meanwhile_is_not_let_in(
        self, nodes, monkeypatch
    ):
        async with nodes.run("one") as server:
            guest = await seated_guest(server)
            client = await greeted(server)
            gate = Gate()
            with monkeypatch.context() as patched:
                patched.setattr(server.store, "seats_of", gate.behind(server.store.seats_of))
                await client.send({"t": "login", "token": guest.token})
                await gate.reached()
            await guest.ask(FORGET)
            gate.open()
            answer = await client.receive()
            assert (answer["t"], answer.get("code")) == ("error", "bad_token")

    async def test_guest_who_logs_in_before_it_is_stored_is_not_let_in(self, server, monkeypatch):
        guest = await seated_guest(server)
        client = await greeted(server)
        gate = Gate()
        monkeypatch.setattr(server.store, "commit", gate.before(server.store.commit))
        await guest.client.send(FORGET)
        await wait_all_tasks_blocked(0.05)
        number = await client.send({"t": "login", "token": guest.token})
        await wait_all_tasks_blocked(0.05)
        gate.open()
        assert (await client.until("error", re=number))["code"] == "bad_token"

    async def test_token_is_good_no_more_and_every_connection_of_the_guest_is_dismissed_and_no_other(
        self, server
    ):
        guest, stranger = await seated_guest(server), await server.seat(keyed=False, seed=2)
        other = await server.connect()
        await other.login_token(guest.token)
        assert (await guest.ask(FORGET))["t"] == "ok"
        for client in (guest.client, other):
            byes = [message["code"] for message in await client.closed() if message["t"] == "bye"]
            assert byes == ["forgotten"]
        assert (await (await server.connect()).login_token(guest.token))["code"] == "bad_token"
        assert (await stranger.client.ask({"t": "tables"}))["t"] == "ok"


class TestKey:
    async def test_name_is_dropped_on_every_connection(self, server):
        key = generate_signing_key()
        first, second = await keyed(server, "Kay", key), await keyed(server, "Kay", key)
        await first.ask(FORGET)
        reply = await second.ask({"t": "create", "variant": "truc-french"})
        notice = await second.until("table", table=reply["table"])
        assert notice["seats"][0]["name"] == f"player {fingerprint(key.public)[:6]}"

    async def test_whom_they_ignored_is_heard_again(self, server):
        key, other = generate_signing_key(), await keyed(server, "Ona")
        client = await keyed(server, "Kay", key)
        await client.ask({"t": "ignore", "player": other.welcome["player"]})
        await client.ask(FORGET)
        assert server.store.ignored(key.public) == frozenset()
        again = await keyed(server, "Kay", key)
        for one in (again, other):
            await one.ask({"t": "lobby"})
        await say(other, "hello")
        assert await said(again) == ["hello"]


class TestTables:
    async def test_seats_are_left(self, server):
        seats = await server.seats(2)
        await seats[1].ask(FORGET)
        notice = await seats[0].client.until("table")
        while notice["seats"][1]["kind"] != "empty":
            notice = await seats[0].client.until("table")
        assert notice["seats"][0]["kind"] == "key"

    async def test_in_a_match_it_is_refused_and_changes_nothing(self, server):
        guests = await in_hand(server, guests=(1,))
        await guests[1].client.ask({"t": "create", "variant": "truc-french"})
        assert (await guests[1].ask(FORGET))["code"] == "not_now"
        assert len((await (await server.connect()).login_token(guests[1].token))["seats"]) == 2

    async def test_while_terms_are_out_it_is_refused(self, server):
        seats = await server.match()
        assert (await seats[0].client.ask(FORGET))["code"] == "not_now"


class TestChat:
    async def test_lines_are_gone_for_who_comes_later_and_from_the_store(self, server):
        seats = await server.seats(2)
        await say(seats[0].client, "mine", seats[0].table)
        await say(seats[1].client, "yours", seats[0].table)
        await seats[1].ask(FORGET)
        client = await keyed(server)
        await client.ask({"t": "watch", "table": seats[0].table})
        assert await said(client) == ["mine"]
        assert [line.text for line in server.store.chat(seats[0].table, 10)] == ["mine"]

    async def test_number_of_a_line_is_not_used_again_after_a_restart(self, path):
        async with running(path) as server:
            seats = await server.seats(2)
            for text in ("one", "two"):
                await say(seats[1].client, text, seats[0].table)
            await seats[1].ask(FORGET)
        async with running(path) as server:
            client = await keyed(server)
            await client.ask({"t": "watch", "table": seats[0].table})
            await say(client, "three", seats[0].table)
            assert [line["n"] for line in await heard(client, "chat")] == [2]


async def test_who_has_played_may_read_their_matches_and_others_no_more(server):
    seats = await over(server, options={"transcript": "all"})
    client = await keyed(server)
    assert (await history(client, seats))["t"] == "ok"
    await seats[0].ask(FORGET)
    assert (await history(client, seats))["code"] == "private_table"
    assert [(await history(seat.client, seats))["t"] for seat in seats] == ["ok", "ok"]


async def test_member_stays_a_member(path):
    key = generate_signing_key()
    async with running(path, changed(QUICK, access={"members": "invite"})) as server:
        client = await greeted(server)
        code = members.issue_invite(server.store, uses=1, days=1)
        await client.enter({**client.auth(key), "name": "Kay", "invite": code})
        await client.ask(FORGET)
        assert (await (await server.connect()).login_key(key))["t"] == "welcome"
