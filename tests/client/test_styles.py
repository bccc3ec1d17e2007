"""Every style of bot: what it chooses from options alone, and sharp at a real table, on what its seat knows there."""

from math import inf

import pytest
import trio
from client.playing import homes
from client.test_person import FakeTable
from client.test_person import turn as asked

from truc_bots import Effort, Sharp
from truc_client import MatchEnded, YourTurn, careful, careless, connect, play_match, styles
from truc_client.happenings import Choice, RecordSeen
from truc_client.styles import STYLES
from truc_protocol.audit import Result

TERMS = {"match": 1, "target": 3}
ASK = Choice("raise 2", "raise", {"stake": 2, "declined": 1})
CARD = Choice("play 7e", "play", {})


def turn(*choices):
    return YourTurn(0, 0, choices, must=True, deadline_ms=None)


def choices(style, *offered):
    choose = style(1)
    return {choose(turn(*offered)).line for _ in range(100)}


def test_careless_takes_any_option():
    assert choices(careless, ASK, CARD, Choice("concede", "concede", {})) == {"raise 2", "play 7e", "concede"}


def test_careful_gives_nothing_up_and_asks_at_times():
    assert choices(careful, ASK, CARD, Choice("concede", "concede", {})) == {"raise 2", "play 7e"}


def test_careful_answers_an_ask_by_a_higher_one():
    accept, decline = Choice("accept", "accept", {"stake": 2}), Choice("decline", "decline", {"loses": 1})
    assert choices(careful, accept, decline, ASK) == {"raise 2"}
    assert choices(careful, accept, decline) == {"accept"}


def test_careful_gives_up_where_nothing_else_is_offered():
    assert choices(careful, Choice("good", "good", {})) == {"good"}


@pytest.mark.slow
async def test_sharp_plays_a_match_on_what_its_seat_knows(real_server, tmp_path, monkeypatch):
    judged: list[int | None] = []

    class Quick(Sharp):
        def choose(self, match, seat, lines):
            judged.append(super().choose(match, seat, lines))
            assert None in match.hand.dealt.cards[1 - seat] or not match.hand.row.left[1 - seat]
            return judged[-1]

    monkeypatch.setattr(styles, "Sharp", lambda seed: Quick(seed, Effort(16, inf)))
    ended: list[MatchEnded | None] = []

    async def play(table, style):
        await table.ready()
        ended.append(await play_match(table, STYLES[style](1, table)))

    first, second = homes(tmp_path, False, False)
    with trio.fail_after(60):
        async with connect(real_server.url, first) as one, connect(real_server.url, second) as other:
            table = await one.create("truco-argentino", seats=2, options=TERMS, private=True)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(play, table, "sharp")
                nursery.start_soon(play, await other.join(table.code), "careful")
    assert [match.verdict.result for match in ended] == [Result.PROVEN] * 2
    assert judged
    assert None not in judged


def waiting_for(*seats: int, k: int) -> RecordSeen:
    return RecordSeen(k, "act", ({"what": "state", "waiting": [*seats]},))


@pytest.mark.parametrize(("leave_to", "done"), [((), "accept"), ((0,), "play 3b")])
async def test_answer_is_left_to_who_may_give_it_too(leave_to, done):
    table = FakeTable(
        waiting_for(0, 2, k=1), asked("accept", at=2), waiting_for(2, k=2), asked("play 3b", at=3)
    )
    await play_match(table, lambda turn: turn.options[0], leave_to=leave_to)
    assert table.done[0] == done
