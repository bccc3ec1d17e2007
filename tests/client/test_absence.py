"""Who is away, and why nothing goes on: told by the library, on a player's screen, and claimed."""

import io
from pathlib import Path

import pytest
from client.hosting import Hosting
from client.playing import play_on
from msgspec.structs import replace
from rich.console import Console

from truc_client import (
    Away,
    ChoiceError,
    MatchEnded,
    MatchStarted,
    RefusedError,
    ServerDraining,
    TableChanged,
    TableClosed,
    YourTurn,
    connect,
)
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import ClaimMatch, Ok, SeatState, TableState, refusal
from truc_terminal.screen.screen import Screen
from truc_words import LANGUAGES

NAMES = ("north", "east", "south", "west")
STARTED = MatchStarted(b"m" * 32, "truc-catalan", ("As", "Kc"), NAMES, 0, "A", Path("x.truc"))
FORFEIT, SUBSTITUTE, WAIT = range(3)  # option `gone`


def table(*, claim: str, gone: int = FORFEIT, decision_ms: int = 30_000) -> TableState:
    seats = tuple(SeatState(seat=seat, kind="key", name=name) for seat, name in enumerate(NAMES))
    return TableState(
        table="K7PQ", variant="truc-catalan", rules=b"r" * 32, seats=seats, n=4, state="playing", private=False,
        options={}, opts=(decision_ms, 0, 60_000, 1, gone), policy="hand", claim=claim,
    )  # fmt: skip


def shown(*happenings, lang: str = "en", **terms) -> list[str]:
    """Return the lines that a screen shows after the match has begun."""
    screen = Screen(Console(file=io.StringIO(), width=200, highlight=False), lang)
    screen.show(TableChanged(table(**{"claim": "server", **terms})))
    screen.show(STARTED)
    before = len(screen._console.file.getvalue())
    for happening in happenings:
        screen.show(happening)
    return screen._console.file.getvalue()[before:].splitlines()


@pytest.mark.parametrize(
    ("away", "said"),
    [
        (Away(1, online=False), "east is away"),
        (
            Away(1, online=False, claim_in_ms=44_001),
            "east is away; their seat is gone in 45 s at the earliest",
        ),
        (
            Away(1, online=True, missed=2, claim_in_ms=9_000),
            "east: decisions missed in a row: 2; the seat is gone in 9 s at the earliest",
        ),
        (Away(1, online=True, missed=2), "east: decisions missed in a row: 2"),
        (Away(1, online=False, missed=3, claim_in_ms=0), "east is gone"),
    ],
)
def test_absence_is_told_in_a_line(away, said) -> None:
    assert shown(away) == [said]


def test_return_is_told_of_who_was_away() -> None:
    assert shown(Away(1, online=False), Away(1, online=True))[-1] == "east is back"


def test_presence_of_who_was_not_away_is_not_told() -> None:
    assert shown(Away(1, online=True)) == []


def test_time_that_passes_is_not_told_again() -> None:
    assert len(shown(Away(1, online=False, claim_in_ms=9_000), Away(1, online=False, claim_in_ms=5_000))) == 1


def test_each_decision_missed_is_told() -> None:
    told = shown(Away(1, online=False, missed=1), Away(1, online=False, missed=2))
    assert len(told) == 2


@pytest.mark.parametrize(
    ("away", "said"),
    [
        (Away(0, online=True, missed=1), "decisions you have missed in a row: 1"),
        (
            Away(0, online=True, missed=1, claim_in_ms=8_000),
            "decisions you have missed in a row: 1; your seat is gone in 8 s at the earliest",
        ),
        (
            Away(0, online=True, missed=3, claim_in_ms=0),
            "you have missed so many decisions that your seat counts as gone: decide, and it is yours again",
        ),
    ],
)
def test_own_misses_are_told_to_the_player_in_person(away, said) -> None:
    assert shown(away) == [said]


def test_own_return_is_told_after_the_seat_was_gone() -> None:
    told = shown(Away(0, online=True, missed=3, claim_in_ms=0), Away(0, online=True))
    assert told[1:] == ["your seat is yours again"]


def test_own_return_after_a_miss_is_not_told() -> None:
    assert len(shown(Away(0, online=True, missed=1, claim_in_ms=8_000), Away(0, online=True))) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_absence_and_return_differ_in_every_language(lang) -> None:
    gone, back = shown(Away(1, online=False), Away(1, online=True), lang=lang)
    assert ("east" in gone, "east" in back, gone != back) == (True, True, True)


@pytest.mark.parametrize(
    "terms",
    [{"claim": "opponents"}, {"gone": WAIT}, {"decision_ms": 0}],
    ids=["the table has it so", "the match waits", "no time runs out"],
)
def test_claim_is_offered_where_nothing_else_ends_the_match(terms) -> None:
    told = shown(Away(1, online=False, claim_in_ms=0), **terms)
    assert told == ["east is gone", "The other side is gone. To end the match, type: claim"]


@pytest.mark.parametrize(
    ("seat", "terms"),
    [(2, {"claim": "opponents"}), (1, {}), (1, {"claim": "opponents", "gone": SUBSTITUTE})],
    ids=["a partner", "the server ends it", "a substitute is called"],
)
def test_claim_is_not_offered_where_it_is_not_granted(seat, terms) -> None:
    assert len(shown(Away(seat, online=False, claim_in_ms=0), **terms)) == 1


@pytest.fixture
async def server(nursery) -> Hosting:
    server = Hosting(target=3)
    server.nursery = nursery
    return server


async def at_play(server, connection):
    """Return a table at which a match has come to the first decision."""
    table = await connection.create("truc-french")
    await table.ready()
    await play_on(table, until=lambda happening: isinstance(happening, YourTurn))
    return table


async def test_absence_is_told_by_the_library_as_it_was_sent(server, player) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        table = await at_play(server, connection)
        sent = messages.Away(table=table.code, match=table.match.mid, seat=1, missed=1, claim_in_ms=7_000)
        await server.send(sent)
        assert await anext(table) == Away(1, online=False, missed=1, claim_in_ms=7_000)


async def test_absence_from_a_match_that_is_over_is_not_told(server, player) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create("truc-french")
        await table.ready()
        await play_on(table, until=lambda happening: isinstance(happening, MatchEnded))
        mid = table.match.mid
        await server.send(messages.Away(table=table.code, match=mid, seat=1, missed=1, claim_in_ms=0))
        await server.send(messages.TableClosed(table=table.code, reason="closed"))
        told = [happening async for happening in table]
    assert [type(happening) for happening in told if isinstance(happening, Away | TableClosed)] == [
        TableClosed
    ]


async def test_claim_names_table_and_match(server, player) -> None:
    async def grant(message) -> None:
        await server.send(Ok(re=message.id))

    server.answer_other = grant
    async with connect("host", player, dial=server.dial) as connection:
        table = await at_play(server, connection)
        await table.claim()
        (claim,) = [message for message in server.received if isinstance(message, ClaimMatch)]
        assert (claim.table, claim.match) == (table.code, table.match.mid)


async def test_claim_that_comes_too_early_says_when_it_may_come(server, player) -> None:
    async def refuse(message) -> None:
        refused = refusal(Code.NOT_NOW, "expected a side that is gone", re=message.id)
        await server.send(replace(refused, retry_after_ms=7_000))

    server.answer_other = refuse
    async with connect("host", player, dial=server.dial) as connection:
        table = await at_play(server, connection)
        with pytest.raises(RefusedError) as refused:
            await table.claim()
    assert (refused.value.code, refused.value.retry_after_ms) == ("not_now", 7_000)


async def test_match_that_has_not_begun_cannot_be_claimed(server, player) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create("truc-french")
        with pytest.raises(ChoiceError):
            await table.claim()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_server_that_is_about_to_be_stopped_is_told_of_with_its_time_in_every_language(lang):
    (told,) = shown(ServerDraining(59_001), lang=lang)
    assert " 60 s" in told
    assert ("no new one begins" in told) == (lang == "en")
