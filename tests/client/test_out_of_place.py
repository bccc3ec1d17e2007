"""What a server offers out of place: options where nothing can be decided, and terms that a guest did not agree to."""

import pytest
import trio
from client.playing import at_table, come_back, leave_at_turn, my_turn, play_on
from msgspec.structs import replace

from truc_client import CheckFailedError, YourTurn, connect
from truc_conform.forging import on
from truc_protocol.boxes import Option
from truc_protocol.ledger import Ledger
from truc_protocol.messages import BoxedOptions, TableState
from truc_protocol.records import Phase

FRENCH = "truc-french"
LINE = "out of place"


TARGET = 4


def is_called(ledger: Ledger) -> bool:
    return ledger.phase is Phase.CALLED and ledger.k > 5


def has_ended(ledger: Ledger) -> bool:
    return ledger.phase is Phase.ENDED


@pytest.mark.parametrize("is_there", [is_called, has_ended])
async def test_options_where_nothing_can_be_decided_are_not_shown(server, player, is_there) -> None:
    honest, offered = server.go_on, trio.Event()

    async def go_on() -> None:
        while not is_there(server.ledger) and (record := server.other()) is not None:
            await server.take(record)
        if not is_there(server.ledger):
            await server.send_options()
            return
        at = server.ledger.k
        box = server.box(at, 0, (Option("concede", (), LINE),))
        await server.send(
            BoxedOptions(table="TABLE", match=server.setup.match, at=at, offer=0, must=True, box=box)
        )
        server.go_on = honest
        offered.set()

    server.go_on = go_on
    async with at_table(server, player) as table:
        seen = await play_on(table)
    assert offered.is_set()
    turns = [happening for happening in seen if isinstance(happening, YourTurn)]
    assert LINE not in {option.line for each in turns for option in each.options}


async def test_guest_is_not_seated_under_other_terms_than_agreed_to(server, guest) -> None:
    server.bend = on(TableState, lambda message: replace(message, opts=(999_000, *message.opts[1:])))
    async with at_table(server, guest) as table:
        with pytest.raises(CheckFailedError, match="decision_ms: agreed to 999000"):
            await play_on(table, until=my_turn)
    assert list(guest.home.transcripts.iterdir()) == []


async def test_guest_who_agreed_to_nothing_is_not_seated(server, guest) -> None:
    async with connect("host", guest, dial=server.dial) as connection:
        table = await connection.create(FRENCH)
        await connection.tables()
        await server.offer_terms()
        with pytest.raises(CheckFailedError, match="did not agree to"):
            await play_on(table, until=my_turn)


async def test_guest_who_comes_back_goes_on_under_the_terms_of_the_match(server, guest) -> None:
    await leave_at_turn(server, guest)
    seen = await come_back(server, guest)
    assert seen[-1].verdict.result == "proven"
