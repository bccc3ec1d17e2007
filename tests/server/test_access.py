"""Who may come in: members and their invites, bans, and a server that has moved."""

import pytest
from rows import each_row
from server.conftest import QUICK, changed, in_hand, running, under
from server.visitors import greeted

from truc_protocol.crypto.keys import fingerprint, generate_signing_key
from truc_server.lobby import members
from truc_server.storage import Invite, Member
from truc_server.timing.clock import now_ms

KEY = generate_signing_key()
OWN = fingerprint(KEY.public)


async def log_in(server, key=KEY, **fields):
    """Log a key in with more fields in its login; return the client and the answer."""
    client = await greeted(server)
    return client, await client.enter({**client.auth(key), "name": "Ana", **fields})


def invite(server, *, uses=1, days=1) -> str:
    return members.issue_invite(server.store, uses=uses, days=days)


async def test_key_logs_in_unasked_and_an_invite_is_not_looked_at(server):
    client, answer = await log_in(server)
    assert (answer["t"], answer["player"], "invite" in client.info["caps"]) == ("welcome", OWN, False)
    assert (await log_in(server, invite="whatever it is"))[1]["t"] == "welcome"


@under(access={"members": "keys"})
class TestKeys:
    async def test_stranger_is_refused_and_told_the_fingerprint_to_give_the_host(self, server):
        client, answer = await log_in(server)
        assert (answer["code"], answer["msg"]) == (
            "key_not_allowed",
            f"the key {OWN} is no member of this server: ask the host to admit it",
        )
        byes = [message["code"] for message in await client.closed() if message["t"] == "bye"]
        assert byes == ["key_not_allowed"]

    async def test_member_logs_in_until_they_are_expelled(self, server):
        server.store.admit(Member(OWN, 1))
        assert (await log_in(server))[1]["t"] == "welcome"
        server.store.expel(OWN)
        assert (await log_in(server))[1]["code"] == "key_not_allowed"

    async def test_invite_makes_no_member(self, server):
        assert (await log_in(server, invite=invite(server)))[1]["code"] == "key_not_allowed"

    async def test_guest_is_refused_also_one_who_was_here_before(self, server):
        client = await server.connect()
        assert (await client.login_guest())["code"] == "guests_not_allowed"
        assert client.info["guests"] is False
        answer = await (await server.connect()).login_token("t" * 24)
        assert answer["code"] == "guests_not_allowed"


@under(access={"members": "invite"})
class TestInvites:
    async def test_key_that_came_with_an_invite_needs_none_the_next_time(self, server):
        client, refused = await log_in(server)
        assert (client.info["caps"]["invite"], refused["msg"].split(": ")[1]) == (
            True,
            "ask the host for an invite",
        )
        assert (await log_in(server, invite=invite(server)))[1]["t"] == "welcome"
        assert (await log_in(server))[1]["t"] == "welcome"

    @each_row("code", ["no such invite", "A" * 24, "OLDINVITE"])
    async def test_unknown_or_old_invite_is_refused(self, server, code):
        server.store.issue(Invite(members.invite_hash("OLDINVITE"), 1, now_ms() - 1))
        _, answer = await log_in(server, invite=code)
        assert (answer["code"], answer["field"]) == ("key_not_allowed", "invite")

    async def test_invite_of_a_bad_login_is_not_used_up(self, server):
        code = invite(server)
        client = await greeted(server)
        await client.enter({**client.auth(KEY), "sig": bytes(64), "invite": code})
        await log_in(server, invite=code, name="\n")
        assert (await log_in(server, invite=code))[1]["t"] == "welcome"

    async def test_code_is_nowhere_in_the_store_and_in_no_log(self, server, capsys):
        code = invite(server)
        files = [path.read_bytes() for path in server.folder.root.glob("truc.db*")]
        assert not any(code.encode() in content for content in files)
        await log_in(server, invite=code)
        await log_in(server, generate_signing_key(), invite=code)
        assert code not in capsys.readouterr().err


async def test_banned_guest_is_refused_with_their_token(path):
    async with running(path) as server:
        guest = await server.seat(keyed=False)
        await guest.create("truc-french", options={"guests": 2})
        tag = guest.client.welcome["player"]
    async with running(path, changed(QUICK, access={"banned": (tag,)})) as server:
        answer = await (await server.connect()).login_token(guest.token)
    assert answer["code"] == "banned"


@under(access={"moved_to": "truc.example:7373"})
async def test_nobody_is_told_where_before_hello(server):
    client = await server.connect()
    await client.send({"t": "ping", "n": 1})
    assert "truc.example" not in str(await client.closed())


@pytest.mark.parametrize("node", ["", "one"])
async def test_server_that_has_moved_takes_no_match_up_and_leaves_the_tables_to_whoever_has_them(
    path, capsys, node
):
    async with running(path) as server:
        await in_hand(server)
    capsys.readouterr()
    moved = changed(
        QUICK, access={"moved_to": "truc.example:7373"}, tables={"expiry_s": 10}, cluster={"node": node}
    )
    async with running(path, moved) as server:
        assert (await (await server.connect()).hello())["t"] == "hello"
        assert server.store.claim("another").epoch == 2
    assert "match_restored" not in capsys.readouterr().err


async def test_chat_is_announced_as_the_settings_leave_it(path):
    chat = {"tables": False, "lobby": True}
    async with running(path, changed(QUICK, chat=chat)) as server:
        client, _ = await log_in(server)
    assert client.info["caps"]["chat"].items() >= chat.items()


async def test_capability_that_is_off_cannot_be_required(server):
    client = await server.connect()
    answer = await client.hello(require=["invite"])
    assert (answer["code"], answer["field"]) == ("unsupported", "require/0")
