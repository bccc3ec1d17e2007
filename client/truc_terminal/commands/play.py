"""`truc play`: sit down at a table, in person.

A seat that is the player's comes first. Taking it ends the session of whoever plays it, which may be another home with
the same key. Invariant: no seat is taken before it was looked at, and none for a home that cannot play it.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple, Unpack

import click

from truc_client.address import Address
from truc_client.connection import Connection
from truc_client.errors import ClientError, NotPlayedError, RefusedError
from truc_client.home.home import keep_name
from truc_client.home.store import Joined
from truc_client.home.transcripts import path_of
from truc_client.matches.signer import NOT_HERE, PLAYED_ELSEWHERE
from truc_client.subscriptions import TablePreview
from truc_client.table import Table
from truc_protocol.errors import Code
from truc_protocol.messages import SeatHeld, TableState
from truc_protocol.setup import GONE_SUBSTITUTE, GONE_WAIT, read_opts
from truc_terminal.commands.in_person import agrees_to_step_in, look_on, play_matches, show_terms, tell_invite
from truc_terminal.commands.language import spoken
from truc_terminal.commands.output import usage_error
from truc_terminal.commands.player import asked_name, connected_as, own_home, own_player, run
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.table_options import deal_option, options_option, table_options, with_deal
from truc_terminal.commands.tables import has_free_seat, vacant_seats
from truc_terminal.commands.terminal import (
    PlayingOptions,
    ask_yes_or_no,
    ended_as_by_ctrl_c,
    guest_option,
    lines_of,
    name_option,
    own_screen,
    play_on_option,
    screen_options,
    teach_option,
)
from truc_terminal.screen.lessons import teaching_at
from truc_terminal.screen.person import Lines
from truc_terminal.screen.screen import Screen
from truc_terminal.verdicts import quoted
from truc_words import Sentence, Speech, shown_name


class HeldPlace(NamedTuple):
    """A seat that the player holds, and what its table shows."""

    held: SeatHeld
    preview: TablePreview

    @property
    def is_played(self) -> bool:
        """Whether a match is on there, as far as can be seen."""
        state = self.preview.state
        return self.held.match is not None and (state is None or state.state == "playing")

    @property
    def is_online(self) -> bool:
        """Whether another connection of the player has the seat now."""
        return self.preview.is_online(self.held.seat)


async def held_places(connection: Connection, code: str | None) -> tuple[HeldPlace, ...]:
    """Return every seat of the player, or those at one table: running matches first, seats without a match last."""
    seats = [held for held in connection.held if code in (None, held.table)]
    found = [HeldPlace(held, await connection.preview(held.table)) for held in seats]
    return tuple(sorted(found, key=lambda place: (not place.is_played, place.held.match is None)))


def check_playable_here(connection: Connection, place: HeldPlace) -> None:
    """Check that a match can be played from this home, as far as can be seen without taking the seat.

    Raises:
        ClientError: The secrets in force are not here.
    """
    mid = place.held.match
    # A guest has no secrets: any home with the token can play.
    if mid is None or connection.session.account.is_guest or not place.is_played:
        return
    own, store = _own_box_keys(connection, place.held), connection.session.account.store
    if not own and (place.preview.state is not None or store.playing(mid) is None):
        raise ClientError(NOT_HERE)
    # Another home of the same key may have begun a new chain
    # since (`truc play --rekey`); what this one has is void.
    in_force = place.preview.box_key(mid, place.held.seat)
    if own and in_force is not None and in_force not in own:
        raise ClientError(PLAYED_ELSEWHERE)


def _own_box_keys(connection: Connection, held: SeatHeld) -> frozenset[bytes]:
    store = connection.session.account.store
    return frozenset(
        chain.x
        for joined in store.held(connection.session.first_spk)
        if joined.code == held.table and joined.mid in (None, held.match)
        for chain in store.chains(joined.th)
    )


async def tell_lost_seats(connection: Connection, code: str | None, screen: Screen) -> None:
    """Name each seat that somebody else has taken in a match whose end this home has not seen.

    Raises:
        ClientError: The seat is at the table asked for, and the match is still on.
    """
    if connection.session.account.is_guest:
        return
    matches = {held.match for held in connection.held}
    for joined in connection.session.account.store.held(connection.session.first_spk):
        if joined.mid is None or joined.mid in matches or code not in (None, joined.code):
            continue
        preview = await connection.preview(joined.code)
        told = _lost(connection, joined, joined.mid, preview)
        if told is None:
            continue
        if code is not None and (preview.state is None or preview.state.state == "playing"):
            raise ClientError(told)
        screen.say(told, "yellow")


def _lost(connection: Connection, joined: Joined, mid: bytes, preview: TablePreview) -> Sentence | None:
    """Return the sentence about a seat that somebody else has; None if the table no longer shows that match."""
    state = preview.state
    if state is None and (preview.refused is None or preview.refused.code != Code.PRIVATE_TABLE):
        return None
    if state is not None and state.match != mid:
        return None
    successor = preview.successor(mid, joined.seat)
    if successor is None:
        told = Sentence("commands.seat_taken", table=joined.code)
    else:
        who = {"name": shown_name(successor.name, joined.seat), "k": successor.k}
        told = Sentence("commands.seat_taken_by", table=joined.code, **who)
    path = path_of(connection.session.account.home.transcripts, mid)
    return Sentence("commands.transcript_so_far", told=told, path=path) if path.exists() else told


_FOR_NEW_TABLE: Final = "--variant, --quick, --seats, --deal, --option, --private"
_DEFAULT_VARIANT: Final = "truc-catalan"


class SeatChoice(Enum):
    """Where a player who holds no seat sits down."""

    ANY = "an open table, else the seat of somebody who has gone, else a new table"
    NEW = "a new table"
    QUICK = "the table that the server finds, or makes"


class WantedTable(NamedTuple):
    """What kind of table the player wants."""

    code: str | None = None
    variant: str | None = None
    seats: int | None = None
    options: Mapping[str, int | str] = MappingProxyType({})
    private: bool = False
    rekey: bool = False
    seating: SeatChoice = SeatChoice.ANY

    @property
    def is_new(self) -> bool:
        """Whether the player wants something that only a new table can have."""
        return self.private or bool(self.options) or self.seating is SeatChoice.NEW


class _LeftError(Exception):
    """The input has ended at a question: the player wants nothing more."""


@click.command()
@click.argument("address", required=False)
@click.option("--table", "code", help="Sit down at the table with this code.")
@click.option("--variant", help="The game; see `truc rules`.")
@click.option(
    "--quick", metavar="VARIANT", help="Let the server find you a seat at a table of this game, or make one."
)
@click.option("--seats", type=int, help="Number of seats of a new table.")
@deal_option
@options_option
@click.option("--private", is_flag=True, help="Keep a new table out of the list; invite by its link.")
@name_option
@guest_option
@click.option(
    "--rekey", is_flag=True, help="Go on with a match whose secrets are not here, from the next deal on."
)
@screen_options
@teach_option
@play_on_option
def play(
    *,
    address: str | None,
    code: str | None,
    variant: str | None,
    quick: str | None,
    seats: int | None,
    deal: str | None,
    options: tuple[str, ...],
    private: bool,
    rekey: bool,
    **playing: Unpack[PlayingOptions],
) -> None:
    """Play at ADDRESS: HOST, HOST:PORT or a truc:// or trucs:// link; with one server known none is needed.

    Goes on with a match you left, else sits down at an open table, else offers the seat of somebody who has gone from a
    match, else opens a table (of `truc-catalan`, unless --variant says another). The name is kept for the next time. At the
    table `?` explains what can be typed.
    """
    where = server_meant(address)
    wanted_code = code or where.table
    seating = SeatChoice.ANY if quick is None else SeatChoice.QUICK
    wanted = WantedTable(
        wanted_code and wanted_code.upper(),
        quick or variant,
        seats,
        with_deal(table_options(options), deal),
        private,
        rekey,
        seating,
    )
    if quick is not None and (variant is not None or private):
        raise usage_error(Sentence("commands.quick_excludes"))
    _check_usage(wanted, is_guest=playing["guest"])
    play_at(where, wanted, **playing)


def play_at(where: Address, wanted: WantedTable, **playing: Unpack[PlayingOptions]) -> None:
    """Connect, sit down as wanted, and play until the player leaves."""
    guest, home = playing["guest"], own_home()
    asked_for = None if guest or playing["name"] is not None else asked_name(home)
    name = asked_for or playing["name"]
    player = own_player(name, is_guest=guest)
    command = f"truc play {'--guest ' if guest else ''}{where._replace(table=None, invite=None)}"
    here: Connection | None = None

    def farewell() -> str:
        seated = () if here is None else here.followed
        own = (table for table in seated if table.seat is not None and not table.stands_by)
        return next((_farewell(table, command, Speech(spoken())) for table in own), "")

    async def main() -> None:
        nonlocal here
        screen = own_screen(plain=playing["plain"], no_color=playing["no_color"])
        async with connected_as(where, player) as connection:
            here = connection
            if name is not None:
                keep_name(home, name)
            if asked_for is not None:
                screen.say(Sentence("connecting.name_kept", path=home.name), "dim")
            _greet(connection, screen, is_guest=guest)
            async with lines_of(screen) as lines:
                table = await _sit_down(connection, wanted, screen, lines)
                if table is not None and playing["teach"]:
                    screen.teach = teaching_at(table)
                plays_on = playing["play_on"]
                if table is not None and await play_matches(table, screen, lines, plays_on=plays_on):
                    screen.say(farewell())

    with ended_as_by_ctrl_c():
        run(main, farewell)


def _check_usage(wanted: WantedTable, *, is_guest: bool) -> None:
    is_about_table = wanted.is_new or wanted.seats is not None or wanted.variant is not None
    if wanted.rekey and is_guest:
        raise usage_error(Sentence("commands.rekey_or_guest"))
    if wanted.rekey and is_about_table:
        raise usage_error(Sentence("commands.rekey_goes_on"))
    if wanted.code is not None and is_about_table:
        raise usage_error(Sentence("commands.for_new_table", options=_FOR_NEW_TABLE))


def _farewell(table: Table, command: str, speech: Speech) -> str:
    """Return how to come back, and how long the seat is kept under the table's terms."""
    kept, state = speech.say("screen.kept_seat", command=command), table.state
    if state is None or state.state != "playing":
        return kept
    opts = read_opts(state.opts)
    # No seat is lost at these tables by missing decisions (play.md, "What follows").
    if opts.gone == GONE_WAIT or not opts.decision_ms or not opts.gone_after:
        return kept
    key = "screen.kept_until_taken" if opts.gone == GONE_SUBSTITUTE else "screen.kept_until_lost"
    return speech.say(key, command=command, missed=speech.counted("missed", opts.gone_after))


def _greet(connection: Connection, screen: Screen, *, is_guest: bool) -> None:
    if connection.info.motd:
        screen.say(connection.info.motd)
    chat = connection.capabilities.get("chat")
    if isinstance(chat, dict) and chat.get("logged") is True:
        screen.say(Sentence("connecting.chat_logged"), "yellow")
    if connection.is_renamed:
        asked_for = connection.session.account.name
        key = "named" if is_guest else "renamed"
        screen.note(key, "yellow", name=quoted(connection.name), asked=quoted(asked_for))
    if is_guest:
        is_tls = connection.address.is_tls
        screen.say(Sentence("connecting.guest" if is_tls else "connecting.guest_in_clear"), "yellow")


async def _sit_down(
    connection: Connection, wanted: WantedTable, screen: Screen, lines: Lines
) -> Table | None:
    """Return the table to play at; None if the player wants none."""
    try:
        await tell_lost_seats(connection, wanted.code, screen)
        own = await held_places(connection, wanted.code)
        for place in own:
            table = await _come_back(connection, place, wanted, screen, lines)
            if table is not None:
                return table
        if wanted.rekey:
            raise ClientError(Sentence("commands.no_match_to_go_on", server=connection.address.server))
        # They have a seat at that table and do not want to go on there.
        if own and wanted.code is not None:
            return None
        if wanted.code is not None:
            return await _join(await connection.join(wanted.code), screen, lines)
        return await _find(connection, wanted, screen, lines)
    except _LeftError:
        return None


async def _come_back(
    connection: Connection, place: HeldPlace, wanted: WantedTable, screen: Screen, lines: Lines
) -> Table | None:
    """Return the table of a seat that the player holds; None if they do not want to go on there.

    Raises:
        ClientError: The match cannot be played from this home.
        _LeftError: The input has ended.
    """
    held = place.held
    # Without a match nothing is taken from anybody, so nothing is asked.
    if held.match is None and wanted.seating is not SeatChoice.NEW:
        return None if wanted.rekey else await _sit_again(connection, place, screen)
    if not wanted.rekey:
        check_playable_here(connection, place)
        key, default = ("play_here", False) if place.is_online else ("go_on", True)
        if not _answered(await ask_yes_or_no(screen, lines, key, default=default, table=held.table)):
            return None
    if wanted.is_new or wanted.seats is not None:
        screen.say(Sentence("commands.goes_on_as_it_is"), "yellow")
    if held.match is None:
        return await _sit_again(connection, place, screen)
    return await connection.resume(held, rekey=wanted.rekey)


def _answered(answer: bool | None) -> bool:
    if answer is None:
        raise _LeftError
    return answer


async def _sit_again(connection: Connection, place: HeldPlace, screen: Screen) -> Table:
    table = await connection.resume(place.held)
    await look_on(table, screen)
    show_terms(table, screen)
    await table.ready()
    return table


async def _join(table: Table, screen: Screen, lines: Lines) -> Table | None:
    """Agree to play at a table just joined, or to step in there; None if the player leaves the seat to others."""
    if await look_on(table, screen):
        if not _answered(await agrees_to_step_in(table, screen, lines)):
            await table.leave()
            return None
    else:
        show_terms(table, screen)
        tell_invite(table, screen)
    await table.ready()
    return table


async def _find(connection: Connection, wanted: WantedTable, screen: Screen, lines: Lines) -> Table | None:
    if wanted.seating is SeatChoice.QUICK and "seek" in connection.capabilities:
        return await _join(await _seek(connection, wanted), screen, lines)
    if not wanted.is_new:
        code = await _open_table(connection, wanted)
        if code is not None:
            return await _join(await connection.join(code), screen, lines)
        # A `sub` record brings a key (specification.md, "Deals", New chains).
        if not connection.session.account.is_guest:
            table = await _step_in(connection, wanted, screen, lines)
            if table is not None:
                return table
    # Most servers admit no guest without it, not even the one who opens the table (play.md, "At the table").
    options = {"guests": 1, **wanted.options} if connection.session.account.is_guest else wanted.options
    variant = wanted.variant or _DEFAULT_VARIANT
    made = await connection.create(variant, seats=wanted.seats, options=options, private=wanted.private)
    return await _join(made, screen, lines)


async def _seek(connection: Connection, wanted: WantedTable) -> Table:
    """Take the seat that the server finds: only tables with the same options fit, so guests ask for two guests."""
    options = {"guests": 2, **wanted.options} if connection.session.account.is_guest else wanted.options
    return await connection.seek(wanted.variant or _DEFAULT_VARIANT, seats=wanted.seats, options=options)


async def _step_in(connection: Connection, wanted: WantedTable, screen: Screen, lines: Lines) -> Table | None:
    """Offer every seat whose player is gone from a match; None if the player takes none."""
    for state in await connection.tables(wanted.variant):
        if not vacant_seats(state) or wanted.seats not in (None, state.n):
            continue
        try:
            table = await connection.join(state.table)
        except RefusedError:
            continue  # somebody was quicker, or this player has been in that match before
        try:
            stepped_in = await _join(table, screen, lines)
        except NotPlayedError as error:
            screen.say(str(error), "yellow")
            continue
        if stepped_in is not None:
            return stepped_in
    return None


async def _open_table(connection: Connection, wanted: WantedTable) -> str | None:
    for state in await connection.tables(wanted.variant):
        admitted = not connection.session.account.is_guest or _admits_guest(state)
        if state.state == "open" and has_free_seat(state) and admitted and wanted.seats in (None, state.n):
            return state.table
    return None


def _admits_guest(state: TableState) -> bool:
    return read_opts(state.opts).guests > sum(seat.kind == "guest" for seat in state.seats)
