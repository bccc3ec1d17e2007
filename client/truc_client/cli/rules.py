"""`truc rules`: the games, and the rules of one of them, wherever it is described."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import click

from truc_client.account import Player
from truc_client.cli.common import (
    FailedError,
    lang_option,
    language,
    player_name,
    run,
    tell_delay,
    tell_new_key,
)
from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_client.home import Home, default_root, has_seed, open_home
from truc_protocol.checks import CheckError
from truc_protocol.documents import read_document
from truc_protocol.house_variants import HouseVariantError, preset_called, read_variant
from truc_protocol.messages import VariantOffer
from truc_protocol.rules_page import games, rules_page, summary
from truc_protocol.transcript import MAX_FILE, read_document_item
from truc_protocol.variant_files import variant_file
from truc_protocol.words import ENGLISH, printable
from truc_protocol.words_page import words_page

_VARIANT: Final = ".toml"
_TRANSCRIPT: Final = ".truc"

T = TypeVar("T")


@click.command(short_help="List the games, or print the rules of one.")
@click.argument("game", required=False, metavar="[NAME|FILE]")
@click.option("--from", "address", metavar="ADDRESS", help="Ask the server at ADDRESS for its games.")
@click.option("--toml", "as_toml", is_flag=True, help="Print a file with every field, to make a variant of.")
@lang_option
def rules(game: str | None, address: str | None, lang: str | None, *, as_toml: bool) -> None:
    """List the games, or print the rules of one: by NAME, from a variant FILE.toml or a transcript FILE.truc."""
    if game is None:
        told = _games() if address is None else _games_of(address)
    else:
        told = _page(game, address, language(lang), as_toml=as_toml)
    for line in told.splitlines():
        click.echo(printable(line))


def _games() -> str:
    return "\n".join(f"{game:22} {summary(game)}" for game in games())


def _games_of(address: str) -> str:
    offers = _asked(address, _offers)
    return "\n".join(
        f"{printable(offer.name):22} {'/'.join(map(str, offer.seats))} players" for offer in offers
    )


def _page(game: str, address: str | None, lang: str, *, as_toml: bool) -> str:
    try:
        if address is not None:
            variant = read_document(_asked(address, lambda connection: connection.rules(game)))
        elif game.endswith(_VARIANT):
            variant = read_variant(Path(game).read_text("utf-8"), game)
        elif game.endswith(_TRANSCRIPT):
            variant = read_document(_document(Path(game)))
        else:
            variant = preset_called(game)
    except (HouseVariantError, CheckError) as error:
        raise FailedError(str(error)) from error
    except OSError as error:
        raise FailedError(f"cannot read {game}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FailedError(f"cannot read {game}: it is no text") from error
    if as_toml:
        return variant_file(variant)
    page = rules_page(variant)
    return page if lang == ENGLISH.lang else f"{page}\n{words_page(variant, lang)}"


def _document(file: Path) -> bytes:
    if file.stat().st_size > MAX_FILE:
        raise CheckError("C41", f"expected at most {MAX_FILE} bytes")
    document, _ = read_document_item(file.read_bytes())
    return document


async def _offers(connection: Connection) -> tuple[VariantOffer, ...]:
    return connection.info.variants


def _asked(address: str, question: Callable[[Connection], Awaitable[T]]) -> T:
    """Connect to a server, ask it one thing and return the answer."""
    answers: list[T] = []

    async def main() -> None:
        with _reader() as player:
            async with connect(address, player) as connection:
                answers.append(await question(connection))

    run(main)
    return answers[0]


@contextmanager
def _reader() -> Iterator[Player]:
    """Yield who asks: the player of this home, else a guest of whom nothing is kept."""
    root = default_root(os.environ)
    if has_seed(Home(root)):
        yield Player(
            open_home(root), player_name(None, Home(root)), on_new_key=tell_new_key, on_delay=tell_delay
        )
        return
    with tempfile.TemporaryDirectory(prefix="truc-rules-") as folder:
        yield Player(open_home(Path(folder)), player_name(None, Home(root)), is_guest=True)
