"""Every style of bot: what it chooses from options alone, and sharp at a real table, on what its seat knows there."""

from functools import partial
from math import inf

import trio
from client.faked import FakeTable
from client.faked import turn as asked
from client.playing import at_table
from rows import each_row

from truc_bots import Effort, Sharp
from truc_client import YourTurn, careful, careless, play_match
from truc_client.bots import Partners
from truc_client.happenings import MoveChoice, PresenceChanged, RecordSeen, Resumed
from truc_protocol.audit import Result
from truc_terminal import styles
from truc_terminal.styles import STYLES

ASK = MoveChoice("raise 2", "raise", {"stake": 2, "declined": 1})
CARD, CONCEDE, GOOD = (MoveChoice(line, line.split()[0], {}) for line in ("play 7e", "concede", "good"))
ACCEPT = MoveChoice("accept", "accept", {"stake": 2})
DECLINE = MoveChoice("decline", "decline", {"loses": 1})


@each_row(
    "style, offered, chosen",
    [
        (careless, (ASK, CARD, CONCEDE), {"raise 2", "play 7e", "concede"}),
        (careful, (ASK, CARD, CONCEDE), {"raise 2", "play 7e"}),
        (careful, (ACCEPT, DECLINE, ASK), {"raise 2"}),
        (careful, (ACCEPT, DECLINE), {"accept"}),
        (careful, (GOOD,), {"good"}),
    ],
)
def test_careless_takes_any_option_and_careful_gives_up_last_and_asks_for_more(style, offered, chosen):
    choose, turn = style(1), YourTurn(0, 0, offered, must=True, deadline_ms=None)
    assert {choose(turn).line for _ in range(100)} == chosen


async def test_sharp_plays_a_match_on_what_its_seat_knows(scripted, player, monkeypatch):
    judged: list[int | None] = []

    class Quick(Sharp):
        def choose(self, match, seat, lines):
            judged.append(super().choose(match, seat, lines))
            assert None in match.hand.dealt.cards[1 - seat] or not match.hand.row.left[1 - seat]
            return judged[-1]

    monkeypatch.setattr(styles, "Sharp", lambda seed: Quick(seed, Effort(16, inf)))
    async with at_table(scripted(target=3), player) as table:
        ended = await play_match(table, STYLES["sharp"](1, table))
    assert ended.verdict.result is Result.PROVEN
    assert judged
    assert None not in judged


def waiting_for(*seats: int, k: int) -> RecordSeen:
    return RecordSeen(k, "act", ({"what": "state", "waiting": [*seats]},))


@each_row("leave_to, done", [((), "accept"), ((0,), "play 3b")])
async def test_answer_is_left_to_who_may_give_it_too(leave_to, done):
    table = FakeTable(
        waiting_for(0, 2, k=1), asked("accept", at=2), waiting_for(2, k=2), asked("play 3b", at=3)
    )
    await play_match(table, lambda turn: turn.options[0], leave_to=leave_to)
    assert table.done[0] == done


async def test_bot_that_is_asked_decides_where_the_record_before_named_another():
    # while flores are declared the records cannot tell who is asked; only the server's word can
    table = FakeTable(waiting_for(2, k=1), asked("play 3b", at=2))
    await play_match(table, lambda turn: turn.options[0], leave_to=(2,))
    assert table.done == ["play 3b"]


async def pause_before_answer(*seen, patience_s: float = 10, deadline_ms: int | None = None) -> float:
    """Return how long a bot at seat 0 leaves an answer to its partner at seat 2, after what it has seen."""
    table, turn = FakeTable(*seen), asked("accept", at=9)._replace(deadline_ms=deadline_ms)
    table.send.send_nowait(waiting_for(0, 2, k=9))
    table.send.send_nowait(turn)
    began = trio.current_time()
    await play_match(table, lambda turn: turn.options[0], patience_s=patience_s)
    assert table.done == ["accept"]
    return trio.current_time() - began


async def test_partner_is_waited_for_as_long_as_patience_and_half_of_the_time_left_allow(autojump_clock):
    assert await pause_before_answer() == 10
    assert await pause_before_answer(patience_s=0) == 0
    assert await pause_before_answer(deadline_ms=6_000) == 3


async def test_partner_who_is_fast_is_hardly_waited_for(autojump_clock):
    fast = waiting_for(2, k=1), waiting_for(0, k=2)
    assert await pause_before_answer(*fast) == 0
    assert await pause_before_answer(*fast, Resumed(3)) == 10  # it came again after a lost connection


async def test_partner_who_is_away_is_not_waited_for(autojump_clock):
    assert await pause_before_answer(PresenceChanged(2, online=False)) == 0
    assert await pause_before_answer(PresenceChanged(2, online=False), PresenceChanged(2, online=True)) == 10


async def test_partner_is_given_as_long_as_a_decision_has_taken_and_more(autojump_clock):
    partners = Partners(10)
    partners.see(waiting_for(2, k=1), now=0)
    partners.see(waiting_for(0, k=2), now=2)
    partners.see(waiting_for(2, k=3), now=3)
    partners.see(waiting_for(0, 2, k=4), now=4)
    assert partners.wait_s(0, None) == 6
    opponents = Partners(10)
    opponents.see(waiting_for(0, 1, 3, k=1), now=0)
    assert opponents.wait_s(0, None) == 0


async def test_answer_that_a_partner_gives_is_theirs(autojump_clock):
    table = FakeTable(waiting_for(0, 2, k=1), asked("accept", at=2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(play_match, table, lambda turn: turn.options[0], patience_s=10))
        await trio.sleep(9)
        table.send.send_nowait(waiting_for(0, k=2))
        table.send.send_nowait(asked("play 3b", at=3))
    assert table.done == ["play 3b"]
