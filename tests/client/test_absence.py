"""Who is away, and why nothing goes on: told by the library, on a player's screen, and claimed."""

from pathlib import Path

import pytest
from client.playing import at_table, at_turn, my_turn, play_on, received
from client.viewed import screen_of, started
from msgspec.structs import replace
from rows import each_row

from truc_client import (
    ChoiceError,
    HostSaid,
    MatchEnded,
    PresenceChanged,
    RefusedError,
    ServerDraining,
    TableChanged,
    TableGone,
)
from truc_protocol import messages
from truc_protocol.audit import Result, Verdict
from truc_protocol.errors import Code
from truc_protocol.messages import ClaimMatch, Ok, SeatState, TableState, refusal

NAMES = ("north", "east", "south", "west")
FORFEIT, SUBSTITUTE, WAIT = range(3)  # option `gone`


def table(*, claim: str, gone: int = FORFEIT, decision_ms: int = 30_000) -> TableState:
    seats = tuple(SeatState(seat=seat, kind="key", name=name) for seat, name in enumerate(NAMES))
    return TableState(
        table="K7PQ", variant="truc-catalan", rules=b"r" * 32, seats=seats, n=4, state="playing", private=False,
        options={}, opts=(decision_ms, 0, 60_000, 1, gone), policy="hand", claim=claim,
    )  # fmt: skip


def shown(*happenings, **terms) -> list[str]:
    """Return the lines that a screen shows after the match has begun."""
    screen, out = screen_of()
    screen.show(TableChanged(table(**{"claim": "server", **terms})))
    screen.show(started(players=NAMES))
    before = out.tell()
    for happening in happenings:
        screen.show(happening)
    return out.getvalue()[before:].splitlines()


def test_who_sits_there_after_a_match_is_told_behind_the_verdict_and_only_if_that_is_news() -> None:
    playing, ended = table(claim="server"), MatchEnded(Verdict(Result.PROVEN, None), Path("x.truc"))
    over = replace(playing, state="over")
    left = replace(over, seats=(*over.seats[:3], SeatState(seat=3, kind="empty")))
    seated = "table K7PQ: 3 of 4 seats taken: north, east, south"
    assert shown(TableChanged(over), ended) == shown(ended)
    assert shown(TableChanged(left), ended) == [*shown(ended), seated] == shown(ended, TableChanged(left))


@each_row(
    "away, said",
    [
        (PresenceChanged(1, online=False), "east is away"),
        (
            PresenceChanged(1, online=False, claim_in_ms=44_001),
            "east is away; their seat is gone in 45 s at the earliest",
        ),
        (
            PresenceChanged(1, online=True, missed=2, claim_in_ms=9_000),
            "east: decisions missed in a row: 2; the seat is gone in 9 s at the earliest",
        ),
        (PresenceChanged(1, online=True, missed=2), "east: decisions missed in a row: 2"),
        (PresenceChanged(1, online=False, missed=3, claim_in_ms=0), "east is gone"),
        (PresenceChanged(0, online=True, missed=1), "decisions you have missed in a row: 1"),
        (
            PresenceChanged(0, online=True, missed=1, claim_in_ms=8_000),
            "decisions you have missed in a row: 1; your seat is gone in 8 s at the earliest",
        ),
        (
            PresenceChanged(0, online=True, missed=3, claim_in_ms=0),
            "you have missed so many decisions that your seat counts as gone: decide, and it is yours again",
        ),
    ],
)
def test_absence_is_told_in_a_line_and_own_misses_in_person(away, said) -> None:
    assert shown(away) == [said]


@each_row(
    "before, after, told",
    [
        (PresenceChanged(1, online=False), PresenceChanged(1, online=True), ["east is back"]),
        (
            PresenceChanged(0, online=True, missed=3, claim_in_ms=0),
            PresenceChanged(0, online=True),
            ["your seat is yours again"],
        ),
        (PresenceChanged(0, online=True, missed=1, claim_in_ms=8_000), PresenceChanged(0, online=True), []),
        (
            PresenceChanged(1, online=False, claim_in_ms=9_000),
            PresenceChanged(1, online=False, claim_in_ms=5_000),
            [],
        ),
        (
            PresenceChanged(1, online=False, missed=1),
            PresenceChanged(1, online=False, missed=2),
            ["east is away"],
        ),  # each decision missed
    ],
)
def test_what_changes_of_an_absence_is_told_and_the_time_that_passes_is_not(before, after, told) -> None:
    assert shown(before, after)[1:] == told
    assert shown(PresenceChanged(1, online=True)) == []  # who was not away


OFFER = ["The other side is gone. To end the match, type: claim"]


@each_row(
    "seat, terms, offered",
    [
        (1, {"claim": "opponents"}, OFFER),
        (1, {"gone": WAIT}, OFFER),
        (1, {"decision_ms": 0}, OFFER),
        (2, {"claim": "opponents"}, []),  # a partner
        (1, {}, []),  # the server ends it
        (1, {"claim": "opponents", "gone": SUBSTITUTE}, []),
    ],
)
def test_claim_is_offered_where_it_is_granted_and_nothing_else_ends_the_match(seat, terms, offered) -> None:
    assert shown(PresenceChanged(seat, online=False, claim_in_ms=0), **terms)[1:] == offered


async def test_absence_is_told_by_the_library_as_it_was_sent(server, player) -> None:
    async with at_turn(server, player) as (table, _):
        sent = messages.Away(table=table.code, match=table.match.mid, seat=1, missed=1, claim_in_ms=7_000)
        await server.send(sent)
        assert await anext(table) == PresenceChanged(1, online=False, missed=1, claim_in_ms=7_000)


async def test_absence_from_a_match_that_is_over_is_not_told(server, player) -> None:
    async with at_table(server, player) as table:
        await play_on(table, until=MatchEnded)
        mid = table.match.mid
        await server.send(messages.Away(table=table.code, match=mid, seat=1, missed=1, claim_in_ms=0))
        await server.send(messages.TableClosed(table=table.code, reason="closed"))
        told = [happening async for happening in table]
    assert [type(each) for each in told if isinstance(each, PresenceChanged | TableGone)] == [TableGone]


async def test_claim_names_table_and_match_and_one_that_comes_too_early_says_when_it_may_come(
    server, connection
):
    answers = [replace(refusal(Code.NOT_NOW, "expected a side that is gone", re=0), retry_after_ms=7_000)]

    async def answer(message) -> None:
        await server.send(replace(answers.pop(), re=message.id) if answers else Ok(re=message.id))

    server.answer_other = answer
    table = await connection.create("truc-french")
    with pytest.raises(ChoiceError):
        await table.claim()  # there is no match yet
    await table.ready()
    await play_on(table, until=my_turn)
    with pytest.raises(RefusedError) as refused:
        await table.claim()
    await table.claim()
    claims = received(server, ClaimMatch)
    assert [(claim.table, claim.match) for claim in claims] == [(table.code, table.match.mid)] * 2
    assert (refused.value.code, refused.value.retry_after_ms) == ("not_now", 7_000)


def test_coming_stop_is_told_with_its_time_and_a_word_of_the_host_as_such() -> None:
    (stop,), (word,) = shown(ServerDraining(1_799_001)), shown(HostSaid('at "nine"\x1b'))
    assert all(part in stop for part in (" 30 min", "no new one begins"))
    assert all(part in word for part in ("the host says", "\"at 'nine'"))
    assert "\x1b" not in word
