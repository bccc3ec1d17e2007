"""How much one player may say: lines and characters in a moving window, and nothing kept of the silent."""

import pytest
from server.visitors import follower, keyed, say

from truc_server.net.usage_limits import CHAT, RecentTalk, TooMuchTalkError
from truc_server.settings.abilities import CHAT_LINES, CHAT_SECONDS, CHAT_TOTAL

NOW = 1_000.0


def filled(lines=CHAT_LINES, characters=1, step=0.0) -> RecentTalk:
    """Return what is known when a player has just said so many lines."""
    floods = RecentTalk(CHAT)
    for i in range(lines):
        floods.pay(b"a", characters, NOW + i * step)
    return floods


def wait_ms(floods: RecentTalk, characters: int, now: float) -> int:
    with pytest.raises(TooMuchTalkError) as refused:
        floods.pay(b"a", characters, now)
    return refused.value.refusal(1).retry_after_ms


def test_one_line_more_than_allowed_waits_for_the_first_to_count_no_more():
    assert wait_ms(filled(step=0.5), 1, NOW + 5) == (CHAT_SECONDS - 5) * 1000 + 1
    floods = filled(step=0.5)
    floods.pay(b"a", 1, NOW + CHAT_SECONDS)
    assert len(floods) == 1


def test_lines_of_long_ago_leave_room():
    floods = filled(step=0.5)
    floods.pay(b"a", CHAT_TOTAL, NOW + 3 * CHAT_SECONDS)
    assert len(floods) == 1


def test_long_line_waits_for_as_many_as_make_room_for_it():
    floods = filled(lines=5, characters=CHAT_TOTAL // 5, step=1)
    assert wait_ms(floods, 2 * CHAT_TOTAL // 5, NOW + 5) == (CHAT_SECONDS - 4) * 1000 + 1


def test_what_is_refused_does_not_count():
    floods = filled()
    for _ in range(3):
        wait_ms(floods, 1, NOW + 1)
    floods.pay(b"a", 1, NOW + CHAT_SECONDS)
    assert len(floods) == 1


def test_players_are_counted_apart():
    floods = filled()
    floods.pay(b"b", 1, NOW)
    assert len(floods) == 2


def test_nothing_is_kept_of_who_has_been_silent_for_longer():
    floods = filled()
    floods.pay(b"b", 1, NOW + 9)
    floods.pay(b"c", 1, NOW + CHAT_SECONDS)
    assert len(floods) == 2


def test_nothing_is_kept_of_who_is_silent_while_another_speaks_again_and_again():
    floods = filled(lines=1)
    floods.pay(b"b", 1, NOW + 1)
    floods.pay(b"a", 1, NOW + 2)
    floods.pay(b"a", 1, NOW + CHAT_SECONDS + 1)
    assert len(floods) == 1


class TestPlayersOfOneNetwork:
    """A guest is somebody new with every login, and so is whoever makes a new key."""

    async def test_players_share_what_one_network_may_say(self, server, mock_clock):
        clients = [await follower(server, f"Gus{i}") for i in range(6)]
        replies = [await say(client, "hello") for client in clients for _ in range(CHAT_LINES)]
        assert [reply.get("code") for reply in replies] == [None] * 5 * CHAT_LINES + [
            "rate_limited"
        ] * CHAT_LINES
        client = await keyed(server)
        await client.ask({"t": "lobby"})
        assert (await say(client, "hello"))["code"] == "rate_limited"

    async def test_new_login_does_not_begin_anew_for_ever(self, server, mock_clock):
        said = 0
        for _ in range(8):
            client = await follower(server)
            said += [(await say(client, "hello"))["t"] for _ in range(CHAT_LINES)].count("ok")
            await client.stream.aclose()
        assert said == 5 * CHAT_LINES
