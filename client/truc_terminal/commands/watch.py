"""`truc watch`: a table as seen by somebody without a seat there.

It is told in words, drawn after each trick and hand, and there is a line to type. Everything is as on a player's screen, but
from no seat; what is added here is for a watcher who came in the middle. Invariant: what only the server says is never drawn or
ticked, and each line of it says that it is unchecked.
"""

import sys
from contextlib import nullcontext
from typing import Final

import click
import trio

from truc_client.connecting import tasks_beside
from truc_client.connection import Connection
from truc_client.happenings import (
    Fact,
    Happening,
    Interrupted,
    MatchEnded,
    MatchStarted,
    MatchWaits,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    SnapshotTaken,
)
from truc_client.table import Table
from truc_terminal.commands.player import at_server, own_player
from truc_terminal.commands.server_lookup import table_meant
from truc_terminal.commands.terminal import (
    ended_as_by_ctrl_c,
    lines_of,
    own_screen,
    screen_options,
    tell_commands,
)
from truc_terminal.replay_model.board import is_state_of, with_all_open
from truc_terminal.screen.drawing import score_line, sentence
from truc_terminal.screen.explaining import TABLE
from truc_terminal.screen.person import QUIT, Lines, asked_about, spelled, talk
from truc_terminal.screen.questions import CHAT, Question, commands_typed
from truc_terminal.screen.screen import Screen
from truc_terminal.screen.wrapping import said_again
from truc_words import Sentence, as_told, with_english_command
from truc_words.rules_page import chapter_texts


@click.command()
@click.argument("address", metavar="LINK")
@click.argument("code", required=False)
@click.option(
    "--follow", is_flag=True, help="Go on with the matches that come after, until the table is gone."
)
@screen_options
def watch(address: str, code: str | None, *, follow: bool, plain: bool, no_color: bool) -> None:
    """Watch a table to the end of its match: HOST/TABLE, HOST:PORT/TABLE or a truc:// or trucs:// link.

    `truc tables HOST` lists the public tables; a private one needs its link. A table may show what happens late, or hand by
    hand, or to nobody (its option `spectators`).

    At a terminal the table stands below what is told; `?` explains what can be typed.
    Without a terminal everything is told line by line, and nothing is read.

    With one server known a CODE alone will do.

    Every record is checked as for a player, and the transcript is kept. If you come in the middle you see how it stands
    at once, and are told when what was before has been checked.
    """
    where, table = table_meant(address, code)
    player, screen = own_player(), own_screen(plain=plain, no_color=no_color)
    with ended_as_by_ctrl_c():
        at_server(where, player, lambda connection: _watch(connection, table, screen, follow=follow))


async def _watch(connection: Connection, code: str, screen: Screen, *, follow: bool) -> None:
    table = await connection.watch(code)
    # Without a terminal nothing is read, so the end of the input ends nothing.
    async with lines_of(screen) if sys.stdin.isatty() else nullcontext() as lines:
        watcher = Watcher(table, screen, lines)
        while ended := await watcher.watch():
            screen.say(Sentence("watching.transcript", path=ended.transcript))
            tell_commands(screen, ended.transcript)
            if not follow:
                return


_WORDS: Final = (CHAT, "? table", "? rules", "quit")
_TRICK_OVER: Final = ("trick_won", "trick_tied")


class Watcher:
    """One person without a seat at one table; without `lines` nothing that they type is read."""

    def __init__(self, table: Table, screen: Screen, lines: Lines | None = None) -> None:
        self._table = table
        self._screen = screen
        self._lines = lines
        self._variant = ""
        self._is_unchecked = False
        self._is_behind = False

    async def watch(self) -> MatchEnded | None:
        """Watch until a match has ended; None if the person leaves or the table is gone.

        Raises:
            ClientError: The table cannot be followed any longer.
        """
        async with tasks_beside() as nursery:
            # In a task of its own, so that a reply that does not come keeps nobody from leaving.
            if self._lines is not None:
                nursery.start_soon(self._listen, self._lines, nursery.cancel_scope)
            self._set_question()
            async for happening in self._table:
                self.show(happening)
                self._set_question()
                if isinstance(happening, MatchEnded):
                    return happening
        return None

    async def _listen(self, lines: Lines, watching: trio.CancelScope) -> None:
        """Do what is typed, until it is to leave."""
        while True:
            text = (await lines.receive()).text
            line = text and spelled(text, self._screen.look.speech)
            if line is None or line.lower() in QUIT:
                watching.cancel()
                return
            await self._obey(line)
            self._set_question()

    async def _obey(self, text: str) -> None:
        match text.partition(" ")[0].lower():
            case "":
                pass
            case kind if kind == CHAT:
                await talk(self._table, self._screen, text)
            case _ if (subject := asked_about(text)) is not None:
                self._help(subject.strip())
            case _:
                self._note("expected", "red", got=said_again(text))

    def _help(self, asked: str) -> None:
        match, subject = self._table.match, with_english_command(asked, self._screen.look.speech)
        if subject.lower() == TABLE and self._is_unchecked:
            self._note("not_given", "yellow")
        elif subject and match is not None:
            rules = chapter_texts(match.ledger.setup.terms.variant, self._screen.lang)
            self._screen.explain_one(subject.lower(), None, rules)
        else:
            self._note("help")

    def _set_question(self) -> None:
        draw = None if self._is_unchecked else self._screen.table(self._variant)
        words = tuple(commands_typed(_WORDS, self._screen.look.speech))
        self._screen.set_question(Question(text=self._said("prompt"), words=words, draw=draw))

    def _said(self, key: str) -> str:
        return self._screen.look.speech.catalogue.watching[key]

    def _note(self, key: str, style: str = "", **values: object) -> None:
        self._screen.say(Sentence(f"watching.{key}", **values), style)

    def show(self, happening: Happening) -> None:
        """Show what happened."""
        match happening:
            case RecordSeen():
                self._show_record(happening)
            case RecordUnchecked():
                self._show_unchecked(happening.means)
            case SnapshotTaken():
                self._join_in(happening)
            case Resumed(k):
                self._note("caught_up", "dim", k=k)
                self._screen.note_line(is_lost=False)
                self._is_behind = True
            case Interrupted(reason):
                self._screen.lose(Sentence("watching.interrupted", reason=reason))
            case MatchWaits(what="decision"):
                pass  # the table shows who is waited for, and the decision will be told
            case MatchStarted(variant=variant):
                self._variant, self._is_unchecked = variant, False
                self._screen.show(happening)
            case _:
                self._screen.show(happening)

    def _show_record(self, record: RecordSeen) -> None:
        """Tell a record; draw the table after a trick, and before a hand is cleared away, with the opened cards."""
        facts = {fact["what"]: fact for fact in record.means}
        # Before the record is shown, which clears the hand away.
        if "hand_closed" in facts:
            self._draw_end(facts.get("hands_opened"))
        self._screen.show(record)
        # Whoever comes in the middle, or comes back, is sent many
        # records at once: the table is drawn when all are there.
        is_newest = self._table.match is None or record.k + 1 == self._table.match.next
        has_caught_up, self._is_behind = self._is_behind and is_newest, self._is_behind and not is_newest
        is_new_trick = any(what in facts for what in _TRICK_OVER)
        # The last fact is always `state` (facts.md).
        state = record.means[-1]
        goes_on = state.get("phase") == "hand" and state.get("waiting")
        if goes_on and (has_caught_up or is_new_trick):
            self._draw(self._variant)

    def _draw(self, title: str) -> None:
        if not self._screen.is_plain and self._screen.pose is None:
            self._screen.show_table(title)

    def _draw_end(self, opened: Fact | None) -> None:
        if opened is None:
            self._draw(self._variant)
        elif not self._screen.is_plain and self._screen.pose is None:
            board = with_all_open(self._screen.board, opened["cards"])
            self._screen.show_table(self._said("all_open"), board)

    def _show_unchecked(self, means: tuple[Fact, ...]) -> None:
        if not self._is_unchecked:
            self._note("not_given", "yellow")
        self._is_unchecked = True
        screen = self._screen
        named = [fact for fact in means if isinstance(fact.get("what"), str)]
        for fact in as_told(named):
            if told := self._told_unchecked(fact):
                self._note("unchecked", told=told)
        # Of an unchecked record the score alone; a table drawn from it would look like one that was checked.
        if named and is_state_of(screen.board, named[-1]):
            screen.show_unchecked(named[-1])
        if any(fact["what"] == "hand_closed" for fact in named):
            score = score_line(screen.board, screen.look)
            self._note("unchecked", told=screen.look.speech.say("screen.new_score", score=score))

    def _told_unchecked(self, fact: Fact) -> str | None:
        """Return the sentence for a fact; None too for one that makes none, as a server may say anything here."""
        try:
            return sentence(fact, self._screen.board, self._screen.look)
        except (LookupError, TypeError, ValueError, AttributeError):
            return None

    def _join_in(self, snapshot: SnapshotTaken) -> None:
        if snapshot.skipped:
            self._note("skipped", "yellow")
        if is_state_of(self._screen.board, snapshot.view):
            self._screen.show_unchecked(snapshot.view)
            self._screen.show_score()
        self._note("snapshot", "dim", k=snapshot.k)
