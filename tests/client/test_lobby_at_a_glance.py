"""Tables at a glance: as they are listed, their clocks, the usage of `create` and `join`, and the wait for company."""

from types import SimpleNamespace

import pytest
import trio
import trio.testing
from client.faked import FakeTable
from client.viewed import printed, screen_of, typing
from msgspec.structs import replace
from rows import each_row

from truc_client.happenings import TableChanged, TableGone
from truc_conform.shown import table_state
from truc_protocol.messages import SeatState
from truc_protocol.setup import Opts
from truc_rules import preset
from truc_terminal.commands.in_person import (
    AnotherMatch,
    agrees_to_step_in,
    ask_for_another,
    is_here_alone,
    told_of_waiting,
)
from truc_terminal.commands.table_options import TableClock, read_clock
from truc_terminal.commands.tables import TableList, age, in_order, table_columns, table_line
from truc_terminal.screen.explaining import terms_in_full, terms_line
from truc_terminal.screen.person import Typed
from truc_words import Speech

NORTH = SeatState(seat=0, kind="key", name="north", online=True, ready=True)
SOUTH = SeatState(seat=1, kind="key", name="south [bold]\x1b", online=True)
FREE = SeatState(seat=1, kind="empty")


def state(code: str, *seats: SeatState, **changes):
    shown = table_state(preset("truc-french"), Opts(decision_ms=30_000, bank_ms=120_000), len(seats))
    return replace(shown, table=code, seats=seats, **changes)


def test_table_is_listed_with_its_clock_and_the_options_that_were_chosen() -> None:
    options = {"decision_ms": 30_000, "reveal": "match", "target": 24}
    row = table_columns(state("K7PQA", NORTH, FREE, options=options, expires_ms=1_790_000, age_ms=75_000))
    assert row == (
        *("K7PQA", "truc-french", "1/2", "open, 30 min left", "1 min", "30+120", "reveal=match target=24"),
        "north",
    )


@pytest.mark.parametrize("width", [200, 20])
def test_list_of_tables_cannot_control_the_terminal(width) -> None:
    told = printed(TableList((state("\x1b[2JK7PQA", NORTH, SOUTH, variant="\x1b[31mtruc"),)), width)
    assert "K7PQA" in told
    assert "south [bold]" in " ".join(told.split())
    assert "\x1b" not in told


@each_row(
    "variant, options, opts, lang, said",
    [
        ("truc-catalan", {}, {}, "en", "truc-catalan for 2, to 12 points, 30 s a move, everybody signs"),
        (
            "truco-argentino",
            {"target": 15},
            {"bank_ms": 120_000, "decision_ms": 60_000},
            "es",
            "truco-argentino para 2, a 15 puntos, 1 min por jugada y 2 min de reserva, todos firman",
        ),
        (
            *(
                "truc-french",
                {"reveal": "match", "decision_ms": 0},
                {"decision_ms": 0, "guests": 1, "gone": 1},
                "en",
            ),
            "truc-french for 2, to 12 points, best of 3, no time limit, open to guests, who sign nothing, gone=1, reveal=match",
        ),
        ("mine", {"target": 5}, {}, "en", "mine for 2, 30 s a move, everybody signs"),
    ],
)
def test_terms_are_told_in_one_line(variant, options, opts, lang, said) -> None:
    shown = table_state(preset("truc-french"), Opts(**{"bank_ms": 0, **opts}), 2)
    table = replace(shown, variant=variant, options=options)
    assert terms_line(table, Speech(lang)) == said
    assert f"game={variant}, seats=2, decision_ms=" in terms_in_full(table, Speech(lang))


def test_without_room_for_columns_each_table_has_its_lines_and_no_word_is_cut() -> None:
    tables = (state("AAAAA", NORTH, SOUTH, state="playing"), state("BBBBB", NORTH, FREE, age_ms=75_000))
    assert printed(TableList(tables), 40).splitlines() == [
        "BBBBB  truc-french  1/2  open  1 min",
        "   30+120  north",
        "AAAAA  truc-french  2/2  playing  30+120",
        "   north, south [bold]",
    ]


@each_row(
    "age_ms, shown",
    [
        (None, ""),
        (59_999, "0 min"),
        (3_599_999, "59 min"),
        (3_600_000, "1 h 00 min"),
        (90_061_000, "25 h 01 min"),
    ],
)
def test_age_is_shown_in_minutes_and_hours(age_ms, shown) -> None:
    assert age(state("K7PQA", NORTH, FREE, age_ms=age_ms)) == shown


def test_of_tables_with_a_seat_to_take_those_come_first_that_have_waited_longest() -> None:
    tables = (
        state("AAAAA", NORTH, SOUTH, state="playing", age_ms=9_000_000),
        state("BBBBB", NORTH, FREE, age_ms=60_000),
        state("CCCCC", NORTH, FREE, age_ms=120_000),
        state("DDDDD", NORTH, FREE),
        state("EEEEE", NORTH, replace(SOUTH, vacant=True), state="playing"),
    )
    assert [each.table for each in in_order(tables)] == ["CCCCC", "BBBBB", "DDDDD", "EEEEE", "AAAAA"]


def test_line_for_a_script_ends_with_the_age() -> None:
    vacant = state("K7PQA", NORTH, replace(SOUTH, name="south", vacant=True), state="playing", age_ms=60_000)
    line = 'K7PQA  truc-french  2/2 seats  playing  "north", "south"  substitute wanted  1 min'
    assert table_line(vacant) == line
    assert table_line(state("K7PQA", NORTH, FREE)) == 'K7PQA  truc-french  1/2 seats  open  "north"'
    away = replace(NORTH, online=False)
    assert table_line(state("K7PQA", away, SOUTH)).partition("open  ")[2].startswith('"north" (away), "south')


@each_row("text", ["none", "30", "30+120", "86400+1"])
def test_clock_is_shown_as_it_is_typed_in_seconds(text) -> None:
    assert str(read_clock(text)) == text
    assert read_clock("30+120") == TableClock(decision_ms=30_000, bank_ms=120_000)


@each_row("text", ["", "0", "30+", "+120", "1.5", "86401", "30+86401", "30+120+1", "\u0663"])
def test_what_is_no_clock_is_told_with_what_was_expected(text) -> None:
    with pytest.raises(ValueError, match=r"expected SECONDS, SECONDS\+BANK .* got"):
        read_clock(text)


@each_row(
    "arguments, told",
    [
        (("create",), "expected the name of a game"),
        (("create", "localhost:7373"), "expected the name of a game"),
        (("create", "truc.example.org"), "expected the name of a game"),
        (("create", "host", "truc-french", "--clock", "soon"), "got 'soon'"),
        (("create", "host", "truc-french", "--clock", "9", "--option", "bank_ms=1"), "--option bank_ms say"),
        (("create", "truc-french"), "expected the ADDRESS of a server"),
        (("tables", "host/K7PQA", "--follow"), "to follow one: truc watch ADDRESS/TABLE"),
        (("join", "host"), "expected the link of a table, or its code after the address"),
        (("play", "host", "--quick", "truc-french", "--private"), "--quick names the game"),
        (("play", "host", "--rekey", "--seats", "2"), "Usage:"),
        (("play", "host", "--table", "X", "--option", "a=1"), "Usage:"),
    ],
)
def test_usage_that_makes_no_sense_is_told_before_anybody_connects(truc, arguments, told) -> None:
    shown = truc(*arguments)
    assert shown.exit_code in (1, 2)
    assert told in shown.output


async def waited(*states, seconds: int) -> list[str]:
    """Wait at a table that stands as given, a minute each; returns what the screen shows."""
    screen, out = screen_of(width=400)
    table = SimpleNamespace(state=None, invite="truc://host/K7PQA#PIN", match=None)
    async with told_of_waiting(table, screen):
        for table.state in states:
            table.match = table.state.match
            await trio.sleep(seconds)
    return out.getvalue().splitlines()


async def test_wait_for_company_is_told_rarer_and_rarer(autojump_clock) -> None:
    told = await waited(state("K7PQA", NORTH, FREE), seconds=1201)
    assert [line.partition("after ")[2].partition(";")[0] for line in told] == [
        "15 s",
        "1 min",
        "2 min",
        "5 min",
        "10 min",
        "20 min",
    ]
    assert told[0].startswith(
        "table K7PQA: 1 of 2 seats taken after 15 s; to invite: truc join truc://host/K7PQA"
    )


async def test_who_is_not_ready_is_named_until_the_match_begins(autojump_clock) -> None:
    full, playing = state("K7PQA", NORTH, SOUTH), state("K7PQA", NORTH, SOUTH, state="playing")
    told = await waited(full, playing, seconds=30)
    assert told == ["table K7PQA: every seat is taken; not ready yet after 15 s: south [bold]"]


async def test_match_that_was_over_before_the_first_line_was_due_is_no_wait(autojump_clock) -> None:
    over = state("K7PQA", NORTH, SOUTH, state="over", match=b"m" * 32)
    assert await waited(state("K7PQA", NORTH, SOUTH), over, seconds=10) == []


@each_row(
    "host, here",
    [
        *((host, True) for host in ("localhost", "127.0.0.1", "::1")),
        *((host, False) for host in ("192.168.1.2", "truc.example.org")),
    ],
)
def test_link_that_leads_nowhere_for_others_is_known_by_its_host(host, here) -> None:
    assert is_here_alone(host) is here


async def asked_for_another(table: FakeTable, *typed: str | None) -> tuple[AnotherMatch, str]:
    (send, lines), (screen, out) = typing(), screen_of(width=400)

    async def type_lines() -> None:
        await trio.testing.wait_all_tasks_blocked()
        for text in typed:
            await send.send(Typed(text))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(type_lines)
        answer = await ask_for_another(table, screen, lines)
    return answer, out.getvalue()


@each_row(
    "typed, answer",
    [("", AnotherMatch.YES), ("n", AnotherMatch.NO), (None, AnotherMatch.LEFT), ("y", AnotherMatch.YES)],
)
async def test_only_a_no_after_a_match_is_a_no(typed, answer) -> None:
    assert (await asked_for_another(FakeTable(), typed))[0] is answer


async def test_who_wants_another_match_is_told_once_while_one_is_asked() -> None:
    over = state("K7PQA", NORTH, replace(SOUTH, name="south", ready=True), state="over")
    _, told = await asked_for_another(FakeTable(TableChanged(over), TableChanged(over)), "")
    assert told.count("south wants another match") == 1
    assert "north wants" not in told


async def test_table_that_is_closed_while_one_is_asked_needs_no_answer() -> None:
    answer, told = await asked_for_another(FakeTable(TableGone("expired", "K7PQA")))
    assert answer is AnotherMatch.CLOSED
    assert "nobody started it" in told


async def test_player_who_is_gone_is_named_by_their_seat_wherever_a_server_lists_it() -> None:
    table, (screen, out) = FakeTable(), screen_of(width=400)
    table.state, table.seat = state("K7PQA", replace(SOUTH, name="south", vacant=True)), 1
    assert await agrees_to_step_in(table, screen, typing("n")[1]) is False
    assert "south" in out.getvalue()
