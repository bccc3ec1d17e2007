"""`truc play` before the first hand: what is looked at before a seat is taken, what is asked, what is shown and told."""

from functools import partial

import pytest
import trio
from client.deserting import DesertedServer
from client.hosting import Hosting
from client.playing import come_back, leave_at_turn, my_turn, play_on, received
from client.strict import Strict
from client.test_stepping_in import step_in, taken_by_another
from client.viewed import screen_of, typing
from msgspec.structs import replace

from truc_client import ClientError, Player, Substituted, connect, open_home
from truc_protocol import messages
from truc_terminal.commands.play import SeatChoice, WantedTable, _farewell, _sit_down, _step_in
from truc_terminal.screen.explaining import terms_line
from truc_terminal.screen.person import Lines, Typed
from truc_words import Speech

FRENCH = "truc-french"
ANY = WantedTable(None, None, None, {}, private=False, rekey=False)


class Watched:
    """A server that shows its table to those who watch; `online` tells whether seat 0 has a connection."""

    online = False

    def watched_state(self):
        state = self.state()
        first, *others = state.seats
        name = "a newcomer" if self.is_lost else first.name
        seats = (replace(first, online=self.online, name=name), *others)
        return replace(state, state="playing", match=self.setup.match, seats=seats)

    async def serve_request(self, message):
        match message:
            case messages.Watch():
                await self.send(self.watched_state())
                await self.send(self.setup)
                for k in range(len(self.records)):
                    await self.send(self.message(k))
                await self.send(messages.Ok(re=message.id, k=len(self.records)))
            case messages.Unwatch():
                await self.send(messages.Ok(re=message.id))
            case _:
                await super().serve_request(message)


class WatchedServer(Watched, Strict):
    is_lost = False

    def held(self):
        return () if self.is_lost else super().held()


class WatchedDesertedServer(Watched, DesertedServer):
    is_lost = False


@pytest.fixture
async def server(scripted, player) -> WatchedServer:
    """Return a server with a match that this player has left at their turn."""
    server = scripted(target=6, kind=WatchedServer)
    await leave_at_turn(server, player)
    server.heard.clear()
    return server


async def sit_down(server, player, *typed: str | None, wanted: WantedTable = ANY) -> tuple[object, str]:
    """Sit down as `truc play` does; returns the table, and what the screen shows."""
    screen, out = screen_of(width=400)
    _, lines = typing(*typed, None)
    async with connect("host", player, dial=server.dial) as connection:
        table = await _sit_down(connection, wanted, screen, lines)
    return table, out.getvalue()


def took_seat(server) -> bool:
    return bool(received(server, messages.Resume, messages.Join, messages.Create))


async def test_home_that_cannot_play_takes_no_seat(server, elsewhere) -> None:
    with pytest.raises(ClientError, match="secrets are not here"):
        await sit_down(server, elsewhere, "y")
    assert not took_seat(server)


async def test_home_without_secrets_goes_on_with_a_new_chain_where_that_is_asked_for(server, elsewhere):
    table, _ = await sit_down(server, elsewhere, wanted=ANY._replace(rekey=True))
    assert table.code == "TABLE"


def test_new_chain_is_wished_for_by_a_flag(truc, monkeypatch) -> None:
    wishes: list[WantedTable] = []
    monkeypatch.setattr(
        "truc_terminal.commands.play.play_at", lambda _where, wanted, **_playing: wishes.append(wanted)
    )
    for flags in ([], ["--rekey"]):
        assert truc("play", "host", *flags).exit_code == 0
    assert [wanted.rekey for wanted in wishes] == [False, True]


async def test_home_that_another_has_replaced_takes_no_seat(server, player, elsewhere) -> None:
    await come_back(server, elsewhere, rekey=True, until=my_turn)
    server.heard.clear()
    with pytest.raises(ClientError, match="another machine with your key has begun a new chain"):
        await sit_down(server, player, "y")
    assert not took_seat(server)


async def test_seat_that_is_played_over_another_connection_is_taken_only_after_asking(server, player) -> None:
    server.online = True
    table, told = await sit_down(server, player, "", wanted=ANY._replace(code="TABLE"))
    assert (table, took_seat(server)) == (None, False)
    assert "is being played over another connection of yours" in told


async def test_end_of_input_is_no_yes(server, player) -> None:
    table, _ = await sit_down(server, player)
    assert (table, took_seat(server)) == (None, False)


async def test_other_answer_is_asked_again(server, player) -> None:
    table, told = await sit_down(server, player, "truc play host", "y")
    assert (table is None, told.count("Go on? [Y/n]")) == (False, 2)


async def test_player_whose_seat_was_taken_is_told_and_sits_nowhere_else(server, player):
    server.is_lost = True
    with pytest.raises(ClientError, match="your seat at table TABLE was taken"):
        await sit_down(server, player, wanted=ANY._replace(code="TABLE"))
    assert not took_seat(server)
    _, told = await sit_down(server, player)
    assert "your seat at table TABLE was taken by somebody else while you were away" in told


async def test_nothing_to_rekey_is_said_and_no_table_opened(scripted, player) -> None:
    server = scripted(kind=WatchedServer)
    with pytest.raises(ClientError, match="there is no match to go on with"):
        await sit_down(server, player, wanted=ANY._replace(rekey=True))
    assert not took_seat(server)


async def test_terms_are_shown_before_ready(scripted, player) -> None:
    server = scripted(kind=WatchedServer)
    _, told = await sit_down(server, player)
    assert terms_line(server.state(), Speech("en")) in " ".join(told.split())


async def test_wanted_seat_is_offered_before_a_table_is_opened(deserted, player) -> None:
    table, told = await sit_down(deserted, player, "y")
    assert (table.code, "Take that seat over" in told) == ("TABLE", True)
    assert not received(deserted, messages.Create)


class Unanswered(Lines):
    """No line, ever; `asked` is set when one is waited for."""

    def __init__(self) -> None:
        self.asked = trio.Event()

    async def receive(self) -> Typed:
        self.asked.set()
        return await trio.sleep_forever()


async def unanswered(server, player, happens, sit=_sit_down) -> tuple[object, str]:
    """Leave the question whether to step in unanswered when something happens; returns what came of it, and the screen."""
    (screen, out), came, lines = screen_of(width=400), [], Unanswered()

    async def ask(connection) -> None:
        try:
            came.append(await sit(connection, ANY._replace(code="TABLE"), screen, lines))
        except ClientError as error:
            came.append(str(error))

    with trio.fail_after(20):
        async with connect("host", player, dial=server.dial) as connection, trio.open_nursery() as nursery:
            nursery.start_soon(ask, connection)
            await lines.asked.wait()
            await happens()
    return came[0], out.getvalue()


@pytest.fixture
async def deserted(scripted) -> WatchedDesertedServer:
    server = scripted(kind=WatchedDesertedServer, target=6)
    await server.desert()
    return server


NOT_WANTED = "nobody is wanted for this seat any more: its player is back, or another has taken it"


async def test_question_about_a_seat_that_another_has_taken_is_withdrawn(deserted, player) -> None:
    assert (await unanswered(deserted, player, partial(taken_by_another, deserted)))[0] == NOT_WANTED


async def test_who_looked_for_any_seat_looks_on_where_one_is_wanted_no_more(deserted, player) -> None:
    table, told = await unanswered(deserted, player, partial(taken_by_another, deserted), _step_in)
    assert (table, told.endswith(f"{NOT_WANTED}\n")) == (None, True)


async def test_lost_connection_is_told_while_a_question_stands_which_is_withdrawn_when_the_table_is_closed(
    deserted, player, autojump_clock
) -> None:
    async def lose_the_line() -> None:
        await deserted._stream.aclose()
        await trio.sleep(10)
        await deserted.send(messages.TableClosed(table="TABLE", reason="server"))

    error, told = await unanswered(deserted, player, lose_the_line)
    assert "connecting again" in told
    assert (error, told.endswith("the table is closed: the host closed it\n")) == (NOT_WANTED, True)


class WaitingServer(Hosting):
    """A server at which this player has a seat that waits for a match."""

    def held(self):
        return (messages.SeatHeld(table="TABLE", match=None, seat=0),)


@pytest.mark.parametrize(
    ("answer", "request_sent"), [("n", messages.Create), ("y", messages.Join), (None, None)]
)
async def test_new_table_is_opened_only_after_asking_who_has_a_seat(scripted, player, answer, request_sent):
    server = scripted(kind=WaitingServer)
    table, told = await sit_down(server, player, answer, wanted=ANY._replace(seating=SeatChoice.NEW))
    sent = [
        type(message)
        for message in server.received
        if isinstance(message, messages.Create | messages.Join | messages.Leave)
    ]
    assert "You have a seat at table TABLE. Go on? [Y/n]" in told
    assert (sent, table is None) == ([request_sent] if request_sent else [], request_sent is None)


@pytest.mark.parametrize(("capabilities", "sent"), [({"seek": True}, messages.Seek), ({}, messages.Join)])
async def test_quick_match_lets_the_server_seek_where_it_can(nursery, player, capabilities, sent) -> None:
    server = Hosting()
    server.nursery, server.caps = nursery, capabilities
    server.bend = with_free_seat
    wanted = ANY._replace(variant=FRENCH, seating=SeatChoice.QUICK)
    table, _ = await sit_down(server, player, wanted=wanted)
    assert table.code == "TABLE"
    assert received(server, sent)


def with_free_seat(message):
    """Show the table of an answer with a seat free."""
    if not isinstance(message, messages.Ok) or not message.tables:
        return message
    (state,) = message.tables
    seats = (messages.SeatState(seat=0, kind="empty"), *state.seats[1:])
    return replace(message, tables=(replace(state, seats=seats),))


async def test_preview_names_who_took_a_seat_and_the_record(deserted, player, tmp_path) -> None:
    await step_in(deserted, player, until=Substituted)
    another = Player(open_home(tmp_path / "another"), "another")
    async with connect("host", another, dial=deserted.dial) as connection:
        preview = await connection.preview("TABLE")
    name, k = preview.successor(deserted.setup.match, 0)
    assert (name, deserted.records[k].signer) == ("north", 1)


async def test_seat_is_kept_only_as_long_as_the_terms_say(deserted, player) -> None:
    async with connect("host", player, dial=deserted.dial) as connection:
        table = await connection.join("TABLE", 0)
        await play_on(table, until=lambda happening: table.stands_by)
        told = _farewell(table, "truc play host", Speech("en"))
    assert told.startswith("Your seat is kept until you have missed 1 decision; then somebody")
