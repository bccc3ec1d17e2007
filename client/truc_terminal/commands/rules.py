"""`truc rules`: the list of games, and the rules of one game, wherever it is described.

Variant files given to commands: read, or refused with what is wrong.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from typing import Final, NamedTuple

import click

from truc_client.connection import Connection
from truc_client.errors import HomeError
from truc_client.verifying import read_file, why_unreadable
from truc_protocol.checks import CheckError
from truc_protocol.documents import read_document
from truc_protocol.messages import VariantOffer
from truc_protocol.transcript import read_document_item
from truc_rules import Variant
from truc_rules.variants.house import MAX_FILE, HouseVariantError
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FailedError
from truc_terminal.commands.player import ask
from truc_terminal.replay_model.faces import Faces
from truc_terminal.screen.glyphs import needs_ascii
from truc_terminal.screen.markdown import rendered
from truc_terminal.screen.wrapping import wrapped
from truc_words import ENGLISH, Sentence, in_language, printable
from truc_words.house_variants import preset_called, read_variant, variant_file
from truc_words.rules_page import listed_games, rules_page
from truc_words.words_page import words_page

VARIANT_FILE: Final = ".toml"


class ListedGame(NamedTuple):
    """A game, and the text that describes it unless it is a preset."""

    variant: Variant
    text: str | None


def read_text(file: str) -> str:
    """Read the text of a file.

    Raises:
        FailedError: It cannot be read, or is not text.
    """
    try:
        return _read(file, MAX_FILE).decode()
    except UnicodeDecodeError as error:
        reason = Sentence("failures.no_text")
        raise FailedError(Sentence("failures.cannot_read", path=file, reason=reason)) from error


def _read(file: str, *most: int) -> bytes:
    try:
        return read_file(Path(file), *most)
    except (HomeError, OSError) as error:
        reason = why_unreadable(error)
        raise FailedError(Sentence("failures.cannot_read", path=file, reason=reason)) from error


def game_called(given: str) -> ListedGame:
    """Return a preset by its name, or the game that a file describes.

    Raises:
        FailedError: There is no such game, or the file is wrong; the message says how.
    """
    try:
        if not given.endswith(VARIANT_FILE):
            return ListedGame(preset_called(given, Sentence("failures.others_in_files")), None)
        text = read_text(given)
        return ListedGame(read_variant(text, given), text)
    except HouseVariantError as error:
        raise FailedError(str(error)) from error


_TRANSCRIPT: Final = ".truc"


@click.command()
@click.argument("game", required=False, metavar="[NAME|FILE]")
@click.option("--from", "address", metavar="ADDRESS", help="Ask the server at ADDRESS for its games.")
@click.option("--toml", "as_toml", is_flag=True, help="Print a file with every field, to make a variant of.")
@lang_option
def rules(game: str | None, address: str | None, *, as_toml: bool) -> None:
    """List the games, or print the rules of one: by NAME, from a variant FILE.toml or a transcript FILE.truc."""
    if game is not None:
        text = _page(game, address, spoken(), as_toml=as_toml)
    elif address is None:
        text = "\n".join(listed_games(spoken())).lstrip("\n")
    else:
        text = "\n".join(map(_offered, ask(address, _offers)))
    is_page = game is not None and not as_toml
    for line in _for_people(text) if is_page and sys.stdout.isatty() else text.splitlines():
        click.echo(printable(line))


def _for_people(page: str) -> Iterator[str]:
    """Yield a page as it is read on a terminal: Markdown is for files and for programs."""
    # Only a page of a game with the Spanish pack explains the suit `o`.
    faces = Faces("`o`" in page, needs_ascii(sys.stdout.encoding, os.environ.get("TERM", "")))
    width = get_terminal_size().columns
    for line in rendered(page.splitlines(), faces, width):
        yield from wrapped(line, width)


def _offered(offer: VariantOffer) -> str:
    game, seats = f"{printable(offer.name):22}", "/".join(map(str, offer.seats))
    return in_language(Sentence("listing.game_of_server", game=game, seats=seats), spoken())


def _page(game: str, address: str | None, lang: str, *, as_toml: bool) -> str:
    try:
        if address is not None:
            variant = read_document(ask(address, lambda connection: connection.rules(game)))
        elif game.endswith(VARIANT_FILE):
            variant = read_variant(read_text(game), game)
        elif game.endswith(_TRANSCRIPT):
            document, _ = read_document_item(_read(game))
            variant = read_document(document)
        else:
            variant = preset_called(game, Sentence("failures.others_of_server"))
    except (HouseVariantError, CheckError) as error:
        raise FailedError(str(error)) from error
    if as_toml:
        return variant_file(variant)
    page = rules_page(variant, lang)
    return page if lang == ENGLISH.lang else f"{page}\n{words_page(variant, lang)}"


async def _offers(connection: Connection) -> tuple[VariantOffer, ...]:
    return connection.info.variants
