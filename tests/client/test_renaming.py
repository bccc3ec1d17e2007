"""The name that a server gives: it is the one that is signed, and the player is told where it is not the one asked for."""

import pytest
from client.deserting import DesertedServer
from client.hosting import Hosting
from client.playing import signed
from client.strict import Strict
from client.test_stepping_in import step_in
from client.viewed import screen_of
from msgspec.structs import replace
from rows import each_row

from truc_client import Substituted, connect
from truc_protocol.bodies import Sub
from truc_protocol.messages import ServerMessage, Welcome
from truc_terminal.commands.play import _greet
from truc_words import LANGUAGES

GIVEN = "north 2"


class Renaming:
    """A server at which somebody else has the name that is asked for."""

    given = GIVEN

    async def send(self, message: ServerMessage) -> None:
        if isinstance(message, Welcome):
            message = replace(message, name=self.given)
        await super().send(message)


class RenamingServer(Renaming, Strict):
    """One at which a match begins."""


class RenamingDeserted(Renaming, DesertedServer):
    """One at which a match waits for a substitute."""


@pytest.fixture
async def server(scripted) -> RenamingServer:
    return scripted(kind=RenamingServer)


async def greeting(server, player, lang: str = "en") -> str:
    screen, out = screen_of(lang)
    async with connect("host", player, dial=server.dial) as connection:
        _greet(connection, screen, is_guest=player.is_guest)
    return out.getvalue()


@pytest.mark.parametrize("is_logged", [False, True])
async def test_player_who_comes_in_is_told_where_the_chat_is_logged(scripted, player, is_logged) -> None:
    server = scripted(kind=Hosting)
    server.caps = {"chat": {"tables": True, "logged": is_logged}}
    assert ("the host keeps a log" in await greeting(server, player)) is is_logged


async def test_seat_is_taken_over_with_the_name_that_the_server_gave(scripted, player) -> None:
    server = scripted(kind=RenamingDeserted, target=6)
    await server.desert()
    await step_in(server, player, until=Substituted)
    assert [body.name.decode() for body in signed(server, Sub)] == [GIVEN]


@each_row("lang", LANGUAGES)
async def test_player_is_told_the_name_in_every_language(server, player, lang) -> None:
    told = await greeting(server, player, lang)
    assert f'"{GIVEN}"' in told
    assert '"north"' in told


async def test_player_whose_name_is_free_is_told_nothing(scripted, player) -> None:
    assert await greeting(scripted(), player) == ""


async def test_guest_is_told_that_cards_travel_in_clear(scripted, guest) -> None:
    assert "cards travel in clear" in await greeting(scripted(), guest)


async def test_given_name_is_never_markup_or_control(server, player) -> None:
    server.given = '[bold]no\x1b[2J"rth'
    assert '"[bold]no[2J\'rth"' in await greeting(server, player)
