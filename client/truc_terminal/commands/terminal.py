"""The terminal of a player: its options, where lines come from, yes-or-no questions, and leaving it as it was.

A question is in the player's language, and `y` and `n` are valid answers in every one.
"""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypedDict

import click
import trio
from rich.console import Console

from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.screen.person import QUIT, Lines, Typed, readable, typed_lines
from truc_terminal.screen.screen import Screen
from truc_words import Sentence, Speech, catalogue, in_language, with_english_command

if TYPE_CHECKING:
    from truc_terminal.screen.prompt import Prompt

_ENDING: Final = ("SIGHUP", "SIGTERM")  # Windows lacks the first
_TYPED_AHEAD: Final = 100  # lines; more must be an accidental paste, and is dropped
_ID_DIGITS: Final = 6  # of a match's id: enough to find it in a home, few enough for a line of 80 columns

_plain_option: Final = click.option(
    "--plain", is_flag=True, help="Print plain text line by line: for a screen reader or a script."
)
_color_option: Final = click.option(
    "--no-color", is_flag=True, help="Print without colours, as with $NO_COLOR in the environment."
)


def screen_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how its screen looks."""
    return lang_option(_plain_option(_color_option(command)))


def own_screen(*, plain: bool, no_color: bool) -> Screen:
    """Return the screen on standard output: plain if it is no terminal, or should not be treated as one."""
    console = Console(force_terminal=False if plain else None, no_color=no_color or None, highlight=False)
    return Screen(console, spoken(), os.environ.get("TERM", ""))


@asynccontextmanager
async def lines_of(screen: Screen) -> AsyncIterator[Lines]:
    """Read the player's lines as long as the block lasts: at a prompt, or line by line where there can be none."""
    if not _has_prompt(screen):
        async with typed_lines() as lines:
            yield lines
        return
    # Slow to import, and not needed by a script or for plain text.
    from truc_terminal.screen.prompt import Prompt

    # One place more, for the end of the input: the prompt's thread cannot wait, and must always get that in.
    send, receive = trio.open_memory_channel[Typed](_TYPED_AHEAD + 1)
    token = trio.lowlevel.current_trio_token()
    # The prompt calls from its own thread.
    prompt = Prompt(
        lambda text: token.run_sync_soon(_deliver, send, Typed(text and readable(text))),
        is_coloured=screen.is_coloured,
    )
    async with _running(prompt):
        screen.pose = prompt.pose
        try:
            yield Lines(receive, are_typed=True)
        finally:
            screen.pose = None


def _deliver(send: trio.MemorySendChannel[Typed], line: Typed) -> None:
    if send.statistics().current_buffer_used < _TYPED_AHEAD or line.text is None:
        send.send_nowait(line)


def _has_prompt(screen: Screen) -> bool:
    # A prompt moves the cursor, and sends itself the signals of POSIX.
    is_able = os.environ.get("TERM") != "dumb" and os.name == "posix"
    return is_able and not screen.is_plain and sys.stdin.isatty() and sys.stdout.isatty()


@asynccontextmanager
async def _running(prompt: "Prompt") -> AsyncIterator[None]:
    """Run a prompt in a thread; what is printed meanwhile appears above it. It ends with the block."""
    token, started = trio.lowlevel.current_trio_token(), trio.Event()

    def run() -> None:
        try:
            prompt.run(lambda: token.run_sync_soon(started.set))
        finally:
            token.run_sync_soon(started.set)

    try:
        # Whatever is printed, also by code that knows of no
        # prompt, would stand in the middle of what is typed.
        with redirect_stdout(prompt.above), redirect_stderr(prompt.above):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.to_thread.run_sync, run)
                try:
                    # A prompt that has not started cannot be stopped: a block
                    # cancelled meanwhile would wait for its thread for ever.
                    with trio.CancelScope(shield=True):
                        await started.wait()
                    yield
                finally:
                    prompt.stop()
    finally:
        prompt.above.close()


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Let the loss of the terminal, and being told to end, end the block as Ctrl-C does: nothing is left behind.

    Ctrl-C ends it even if the process was started with SIGINT ignored, as shells do for background commands.
    """
    signals = (getattr(signal, name) for name in _ENDING if hasattr(signal, name))
    handlers = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(signals, _interrupt)}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # Not KeyboardInterrupt: Trio's own handler of SIGINT raises that where it may be raised.
    signal.raise_signal(signal.SIGINT)


class PlayingOptions(TypedDict):
    """The values of the options for playing in person."""

    name: str | None
    guest: bool
    plain: bool
    no_color: bool
    teach: bool
    play_on: bool


name_option: Final = click.option("--name", help="The name shown to others.")
guest_option: Final = click.option("--guest", is_flag=True, help="Play without a key.")
teach_option: Final = click.option(
    "--teach", is_flag=True, help="Explain why things happen, and what each option means."
)
play_on_option: Final = click.option(
    "--play-on",
    is_flag=True,
    help="Play your first card when your time is nearly over. Where the seats deal, a turn without an answer gives the hand up.",
)


def playing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options for playing in person."""
    return name_option(guest_option(screen_options(teach_option(play_on_option(command)))))


def yes_or_no(text: str, lang: str) -> bool | None:
    """Return whether an answer means yes; None if it means neither yes nor no."""
    words, answer = catalogue(lang), text.strip().casefold()
    if answer in ("y", *words.yes):
        return True
    return False if answer in ("n", *words.no) else None


async def ask_yes_or_no(
    screen: Screen, lines: Lines, key: str, *, default: bool, **values: object
) -> bool | None:
    """Ask until the answer is yes or no; an empty line means the default; None if the player leaves."""
    try:
        while True:
            screen.ask(key, **values)
            text = (await lines.receive()).text
            if not text:
                return default if text is not None else None
            if with_english_command(text, Speech(screen.lang)).strip().casefold() in QUIT:
                return None
            answer = yes_or_no(text, screen.lang)
            if answer is not None:
                return answer
            screen.note("y_or_n", "red")
    finally:
        screen.answered()


def confirm(question: Sentence, lang: str) -> bool:
    """Ask on standard input, before there is a screen; an empty line means no, end of input ends the command."""
    while True:
        # On standard error, as standard output may be read by a program.
        text = click.prompt(
            in_language(question, lang), default="", show_default=False, prompt_suffix=" ", err=True
        )
        answer = yes_or_no(text, lang) if text else False
        if answer is not None:
            return answer
        click.echo(in_language(Sentence("screen.y_or_n"), lang), err=True)


def tell_commands(screen: Screen, transcript: Path) -> None:
    """Name the commands that show the match of a transcript kept in the home."""
    match = transcript.name[:_ID_DIGITS]
    screen.note(
        "look_again", "dim", replay=f"truc replay {match}", report=f"truc report {match} -o {match}.html"
    )
