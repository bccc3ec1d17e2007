"""`truc demo`: its own server, bots in the other seats, a match, and its proof; the player's seat may be in a browser.

Server, bots and player live in a temporary folder; only the transcript is kept. The server is a separate process: the
client never imports it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click
import trio

from truc_client.bots import careful, play_match
from truc_client.connecting import connect, tasks_beside
from truc_client.connection import Connection
from truc_client.errors import ClientError
from truc_client.happenings import MatchEnded
from truc_client.home.account import Player
from truc_client.home.home import Home, open_home
from truc_client.table import Table
from truc_client.verifying import verify_file
from truc_protocol.audit import Result
from truc_protocol.wire.transport import web_link
from truc_terminal.commands.in_person import AnotherMatch, ask_for_another, show_terms
from truc_terminal.commands.output import FailedError, usage_error
from truc_terminal.commands.player import own_home, player_name, run
from truc_terminal.commands.rules import game_called
from truc_terminal.commands.table_options import (
    ChosenOptions,
    check_options,
    deal_option,
    options_option,
    table_options,
    with_deal,
)
from truc_terminal.commands.terminal import (
    ended_as_by_ctrl_c,
    lines_of,
    own_screen,
    screen_options,
    tell_commands,
)
from truc_terminal.commands.web import open_browser
from truc_terminal.screen.lessons import teaching_at
from truc_terminal.screen.person import Lines, Person
from truc_terminal.screen.screen import Screen
from truc_terminal.styles import STYLES, Advise, BotStyle, sharp_advice, style_option
from truc_words import Sentence

_START_S: Final = 30.0
# Seconds for the server to end by itself before it is killed.
_STOP_S: Final = 10.0
_ALONE: Final = {"TRUC_TABLES_DRAIN_S": "0", "TRUC_LIMITS_TABLE_ACTS_PER_S": "10000"}
"""Settings of a server for one table: nobody is left to finish a hand, and no other table kept from playing by quick bots."""
_LISTENING: Final = "listening "  # how the first line begins that a server prints
_WEB: Final = "web "  # and the second one, if it serves browsers
_FREE_PLACE: Final = {"TRUC_WEB_LISTEN": "127.0.0.1:0"}
_MISSING: Final = "No module named"
_YOU: Final = 0  # the seat of whoever opens a table
_BOTS: Final = ("bot", "bot 1", "bot 2", "bot 3", "bot 4", "bot 5")  # by seat


@click.command()
@click.option(
    "--variant", default="truc-catalan", show_default=True, help="The game: see `truc rules`; or FILE.toml."
)
@click.option("--seats", default=2, show_default=True, help="Number of players, including you.")
@deal_option
@options_option
@click.option("--name", help="The name shown.")
@click.option(
    "--teach", is_flag=True, help="Explain why things happen, what each option means, and what to try."
)
@style_option("sharp")
@click.option("--web", is_flag=True, help="Take your seat in a browser, which is opened at the table.")
@click.option("--no-browser", is_flag=True, help="Print the link, and open nothing.")
@screen_options
def demo(
    *,
    variant: str,
    seats: int,
    deal: str | None,
    options: tuple[str, ...],
    name: str | None,
    style: str,
    teach: bool,
    web: bool,
    no_browser: bool,
    plain: bool,
    no_color: bool,
) -> None:
    """Play a match against bots on this machine, and verify it.

    If you have never played, --teach explains the game as it goes. Without a terminal a careful bot plays for you.
    """
    game, text = game_called(variant)
    if seats not in game.players:
        players = "/".join(map(str, game.players))
        raise FailedError(Sentence("commands.seats_expected", game=game.name, players=players, got=seats))
    if web and teach:
        raise usage_error(Sentence("commands.web_teaches_not"))
    keep, shown = own_home(), player_name(name, own_home())
    # Bots wait.
    terms: ChosenOptions = {"decision_ms": 0, **with_deal(table_options(options), deal)}
    check_options(game, seats, terms)

    async def main() -> None:
        with tempfile.TemporaryDirectory(prefix="truc-demo-", ignore_cleanup_errors=True) as folder:
            data = Path(folder) / "server"
            if text is not None:
                _add_game(data, text)
            async with _server(data, _FREE_PLACE if web else {}) as (address, origin):
                screen = own_screen(plain=plain, no_color=no_color)
                screen.say(Sentence("connecting.own_server", address=address))
                match = _Demo(game.name, seats, terms, STYLES[style], address, Path(folder), keep, screen)
                if origin is not None:
                    await match.play_in_browser(origin, opens=not no_browser)
                elif not await match.play_here(shown, teach=teach):
                    screen.say(Sentence("commands.demo_left"))

    with ended_as_by_ctrl_c():
        run(main, partial(Sentence, "commands.demo_stopped"))


def _add_game(data: Path, text: str) -> None:
    """Put the file of a game where the server finds it."""
    for folder in (data, data / "variants"):
        folder.mkdir(mode=0o700)
    (data / "variants" / "own.toml").write_text(text, encoding="utf-8")


@asynccontextmanager
async def _server(data: Path, more: Mapping[str, str]) -> AsyncIterator[tuple[str, str | None]]:
    """Run a server as a process, with more in its environment; yield its address, and its origin for browsers if it has one."""
    arguments = ("run", "--host", "127.0.0.1", "--port", "0", "--data", str(data), "--log-level", "warning")
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "truc_server", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **_ALONE, **more},
        start_new_session=True,  # Ctrl-C is for the player; the server is stopped after them
    )
    try:
        yield await _printed_addresses(process, lines=2 if more else 1)
    finally:
        await _stop(process)


async def _printed_addresses(process: trio.Process, lines: int) -> tuple[str, str | None]:
    """Return what a server says in its first lines: its address, and its origin for browsers."""
    text = ""
    with trio.move_on_after(_START_S):
        async for received in _pipe(process.stdout):
            text += received.decode(errors="replace")
            # The server goes on writing there; its first lines are all that is wanted.
            if text.count("\n") >= lines:
                break
    first, _, rest = text.partition("\n")
    if not first.startswith(_LISTENING) or text.count("\n") < lines:
        raise ClientError(Sentence("commands.no_start", reason=await _complaint(process)))
    web = rest.partition("/\n")[0]
    return first.removeprefix(_LISTENING), web.removeprefix(_WEB) if lines > 1 else None


def _pipe(pipe: trio.abc.ReceiveStream | None) -> trio.abc.ReceiveStream:
    if pipe is None:
        raise ValueError("the process was started without this pipe")
    return pipe


async def _complaint(process: trio.Process) -> str:
    told = b""
    with trio.move_on_after(1):
        async for received in _pipe(process.stderr):
            told += received
    lines = told.decode(errors="replace").strip().splitlines()
    reason = lines[-1] if lines else Sentence("commands.said_nothing")
    return Sentence("commands.not_installed", reason=reason) if _MISSING in reason else reason


async def _stop(process: trio.Process) -> None:
    # Ctrl-C ends the block above; without this the server would outlive the command.
    with trio.CancelScope(shield=True):
        if process.returncode is None:
            process.terminate()
            with trio.move_on_after(_STOP_S):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                await pipe.aclose()


class _Demo(NamedTuple):
    """A demo whose server runs: the match that is asked for, the homes of the players, where transcripts are kept, the screen."""

    variant: str
    seats: int
    terms: ChosenOptions
    style: BotStyle
    address: str
    folder: Path
    keep: Home
    screen: Screen

    async def play_here(self, name: str, *, teach: bool) -> bool:
        """Play match after match as long as the player wants, and verify each; tell whether the last one was played out."""
        async with connect(self.address, Player(open_home(self.folder / "you"), name)) as connection:
            table = await self._create(connection)
            async with self._bots(table.code, range(_YOU + 1, self.seats), leave_to=_YOU):
                show_terms(table, self.screen)
                await table.ready()
                if teach:
                    self.screen.teach = teaching_at(table)
                # Nobody is there to decide, as in a test or a pipe:
                # the demo still shows a whole match and its proof.
                if not sys.stdin.isatty():
                    return self._verified(await play_match(table, careful(self.seats), self.screen.show))
                async with lines_of(self.screen) as lines:
                    return await self._play_person(table, lines, sharp_advice if teach else None)

    async def _play_person(self, table: Table, lines: Lines, advise: Advise | None) -> bool:
        while self._verified(await Person(table, self.screen, lines, advise).play()):
            if await ask_for_another(table, self.screen, lines) is not AnotherMatch.YES:
                return True
            await table.ready()
        return False

    async def play_in_browser(self, origin: str, *, opens: bool) -> None:
        """Let the player take the last seat in a browser, at a table that a bot opens, until the table is closed."""
        yours = self.seats - 1
        async with trio.open_nursery() as nursery:
            code = await nursery.start(self._keep_table, yours, nursery.cancel_scope)
            link = web_link(origin, code)
            async with self._bots(code, range(_YOU + 1, yours), leave_to=yours):
                self.screen.say(Sentence("commands.web_open", link=link), "bold")
                self.screen.say(Sentence("commands.demo_waits"))
                if opens:
                    await open_browser(link)
                await trio.sleep_forever()

    async def _keep_table(
        self, yours: int, demo: trio.CancelScope, *, task_status: trio.TaskStatus[str]
    ) -> None:
        """Open a table as a bot, tell its code, and verify match after match; when the table is closed, end the demo."""
        async with connect(self.address, self._bot(_YOU)) as connection:
            table = await self._create(connection)
            task_status.started(table.code)
            await table.ready()
            while self._verified(await self._play_bot(table, _YOU, leave_to=yours)):
                await table.ready()
        demo.cancel()

    async def _create(self, connection: Connection) -> Table:
        return await connection.create(self.variant, seats=self.seats, options=self.terms)

    def _bot(self, seat: int) -> Player:
        return Player(open_home(self.folder / f"bot-{seat}"), _BOTS[seat])

    @asynccontextmanager
    async def _bots(self, code: str, seats: range, *, leave_to: int) -> AsyncIterator[None]:
        async with tasks_beside() as nursery:
            for seat in seats:
                nursery.start_soon(partial(self._sit_down, leave_to=leave_to), code, seat)
            yield

    async def _sit_down(self, code: str, seat: int, *, leave_to: int) -> None:
        async with connect(self.address, self._bot(seat)) as connection:
            table = await connection.join(code, seat)
            await table.ready()
            while await self._play_bot(table, seat, leave_to=leave_to) is not None:
                await table.ready()
            await trio.sleep_forever()

    async def _play_bot(self, table: Table, seat: int, *, leave_to: int) -> MatchEnded | None:
        return await play_match(table, self.style(seat, table), leave_to=(leave_to,))

    def _verified(self, ended: MatchEnded | None) -> bool:
        """Keep and verify the transcript of a match; tell whether it was played out."""
        if ended is None:
            return False
        # The folder of the demo is deleted at the end.
        kept = self.keep.transcripts / ended.transcript.name
        shutil.copyfile(ended.transcript, kept)
        verdict = verify_file(kept)
        path = os.path.relpath(kept) if kept.is_relative_to(Path.cwd()) else kept
        result, say = Sentence(f"results.{verdict.result}"), self.screen.say
        say(Sentence("commands.demo_verified", result=result), "bold")
        say(Sentence("commands.demo_kept", path=kept))
        say(Sentence("commands.demo_check", command=f"truc verify {path}"))
        tell_commands(self.screen, kept)
        if verdict.result is not Result.PROVEN:
            raise ClientError(Sentence("commands.demo_not_proven", result=result))
        return True
