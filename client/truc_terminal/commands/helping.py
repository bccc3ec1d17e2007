"""Help and usage errors in the language of the user: the texts of the commands, translated.

The English texts are those of the commands themselves; a file for each other language maps each text to its
translation. A text that is changed has no translation until somebody writes it: until then it stays English, and a
test says so.
"""

import gettext
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final, TypeVar

import click
import msgspec

from truc_commands.program import Program, reworded, without_markdown
from truc_words import LANGUAGES, Sentence, chosen_language

C = TypeVar("C", bound=click.Command)

_LANG: Final = "--lang"


class Help(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of help in one language, by the English text."""

    commands: Mapping[str, str] = {}
    """By a paragraph of a command's text, its line in a list, or the text of an option."""
    manual: Mapping[str, str] = {}
    """The headings of a `man` page."""
    click: Mapping[str, str | tuple[str, str]] = {}
    """The texts of click itself: one text, or singular and plural."""


@cache
def help_in(lang: str) -> Help:
    """Return the texts of help in a language; none without a file for it, as for English, which is in the commands."""
    file = files("truc_terminal.commands").joinpath(f"help/{lang}.toml")
    return (
        msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Help) if file.is_file() else Help()
    )


class SpokenGroup(Program):
    """The top command: help and errors of all commands are in the language asked for, else that of the environment."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> Any:
        """Run the command in the language asked for."""
        # Before click reads anything: what it says of a command
        # line that is wrong is to be in this language too.
        lang = _asked(sys.argv[1:] if args is None else args)
        with click_in(lang):
            group = translated(self, lang, without_markdown)
            # The group's own `main` would translate it once more.
            return click.Group.main(group, args, *rest, **named)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a player meets them, not alphabetically."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; an error becomes one line."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            # Slow to import, and imported by whatever has raised a ClientError.
            from truc_client.errors import ClientError
            from truc_terminal.commands.output import FailedError

            if isinstance(error, ClientError):
                raise FailedError(str(error)) from error
            raise

    def refused(self, error: OSError) -> click.ClickException:
        """Return the error for something that the system refuses to give, such as room on a full disk."""
        from truc_client.errors import system_reason  # slow to import
        from truc_terminal.commands.output import FailedError

        reason = system_reason(error)
        if error.filename is not None:
            return FailedError(Sentence("failures.cannot_use", path=error.filename, reason=reason))
        return FailedError(Sentence("commands.refused_by_system", reason=reason))


def translated(command: C, lang: str, shown: Callable[[str], str] = str) -> C:
    """Return a command, with its subcommands, with help in a language; `shown` says how its texts are written."""
    said = help_in(lang).commands
    return reworded(command, lambda text: shown(said.get(text, text)))


@contextmanager
def click_in(lang: str) -> Iterator[None]:
    """Let click speak a language as long as the block lasts.

    Click asks gettext, which reads only catalogues of its own format; so the two functions it calls are replaced here.
    """
    asked = gettext.dgettext, gettext.dngettext
    said = {text: (it, it) if isinstance(it, str) else it for text, it in help_in(lang).click.items()}

    def one(domain: str, message: str) -> str:
        del domain
        return said.get(message, (message, message))[0]

    def counted(domain: str, msgid1: str, msgid2: str, n: int) -> str:
        del domain
        return said.get(msgid1, (msgid1, msgid2))[n != 1]

    gettext.dgettext, gettext.dngettext = one, counted
    try:
        yield
    finally:
        gettext.dgettext, gettext.dngettext = asked


def _asked(words: Sequence[str]) -> str:
    """Return the language that the command line asks for, if we have it; else that of the environment."""
    parts = (part for word in words for part in word.split("=", 1))
    given = dict(pairwise(parts)).get(_LANG)
    return given if given in LANGUAGES else chosen_language(None, os.environ)
