"""`truc history`: the matches of this home, those that a server still has, and their transcripts fetched and verified."""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from truc_client.account import Player
from truc_client.address import Address
from truc_client.cli.common import (
    address_of,
    own_home,
    player_name,
    run,
    tell_delay,
    tell_first_use,
    tell_new_key,
)
from truc_client.cli.output import FindingCommand, Output, UnusableError, say
from truc_client.cli.verify import verify
from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_client.errors import ClientError, HomeError
from truc_client.history import KeptFile, checked, kept_files, one_match, row_of
from truc_client.home import Home
from truc_client.past import is_given_out
from truc_client.plain_values import verdict_facts
from truc_client.transcripts import path_of
from truc_protocol.audit import Result

_NEWEST: Final = 20
_STYLES: Final = {Result.PROVEN.value: "green", Result.REFUTED.value: "red"}
_ID: Final = 16
_ID_DIGITS: Final = 64


@click.command(cls=FindingCommand, short_help="List your matches, and fetch their transcripts.")
@click.argument("server", required=False)
@click.option(
    "--get", "wanted", metavar="MATCH", help="Fetch this match's transcript from SERVER and verify it."
)
@click.option("--all", "is_all", is_flag=True, help=f"List every match, not the newest {_NEWEST} alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each match of this home.")
def history(server: str | None, wanted: str | None, *, is_all: bool, as_json: bool) -> None:
    """List the matches of this home, the newest first: when, which, the game, the verdict, how it ended.

    Every transcript is checked for that, as by `truc verify`. A transcript has no date: the time is that at which its file
    was last written.

    With a SERVER (host:port) list the matches that you have played there with your key from this home, and ask which of
    them the server gives out. With --get fetch one, named by the first digits of its id or by all 64, and verify it, together
    with the transcript that is here, if one is: then the exit status is that of `truc verify`.
    """
    home = own_home()
    if server is None:
        if wanted is not None:
            raise click.UsageError("expected a SERVER to get a match from: truc history SERVER --get MATCH")
        _list(home, None if is_all else _NEWEST, as_json=as_json)
        return
    if as_json:
        raise click.UsageError("--json lists the matches of this home, not those of a SERVER")
    where = address_of(server)
    tell_first_use(home)
    player = Player(home, player_name(None, home), on_new_key=tell_new_key, on_delay=tell_delay)
    if wanted is None:
        run(lambda: _ask(where, player, None if is_all else _NEWEST))
        return
    click.get_current_context().invoke(verify, files=_get(where, player, wanted), as_json=False)


def _list(home: Home, most: int | None, *, as_json: bool) -> None:
    try:
        kept = kept_files(home.transcripts)
    except HomeError as error:
        raise UnusableError(str(error)) from error
    shown = kept[:most]
    if as_json:
        for each in shown:
            facts = {"file": str(each.path), "written": each.written.isoformat(timespec="seconds")}
            click.echo(json.dumps(facts | verdict_facts(checked(each.path))))
        return
    _print(shown, Output())
    if not kept:
        click.echo(
            f"no match was played or watched from this home yet ({home.transcripts}); begin with: truc demo"
        )
    elif len(shown) < len(kept):
        click.echo(f"{len(kept) - len(shown)} more: truc history --all")


def _print(files: Iterable[KeptFile], console: Console) -> None:
    """Print each match as soon as its transcript is checked: on a terminal in two lines, else in one."""
    for each in files:
        row = row_of(each, checked(each.path))
        *head, result = row
        if not console.is_terminal:
            say(console, "  ".join(row))
            continue
        say(console, "  ".join(head), _STYLES.get(row.verdict, "yellow"))
        say(console, f"    {result}")


async def _ask(where: Address, player: Player, most: int | None) -> None:
    async with connect(where, player) as connection:
        played, there = _played(connection), player.home.transcripts
        for match in islice(played, most):
            has = (
                "gives it out"
                if await is_given_out(connection.session.line, match)
                else "does not give it out"
            )
            here = (
                "its transcript is here" if path_of(there, match).exists() else "no transcript of it is here"
            )
            click.echo(f"{match.hex()[:_ID]}  the server {has}; {here}")
        if not played:
            click.echo(f"no match was played from this home with your key at {where.server}")
        elif most is not None and len(played) > most:
            click.echo(f"{len(played) - most} more: truc history {where.place} --all")


def _played(connection: Connection) -> tuple[bytes, ...]:
    session = connection.session
    return session.account.store.played(session.first_spk)


def _get(where: Address, player: Player, wanted: str) -> tuple[Path, ...]:
    """Fetch a match; returns the file, behind the one that was kept, if one was."""
    got: list[Path] = []

    async def main() -> None:
        async with connect(where, player) as connection:
            match = _meant(wanted, connection)
            kept = path_of(player.home.transcripts, match)
            got.extend([kept] if kept.exists() else [])
            got.append(await connection.transcript(match))

    run(main)
    say(Output(), f"fetched: {got[-1]}")
    return tuple(got)


def _meant(wanted: str, connection: Connection) -> bytes:
    """Return the id that some digits mean: all of it, or the first of a match that was played from this home.

    Raises:
        ClientError: They mean none.
    """
    if len(wanted) == _ID_DIGITS:
        try:
            return bytes.fromhex(wanted)
        except ValueError:
            raise ClientError(f"expected {_ID_DIGITS} digits 0-9 and a-f, got {wanted!r}") from None
    return bytes.fromhex(one_match(wanted, (match.hex() for match in _played(connection))))
