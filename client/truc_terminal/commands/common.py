"""What every command shares: its language, one-line failures, the player's home and name, and table options.

The language is that of `--lang`, else of the locale; everything that a command prints is in it.

Yes-or-no questions, at a terminal or to a script: in the player's language, with `y` and `n` valid in every one.

What a player is told after a match: how to look at it again.
"""

import getpass
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from shutil import get_terminal_size
from typing import IO, Any, Final, TypeVar

import click
import trio

from truc_client.home.account import Delay, NewKey, Player
from truc_client.home.home import Home, default_root, has_seed, kept_name, master_seed, open_home
from truc_terminal.screen.person import QUIT, Lines
from truc_terminal.screen.screen import Screen
from truc_terminal.screen.wrapping import wrapped
from truc_words import LANGUAGES, LanguageError, Sentence, catalogue, chosen_language, printable, told

T = TypeVar("T")

INTERRUPTED: Final = 130
_NAME_BYTES: Final = 64
_MOST_DIGITS: Final = 6
_KEPT: Final = "truc_client.lang"

OPTION_HELP: Final = "A table option of a new table, such as target=24; may be given several times."


def spoken() -> str:
    """Return the language spoken now."""
    context = click.get_current_context(silent=True)
    kept: str | None = None if context is None else context.meta.get(_KEPT)
    return kept or chosen_language(None, os.environ)


class FailedError(click.ClickException):
    """An error that ends the command: one line on standard error, in the language spoken, and exit status 1."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(told(message, spoken())))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line; always on standard error."""
        tell(f"truc: {self.message}", err=True)


def tell(text: str, *, err: bool = False) -> None:
    """Print a line in the language spoken, wrapped between words on a terminal, which nothing in it can control."""
    line, stream = printable(told(text, spoken())), sys.stderr if err else sys.stdout
    parts = wrapped(line, get_terminal_size().columns) if stream.isatty() else [line]
    click.echo("\n".join(parts), err=err)


def usage_error(sentence: Sentence) -> click.UsageError:
    """Return the error for a command that was called wrongly, in the language spoken."""
    return click.UsageError(told(sentence, spoken()))


def _keep(context: click.Context, _option: click.Parameter, given: str | None) -> None:
    """Note the language for everything that the command says, including errors in its other options.

    Raises:
        FailedError: There are no texts in the language given.
    """
    if context.resilient_parsing:
        return
    try:
        context.meta[_KEPT] = chosen_language(given, os.environ)
    except LanguageError as error:
        wanted = {"langs": ", ".join(LANGUAGES), "got": repr(given)}
        raise FailedError(Sentence("commands.language_expected", **wanted)) from error


lang_option: Final = click.option(
    "--lang",
    metavar="|".join(LANGUAGES),
    help="Language of the output; by default that of the locale.",
    is_eager=True,
    expose_value=False,
    callback=_keep,
)
"""The language that `spoken` returns."""


def run(main: Callable[[], Awaitable[T]], farewell: Callable[[], str] = str) -> T:
    """Run a command under Trio, and return its result; on Ctrl-C print the farewell and exit with status 130."""
    try:
        return trio.run(main)
    except KeyboardInterrupt:
        if words := farewell():
            click.echo(err=True)
            tell(words, err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def own_home() -> Home:
    """Return the player's home.

    Raises:
        HomeError: It cannot be used.
    """
    return open_home(home_as_is().root)


def home_as_is() -> Home:
    """Return the player's home without creating it: it may not exist."""
    return Home(default_root(os.environ))


def tell_first_use(home: Home) -> None:
    """Make the player's key at the first use, and say what losing it means."""
    if not has_seed(home):
        master_seed(home)
        tell(Sentence("connecting.key_made", path=home.seed), err=True)


def own_player() -> Player:
    """Return the player of this home, whose key is made at the first use."""
    home = own_home()
    tell_first_use(home)
    return told_player(home, player_name(None, home))


def told_player(home: Home, name: str, *, is_guest: bool = False) -> Player:
    """Return a player who is told of new keys and delays; on standard error, so as not to disturb programs."""

    def say(news: NewKey | Delay) -> None:
        tell(str(news), err=True)

    return Player(home, name, is_guest, on_new_key=say, on_delay=say)


def player_name(given: str | None, home: Home) -> str:
    """Return the name to show: the one given, the one kept, or the system user's."""
    try:
        name = given or kept_name(home) or getpass.getuser()
    except (KeyError, OSError):
        name = "player"
    if len(name.encode()) > _NAME_BYTES:
        raise FailedError(Sentence("commands.name_too_long", most=_NAME_BYTES))
    return name


def table_options(pairs: tuple[str, ...]) -> dict[str, int | str]:
    """Read NAME=VALUE pairs."""
    options: dict[str, int | str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise FailedError(Sentence("commands.option_expected", got=repr(pair)))
        is_number = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
        options[name] = int(value) if is_number else value
    return options


def meant(text: str, lang: str) -> bool | None:
    """Return whether an answer means yes; None if it means neither yes nor no."""
    words, answer = catalogue(lang), text.strip().casefold()
    if answer in ("y", *words.yes):
        return True
    return False if answer in ("n", *words.no) else None


async def asked(screen: Screen, lines: Lines, key: str, *, default: bool, **values: object) -> bool | None:
    """Ask until the answer is yes or no; an empty line means the default; None if the player leaves."""
    while True:
        screen.note(key, "bold", **values)
        text = (await lines.receive()).text
        if not text:
            return default if text is not None else None
        if text.strip().casefold() in QUIT:
            return None
        answer = meant(text, screen.lang)
        if answer is not None:
            return answer
        screen.note("y_or_n", "red")


def confirmed(question: Sentence, lang: str) -> bool:
    """Ask on standard input, before there is a screen; an empty line means no, end of input ends the command."""
    while True:
        text = click.prompt(told(question, lang), default="", show_default=False, prompt_suffix=" ", err=True)
        answer = meant(text, lang) if text else False
        if answer is not None:
            return answer
        click.echo(told(Sentence("screen.y_or_n"), lang), err=True)


_DIGITS: Final = 6
"""How many digits of a match's id are shown: enough to find it in a home, few enough for a line of 80 columns."""


def tell_commands(screen: Screen, transcript: Path) -> None:
    """Name the commands that show the match of a transcript kept in the home."""
    match = transcript.name[:_DIGITS]
    screen.note(
        "look_again", "dim", replay=f"truc replay {match}", report=f"truc report {match} -o {match}.html"
    )
