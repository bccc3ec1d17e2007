"""A person at a terminal: what happens is shown, a typed line decides, and leaving is always possible.

Lines come from a prompt, or from a worker thread that reads them and is abandoned when the program ends; the latter
changes nothing about the terminal. If a script types, each line waits for a question, and a match that rests counts as
one; only `pause` does not wait, once a match has begun.

What was typed is done beside what happens: a request that has no reply yet, for the connection may be lost, keeps nobody
from being told so, nor from leaving. What goes wrong with talk, or with a claim, is told in the player's language.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

import trio

from truc_client.connecting import tasks_beside
from truc_client.errors import ChoiceError, ClientError, RefusedError
from truc_client.happenings import (
    Happening,
    MatchEnded,
    MoveChoice,
    RecordSeen,
    SeatLost,
    TableGone,
    YourTurn,
)
from truc_client.table import Table
from truc_protocol.errors import Code
from truc_protocol.messages.fields import CHAT_LENGTH
from truc_terminal.screen.drawing import sign_of
from truc_terminal.screen.explaining import TABLE, word_expected
from truc_terminal.screen.questions import CHAT
from truc_terminal.screen.screen import Screen
from truc_terminal.styles import Advise
from truc_words import Speech, time_label, typed_word, with_english_command
from truc_words.rules_page import chapter_texts

QUIT = ("q", "quit", "exit")
_PAUSE = "pause"
_ASKED = ("pause_asked", "resume_asked")
_MOST_AHEAD: Final = 100  # lines typed while a request has no reply
_LAST_S: Final = 2.0  # for what was typed before leaving
_PLAYED_ON_S: Final = 3.0  # before the time is over, or half of it
_CARDS: Final = ("play", "blind")


class Typed(NamedTuple):
    """A typed line, or None at the end of the input."""

    text: str | None


class Lines:
    """Lines in the order typed; the next can be looked at before it is taken.

    `are_typed` tells whether they come from a person at a terminal, who may type at any time.
    """

    def __init__(self, channel: trio.MemoryReceiveChannel[Typed], *, are_typed: bool = False) -> None:
        self._channel = channel
        self.are_typed = are_typed
        self._next: Typed | None = None

    async def peek(self) -> Typed:
        """Return the next line without taking it."""
        if self._next is None:
            self._next = await self._channel.receive()
        return self._next

    async def receive(self) -> Typed:
        """Take the next line and return it."""
        line = await self.peek()
        self._next = None
        return line


@asynccontextmanager
async def typed_lines() -> AsyncIterator[Lines]:
    """Read lines from standard input in the background, as long as the block lasts."""
    send, receive = trio.open_memory_channel[Typed](0)

    async def forward() -> None:
        while True:
            line = await trio.to_thread.run_sync(_standard_input, abandon_on_cancel=True)
            await send.send(Typed(line.strip() if line else None))
            if not line:
                return

    async with tasks_beside() as nursery:
        nursery.start_soon(forward)
        yield Lines(receive, are_typed=sys.stdin.isatty())


def _standard_input() -> str:
    """Return a line; empty at the end of the input, and for a closed terminal."""
    try:
        return readable(sys.stdin.readline())
    except OSError:
        return ""
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}\n"


def readable(typed: str) -> str:
    """Return what was typed in UTF-8; a sign stands for each byte of another encoding, which could be sent to nobody."""
    return typed.encode(errors="surrogateescape").decode(errors="replace")


class Person:
    """One person at one table; `advise`, if given, thinks about each of their turns while they do.

    Whoever `plays_on` has the card of the lowest slot played just before the time of a turn is over, as a ruling would in mode dealt:
    where the seats deal, nobody else can open a card, and a ruled turn is conceded.

    Attributes:
        has_lost_seat: another connection or player has the seat, or the table was closed.
    """

    def __init__(
        self,
        table: Table,
        screen: Screen,
        lines: Lines,
        advise: Advise | None = None,
        *,
        plays_on: bool = False,
    ) -> None:
        self._table = table
        self._screen = screen
        self._lines = lines
        # A script cannot see when it is asked, so its lines wait for that; a person types when they like.
        self._waits = screen.is_plain and not lines.are_typed
        self._advise = advise
        self._plays_on = plays_on
        self._turn: YourTurn | None = None
        self._set_aside: YourTurn | None = None  # while a request is sent
        self._among: YourTurn | None = None
        self._considered: YourTurn | None = None
        self._asked = trio.Event()
        self._resigning = False
        self._awaits_own = False
        self.has_lost_seat = False

    async def play(self) -> MatchEnded | None:
        """Play until the match has ended; None when the person leaves or the table closes.

        Raises:
            ClientError: The match cannot go on.
        """
        give, typed = trio.open_memory_channel[Typed](_MOST_AHEAD)
        try:
            async with tasks_beside() as nursery:
                nursery.start_soon(self._forward_lines, give, nursery.cancel_scope)
                # Beside what happens: a request without a reply must keep
                # nobody from being told that the line is lost, or from leaving.
                nursery.start_soon(self._obey_lines, typed, nursery.cancel_scope)
                async for happening in self._table:
                    if not self._take(happening):
                        return happening if isinstance(happening, MatchEnded) else None
                    self._offer()
                    self._consider(nursery)
        finally:
            self._screen.offer(None)
        return None

    async def _forward_lines(self, give: trio.MemorySendChannel[Typed], playing: trio.CancelScope) -> None:
        """Hand on each line; a player who wants to leave does so after a moment, even if earlier lines are not done."""
        while True:
            # Taken only once it is due: a line that was typed too early
            # stays for whoever reads next, as the question after the match.
            line = await self._lines.peek()
            if not self._is_at_once(line):
                await self._wait_asked()
            await self._lines.receive()
            self._close_question()
            await give.send(line)
            if self._leaves(line):
                await trio.sleep(_LAST_S)
                playing.cancel()
                return

    async def _obey_lines(self, typed: trio.MemoryReceiveChannel[Typed], playing: trio.CancelScope) -> None:
        async for line in typed:
            if self._leaves(line):
                playing.cancel()
                return
            await self._take_line(self._meaning(line.text or ""))
            self._offer()

    def _leaves(self, line: Typed) -> bool:
        return line.text is None or self._meaning(line.text).lower() in QUIT

    def _offer(self) -> None:
        """Have the screen ask what is to be decided now."""
        self._screen.offer(self._among or self._turn, asks_again=self._among is not None)

    def _is_at_once(self, line: Typed) -> bool:
        """Tell whether a line is obeyed even if nothing is asked."""
        return self._screen.knows_game and self._meaning(line.text or "").lower() == _PAUSE

    def _meaning(self, text: str) -> str:
        return spelled(text, self._screen.look.speech)

    async def _wait_asked(self) -> None:
        """Wait for a question if a script answers: each of its lines is for one."""
        while self._waits and not self._asked.is_set():
            await self._asked.wait()

    def _close_question(self) -> None:
        if self._asked.is_set():
            self._asked = trio.Event()

    def _take(self, item: Happening) -> bool:
        """Show one happening; tell whether to go on."""
        self._note_turn(item)
        self.has_lost_seat = isinstance(item, TableGone | SeatLost)
        rested = self._screen.awaits_resume
        self._screen.show(item)
        if self._screen.awaits_resume != rested:
            self._awaits_own = False
            self._update_asked()
        return not isinstance(item, MatchEnded | TableGone | SeatLost)

    def _consider(self, nursery: trio.Nursery) -> None:
        """Start for a new turn what is done beside it: the advice, and waiting for the end of its time, as far as wanted."""
        turn = self._turn
        if turn is None or not turn.must or turn is self._considered:
            return
        self._considered = turn
        if self._advise is not None:
            nursery.start_soon(self._suggest, self._advise, turn)
        if self._plays_on and turn.deadline_ms is not None and (card := _first_card(turn)) is not None:
            nursery.start_soon(self._play_on, turn, card, turn.deadline_ms / 1000)

    async def _play_on(self, turn: YourTurn, card: MoveChoice, left_s: float) -> None:
        """Play a card when the time of a turn is nearly over, unless something was decided by then."""
        await trio.sleep(left_s - min(_PLAYED_ON_S, left_s / 2))
        # Decided meanwhile, by the player or by a ruling: another act for the position would be stale.
        if self._turn is turn:
            self._screen.note("played_on", "yellow")
            await self._send(partial(self._table.choose, card))

    async def _suggest(self, advise: Advise, turn: YourTurn) -> None:
        """Show what to try, unless the turn is over by then."""
        advice = await advise(self._table, turn)
        if self._turn is turn:
            self._screen.tell_lessons(advice)

    def _note_turn(self, happening: Happening) -> None:
        before = self._turn
        self._take_turn(happening)
        if self._turn is not before:
            self._among = None

    def _take_turn(self, happening: Happening) -> None:
        match happening:
            case YourTurn() if self._awaits_own:
                self._set_aside = happening
            case YourTurn():
                self._turn = happening
            # Options expire with the next record (play.md, "Decisions").
            case RecordSeen(k=k, means=means):
                if any(fact["what"] in _ASKED and fact["seat"] == self._table.seat for fact in means):
                    self._awaits_own = False
                self._turn, self._set_aside = (
                    None if turn is None or k >= turn.at else turn for turn in (self._turn, self._set_aside)
                )
            case _:
                return
        self._update_asked()

    @property
    def _must_act(self) -> bool:
        return self._turn is not None and self._turn.must

    def _update_asked(self) -> None:
        """Let a script's next line be read only if there is a question."""
        if self._must_act or (self._screen.awaits_resume and not self._awaits_own):
            self._asked.set()
        else:
            self._close_question()

    async def _take_line(self, text: str) -> None:
        """Do what a line says, and ask once more what it was typed at if that still stands."""
        asked = self._turn
        await self._obey(text)
        if self._must_act and self._turn is asked:
            self._screen.prompt(asks_again=self._among is not None)
        self._update_asked()

    async def _obey(self, text: str) -> None:
        # Any line but a second `resign` takes the first one back.
        resigning, self._resigning = self._resigning, False
        among, self._among = self._among, None
        match text.lower():
            case "resign":
                await self._resign(sure=resigning)
            case _ if text.lower() == _PAUSE:
                await self._ask_rest(self._table.pause)
            case "resume":
                await self._ask_rest(self._table.unpause)
            # In some games it is a move too (rules.md 8.6, *pido flor*), which comes first.
            case "claim" if not self._means_option(text):
                await claim(self._table, self._screen)
            case word if (subject := asked_about(word)) is not None:
                self._help(subject)
            case word if word.partition(" ")[0] in TALK:
                await talk(self._table, self._screen, text)
            case _ if text:
                await self._choose(text, among)
            case _:
                pass

    def _means_option(self, text: str) -> bool:
        """Tell whether a line is a move available now."""
        return self._turn is not None and bool(self._screen.choices_meant(self._turn, text)[0])

    def _help(self, asked: str) -> None:
        match, subject = self._table.match, with_english_command(asked, self._screen.look.speech)
        if match is None and subject.strip() == TABLE:
            self._screen.explain_one(TABLE, None, {})
        elif subject.strip() and match is not None:
            rules = chapter_texts(match.ledger.setup.terms.variant, self._screen.lang)
            self._screen.explain_one(subject.strip(), self._turn, rules)
        elif self._turn is None:
            self._screen.note(self._unasked("not_your_turn"))
        else:
            self._screen.explain(self._turn)

    def _unasked(self, in_play: str) -> str:
        """Return the note for a line typed when nothing is asked; `in_play` if a match is on and does not rest."""
        if not self._screen.look.names:
            return "not_begun"
        return "resting" if self._screen.rests else in_play

    async def _resign(self, *, sure: bool) -> None:
        if sure:
            await self._send(self._table.resign)
        else:
            self._resigning = bool(self._screen.look.names)
            self._screen.note("sure" if self._resigning else "not_begun")

    async def _ask_rest(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Ask for a pause or its end; a turn reported before this request is recorded is void, and no question."""
        self._awaits_own = True
        await self._send(ask)

    async def _send(self, request: Callable[[], Awaitable[None]]) -> None:
        """Send a request that decides something: the options so far are void, unless it is refused."""
        self._turn, self._set_aside = None, self._turn
        self._update_asked()
        self._screen.await_server()
        try:
            await request()
        except (ChoiceError, RefusedError) as error:
            self._screen.say(str(error), "red")
            self._awaits_own = False
            self._turn = self._turn or self._set_aside
        self._set_aside = None

    def _why_not(self, line: str) -> str | None:
        return None if self._table.match is None else self._table.match.why_not(line)

    async def _choose(self, text: str, among: YourTurn | None) -> None:
        """Choose what a line means, first among the options that were asked about once more, if any were."""
        turn = self._turn
        if turn is None:
            self._screen.note(self._unasked("not_yet"))
            return
        choices, place = self._screen.choices_meant(among, text) if among else ((), None)
        if not choices:
            choices, place = self._screen.choices_meant(turn, text)
        match choices:
            case ():
                self._screen.tell_mistake(text, turn, self._why_not)
            case (choice,):
                await self._send(partial(self._table.choose, choice, place=place))
            case _:
                self._among = turn._replace(options=choices)
                self._screen.list_options(self._among)


def _first_card(turn: YourTurn) -> MoveChoice | None:
    """Return the move that plays the card in the lowest slot and asks nothing; None where no card is to be played."""
    # The options come in the order of the slots.
    plain = (choice for choice in turn.options if choice.kind in _CARDS and " raise " not in choice.line)
    return next(plain, None)


_SIGN: Final = "sign"
_SAY: Final = "say"
_ASKS: Final = "?"
_HELP: Final = ("h", "help")
_SUBJECTS: Final = ("table", "rules")
TALK: Final = (_SIGN, _SAY, CHAT)
SHORT: Final[Mapping[str, str]] = MappingProxyType({"'": CHAT, "!": _SAY, "*": _SIGN})
"""What a mark at the beginning of a line stands for."""


def spelled(line: str, speech: Speech) -> str:
    """Return a line with its command, which may be a mark or a word of the player's language, in English."""
    kind = SHORT.get(line[:1])
    return with_english_command(line, speech) if kind is None else f"{kind} {line[1:].lstrip()}"


def asked_about(line: str) -> str | None:
    """Return what a line asks to be explained, empty if it is everything; None if it asks for nothing."""
    command, _, subject = line.partition(" ")
    if line.startswith(_ASKS):
        return line.removeprefix(_ASKS)
    if command.lower() in _HELP:
        return subject
    return line if line.lower() in _SUBJECTS else None


async def talk(table: Table, screen: Screen, line: str) -> None:
    """Sign or say what a line asks for, and tell what came of it."""
    kind, _, rest = line.partition(" ")
    word = rest.strip().lower()
    try:
        if kind.lower() == CHAT and not word:
            screen.note("explain_end")
        elif kind.lower() == CHAT:
            await _chat(table, screen, rest.strip())
        elif kind.lower() == _SIGN:
            await _sign(table, screen, word)
        else:
            await _say(table, screen, word)
    except RefusedError as error:
        if error.code == Code.MUTED:
            screen.note("muted", "red")
        else:
            screen.say(str(error), "red")
    except ClientError as error:
        screen.say(str(error), "red")


async def claim(table: Table, screen: Screen) -> None:
    """Ask to end a match that the other side has left, and say so if it is too early."""
    try:
        await table.claim()
    except RefusedError as error:
        if error.code == Code.NOT_NOW and error.retry_after_ms is not None:
            screen.note("claim_early", "red", time=time_label(error.retry_after_ms / 1000))
        else:
            screen.say(str(error), "red")
    except ClientError as error:
        screen.say(str(error), "red")


async def _chat(table: Table, screen: Screen, text: str) -> None:
    if len(text) > CHAT_LENGTH:
        screen.note("chat_too_long", "red", most=CHAT_LENGTH, n=len(text))
    else:
        await table.chat(text)


async def _sign(table: Table, screen: Screen, text: str) -> None:
    look = screen.look
    word = typed_word(text, look.signs, "sign", look.speech) if screen.knows_game else text
    if word is None:
        screen.say(word_expected(text, look.signs, "sign", look.speech), "red")
        return
    try:
        await table.sign(word)
    except ChoiceError:
        screen.note("nobody_sees", "red")
    except RefusedError as error:
        if error.code != Code.ILLEGAL_ACTION:
            raise
        screen.note("cannot_sign", "red", sign=sign_of(word, look))
    else:
        screen.note("you_sign", "magenta", sign=sign_of(word, look))


async def _say(table: Table, screen: Screen, text: str) -> None:
    look = screen.look
    phrase = typed_word(text, look.phrases, "phrase", look.speech) if screen.knows_game else text
    if phrase is None:
        screen.say(word_expected(text, look.phrases, "phrase", look.speech), "red")
    else:
        await table.say(phrase)
