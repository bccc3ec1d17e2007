"""Moderators: players with a key whom the host has named do what the host's commands do, and nobody else does."""

import pytest
from server.conftest import QUICK, changed, running
from server.visitors import guest, keyed, say
from structlog.testing import capture_logs

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.storage import SanctionKind

KEY, OTHER = signing_key_from_seed(bytes(31) + b"\1"), signing_key_from_seed(bytes(31) + b"\2")
OWN, SECOND = fingerprint(KEY.public), fingerprint(OTHER.public)


@pytest.fixture
async def server(tmp_path):
    settings = changed(QUICK, access={"moderators": (OWN, SECOND)})
    async with running(tmp_path, settings) as server:
        yield server


async def moderate(client, do, **fields):
    return await client.ask({"t": "moderate", "do": do, **fields})


async def test_moderator_kicks_by_name_and_the_log_says_who_did(server):
    moderator, noisy = await keyed(server, "Mod", KEY), await guest(server, "Noisy")
    with capture_logs() as logs:
        assert (await moderate(moderator, "kick", player="Noisy"))["t"] == "ok"
    assert (await noisy.until("bye"))["code"] == "kicked"
    (line,) = [line for line in logs if line["event"] == "moderated"]
    assert (line["moderator"], line["do"], line["subject"]) == (OWN, "kick", noisy.welcome["player"])


async def test_ban_and_mute_are_stored_as_the_hosts_are_and_undone(server):
    moderator, noisy = await keyed(server, "Mod", KEY), await guest(server, "Noisy")
    tag = noisy.welcome["player"]
    for do, undo, kind in (("mute", "unmute", SanctionKind.MUTE), ("ban", "unban", SanctionKind.BAN)):
        assert (await moderate(moderator, do, player=tag, hours=2))["t"] == "ok"
        (imposed,) = server.store.sanctions()
        assert (imposed.subject, imposed.kind) == (tag, kind)
        assert (await moderate(moderator, undo, player=tag))["t"] == "ok"
        assert (await moderate(moderator, undo, player=tag))["msg"].endswith("by command")


async def test_everybody_is_told_what_a_moderator_says(server):
    moderator, listener = await keyed(server, "Mod", KEY), await guest(server, "Noisy")
    assert (await moderate(moderator, "say", text="quiet please"))["t"] == "ok"
    assert (await listener.until("host_says"))["text"] == "quiet please"


async def test_nobody_else_is_heard_and_nobody_of_theirs_is_met(server):
    moderator, other = await keyed(server, "Mod", KEY), await guest(server, "Noisy")
    assert (await moderate(other, "kick", player=OWN))["code"] == "not_now"
    for player, expected in (
        (SECOND, "no moderator"),
        ("nobody here", "tag of a player"),
        ("10.0.0.0/8", "tag of a player"),
    ):
        assert expected in (await moderate(moderator, "ban", player=player))["msg"]
    assert "what to say" in (await moderate(moderator, "say"))["msg"]
    assert server.store.sanctions() == ()
    await moderator.ask({"t": "lobby"})
    await say(moderator, "still here")


async def test_server_without_moderators_does_not_know_the_request(tmp_path):
    async with running(tmp_path) as server:
        assert (await moderate(await keyed(server, "Mod", KEY), "kick", player="Noisy"))[
            "code"
        ] == "unknown_request"
