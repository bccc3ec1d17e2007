"""`truc tables --follow`: a line for each change without a terminal, a list that is kept up to date at one."""

import io

import trio
import trio.lowlevel
from client.faked import FakeTable
from client.test_lobby_at_a_glance import FREE, NORTH, SOUTH, state
from client.viewed import console_to
from msgspec.structs import replace
from rows import each_row

from truc_client import connect
from truc_client.happenings import MEANWHILE, ChatSaid, Interrupted, LobbyChanged, TableChanged, TableGone
from truc_protocol.messages import LobbyState
from truc_terminal.commands.tables import FollowedTables, columns, follow_lines, follow_list

OPEN = state("K7PQA", NORTH, FREE, age_ms=60_000, expires_ms=600_000)
FULL = state("K7PQA", NORTH, replace(SOUTH, name="south"), age_ms=120_000)
LATER = replace(OPEN, age_ms=90_000, expires_ms=570_000)
GONE = TableGone("expired", "K7PQA")


def told(*happenings, variant: str | None = None, lang: str = "en") -> list[str]:
    tables = FollowedTables(variant, lang)
    return [line for happening in happenings for line in tables.take(happening, 0)]


SHOWN = 'K7PQA  truc-french  1/2 seats  open  "north"  1 min'
LOST = Interrupted("it was lost")


@each_row(
    "happenings, options, lines",
    [
        (
            (
                *(TableChanged(OPEN), LobbyChanged(LobbyState(online=1, tables=1, playing=0))),
                *(TableChanged(FULL), GONE),
            ),
            {},
            [
                SHOWN,
                'K7PQA  truc-french  2/2 seats  open  "north", "south"  2 min',
                "K7PQA  the table is closed: nobody started it",
            ],
        ),
        ((TableChanged(OPEN), GONE), {"lang": "es"}, [SHOWN, "K7PQA  la mesa está cerrada: nadie la empezó"]),
        ((TableChanged(OPEN), TableChanged(LATER)), {}, [SHOWN]),  # that time has passed is no change
        ((TableChanged(OPEN), GONE), {"variant": "put"}, []),
        ((TableChanged(OPEN),), {"variant": "truc-french"}, [SHOWN]),
        ((TableChanged(OPEN), LOST, TableChanged(OPEN)), {}, [SHOWN]),
        (
            (TableChanged(OPEN), LOST, TableGone(MEANWHILE, "K7PQA")),
            {},
            [SHOWN, "K7PQA  the table is closed: while the connection was lost"],
        ),
        ((ChatSaid("TAG", "north", "hello"),), {}, []),
    ],
)
def test_every_change_is_a_line_and_nothing_else_is(happenings, options, lines) -> None:
    assert told(*happenings, **options) == lines


def test_age_goes_on_between_two_changes() -> None:
    tables = FollowedTables(None, "en")
    list(tables.take(TableChanged(OPEN), 100))
    assert [(each.age_ms, each.expires_ms) for each in tables.by(130)] == [(90_000, 570_000)]
    assert [each.expires_ms for each in tables.by(4000)] == [0]


async def test_list_at_a_terminal_is_drawn_anew_with_each_change_and_as_time_goes_by(autojump_clock) -> None:
    drawn: list[list[str]] = []
    out = io.StringIO()

    def draw(tables):
        drawn.append([f"{each.table} {each.age_ms // 1000}" for each in tables])
        return columns(tables)

    lobby = FakeTable(TableChanged(OPEN), Interrupted("it was lost"), TableChanged(FULL))
    console = console_to(out, terminal=True, width=120)
    with trio.move_on_after(30):
        await follow_list(lobby, FollowedTables(None, "en"), console, draw)
    assert drawn == [[], ["K7PQA 60"], ["K7PQA 60"], ["K7PQA 120"], ["K7PQA 140"]]
    assert "it was lost; connecting again" in out.getvalue()
    assert out.getvalue().endswith("\x1b[?25h")  # the cursor is back


async def test_tables_of_a_server_are_told(server, player, capsys) -> None:
    with trio.fail_after(40):
        async with connect("host", player, dial=server.dial) as connection, trio.open_nursery() as nursery:
            nursery.start_soon(follow_lines, await connection.lobby(), FollowedTables(None, "en"))
            shown = ""
            while "TABLE  " not in shown:
                await trio.lowlevel.checkpoint()
                shown += capsys.readouterr().out
            nursery.cancel_scope.cancel()
    assert shown.startswith("TABLE  truc-french  ")
