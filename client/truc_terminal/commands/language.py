"""The language that a command speaks: that of `--lang`, before the command or after it, else that of the locale."""

import os
from typing import IO, Final

import click

from truc_words import LANGUAGES, LanguageError, Sentence, chosen_language, in_language, printable

_KEPT: Final = "truc_client.lang"


def spoken() -> str:
    """Return the language spoken now."""
    context = click.get_current_context(silent=True)
    kept: str | None = None if context is None else context.meta.get(_KEPT)
    return kept or chosen_language(None, os.environ)


class _UnknownLanguageError(click.ClickException):
    """There are no texts in this language: one line on standard error, and exit status 1."""

    def show(self, file: IO[str] | None = None) -> None:
        """Print the line; always on standard error."""
        click.echo(printable(f"truc: {self.message}"), err=True)


def _keep(context: click.Context, _option: click.Parameter, given: str | None) -> None:
    """Note the language for everything that the command says, including errors in its other options.

    Raises:
        ClickException: There are no texts in the language given.
    """
    # A shell that completes a word must not be stopped by a language that does not exist.
    if context.resilient_parsing or (given is None and _KEPT in context.meta):
        return  # what was said before the command holds for it
    try:
        context.meta[_KEPT] = chosen_language(given, os.environ)
    except LanguageError as error:
        wanted = {"langs": ", ".join(LANGUAGES), "got": repr(given)}
        raise _UnknownLanguageError(
            in_language(Sentence("commands.language_expected", **wanted), spoken())
        ) from error


lang_option: Final = click.option(
    "--lang",
    metavar="|".join(LANGUAGES),
    help="Language of the output; by default that of the locale.",
    # Read before all other options, so that what is wrong with those is said in this language.
    is_eager=True,
    expose_value=False,
    callback=_keep,
)
"""The language that `spoken` returns."""
