"""`truc play`: sit down at a table, in person."""

import sys
from typing import NamedTuple

import click
from rich.console import Console

from truc_client.account import Player
from truc_client.address import Address, parse_address
from truc_client.cli.common import (
    FailedError,
    lang_option,
    language,
    own_home,
    player_name,
    run,
    table_options,
    tell_first_use,
    tell_new_key,
)
from truc_client.cli.stepping_in import YES, agrees_to_step_in, look_on
from truc_client.connection import Connection, connect
from truc_client.errors import ClientError
from truc_client.home import Home
from truc_client.person import Lines, Person, Typed, typed_lines
from truc_client.screen import Screen
from truc_client.store import Store
from truc_client.table import Table
from truc_protocol.setup import read_opts
from truc_protocol.words import catalogue

_DEFAULT_VARIANT = "truc-catalan"


class Wish(NamedTuple):
    """What kind of table the player wants."""

    code: str | None
    variant: str | None
    seats: int | None
    options: dict[str, int | str]
    private: bool
    rekey: bool


@click.command()
@click.argument("address", required=False)
@click.option("--table", "code", help="Sit down at the table with this code.")
@click.option("--variant", help="The game; see `truc rules`.")
@click.option("--seats", type=int, help="Number of seats of a new table.")
@click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="A table option of a new table."
)
@click.option("--private", is_flag=True, help="Keep a new table out of the list; invite by its link.")
@click.option("--name", help="The name shown to others.")
@click.option("--guest", is_flag=True, help="Play without a key.")
@click.option(
    "--rekey", is_flag=True, help="Go on with a match whose secrets are not here, from the next deal on."
)
@lang_option
def play(
    *,
    address: str | None,
    code: str | None,
    variant: str | None,
    seats: int | None,
    options: tuple[str, ...],
    private: bool,
    name: str | None,
    guest: bool,
    rekey: bool,
    lang: str | None,
) -> None:
    """Play at ADDRESS: HOST, HOST:PORT or a truc:// link.

    Goes on with a match you left, else sits down at an open table, else opens one. At a table whose match has lost a
    player you may step in.
    """
    spoken, home = language(lang), own_home()
    where = _address(address, home)
    if not guest:
        tell_first_use(home)
    player = Player(home, player_name(name), guest, tell_new_key)
    wish = Wish(code or where.table, variant, seats, table_options(options), private, rekey)
    again = "--guest " if guest else ""
    command = f"truc play {again}{where._replace(table=None)}"
    farewell = catalogue(spoken).screen["kept_seat"].format(command=command)

    async def main() -> None:
        screen = Screen(Console(highlight=False), spoken)
        async with connect(where, player) as connection:
            _greet(connection, screen, is_guest=guest)
            async with typed_lines() as lines:
                table = await _sit_down(connection, wish, screen, lines)
                if table is not None and await play_matches(table, screen, lines):
                    screen.say(farewell)

    run(main, farewell)


def _address(given: str | None, home: Home) -> Address:
    try:
        if given is not None:
            return parse_address(given)
        store = Store(home.state)
        servers = tuple(store.pins())
        store.close()
        if len(servers) == 1:
            return parse_address(servers[0])
    except ClientError as error:
        raise FailedError(str(error)) from error
    raise FailedError(f"expected the ADDRESS of a server{': ' if servers else ''}{', '.join(servers)}")


def _greet(connection: Connection, screen: Screen, *, is_guest: bool) -> None:
    if connection.info.motd:
        screen.say(connection.info.motd)
    if is_guest:
        screen.say(
            "You play as a guest, without a key: your cards travel in clear on this plain connection,"
            " and others have only the server's word for what you did.",
            "yellow",
        )


async def _sit_down(connection: Connection, wish: Wish, screen: Screen, lines: Lines) -> Table | None:
    """Return the table to play at; None if a vacant seat was left to others."""
    for held in connection.held:
        if wish.code not in (None, held.table):
            continue
        if held.match is None or await _goes_on(held.table, screen, lines):
            table = await connection.resume(held, rekey=wish.rekey)
            if held.match is None:
                await table.ready()
            return table
    table = await _find(connection, wish)
    if wish.code is not None and await look_on(table, screen):
        if not await agrees_to_step_in(table, screen, lines):
            await table.leave()
            return None
        await table.ready()
        return table
    screen.note("invite", table=table.code, link=_invite(connection, table))
    await table.ready()
    return table


async def _goes_on(code: str, screen: Screen, lines: Lines) -> bool:
    screen.note("go_on", table=code)
    answer = await _answer(lines)
    return answer is None or answer == "" or answer.lower() in YES


async def _answer(lines: Lines) -> str | None:
    if not sys.stdin.isatty():
        return None
    typed: Typed = await lines.receive()
    return typed.text


async def _find(connection: Connection, wish: Wish) -> Table:
    if wish.code is not None:
        return await connection.join(wish.code)
    if not wish.private and not wish.options:
        for state in await connection.tables(wish.variant):
            free = any(seat.kind == "empty" for seat in state.seats)
            admitted = not connection.account.is_guest or read_opts(state.opts).guests > 0
            if state.state == "open" and free and admitted and wish.seats in (None, state.n):
                return await connection.join(state.table)
    options = {"guests": 1, **wish.options} if connection.account.is_guest else wish.options
    variant = wish.variant or _DEFAULT_VARIANT
    return await connection.create(variant, seats=wish.seats, options=options, private=wish.private)


def _invite(connection: Connection, table: Table) -> str:
    return str(connection.address._replace(table=table.code, fingerprint=connection.fingerprint))


async def play_matches(table: Table, screen: Screen, lines: Lines) -> bool:
    """Play match after match as long as the person wants; tells whether they left in the middle of one."""
    while True:
        ended = await Person(table, screen, lines).play()
        if ended is None:
            return True
        screen.say(f"Transcript: {ended.transcript}")
        screen.note("another")
        answer = await _answer(lines)
        if answer is None or answer.lower() not in YES:
            await table.leave()
            return False
        await table.ready()
