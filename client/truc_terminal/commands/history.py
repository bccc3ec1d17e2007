"""`truc history`: the matches of this home, those that a server still has, and their transcripts fetched and verified.

A server's list is its word alone, and shown as such; what is fetched is judged from the file alone.
"""

import json
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from truc_client.connection import Connection
from truc_client.errors import ClientError, HomeError
from truc_client.home.home import Home
from truc_client.home.transcripts import path_of
from truc_protocol.audit import Result, Verdict
from truc_protocol.messages import PlayedMatch
from truc_terminal.commands.kept_matches import KeptFile, kept_file, kept_files, one_match, verdict_on
from truc_terminal.commands.language import lang_option, spoken
from truc_terminal.commands.output import FindingCommand, Output, UnusableError, tell, usage_error
from truc_terminal.commands.player import at_server, own_home, own_player
from truc_terminal.commands.server_lookup import server_meant
from truc_terminal.commands.verify import severest, verify
from truc_terminal.plain_values import verdict_facts
from truc_terminal.screen.wrapping import say
from truc_terminal.verdicts import EXIT_CODES, as_played, game_name, moves_ruled, quoted_name, side_score
from truc_words import Sentence, Speech, side_name

_NEWEST: Final = 20
_STYLES: Final = {Result.PROVEN: "green", Result.REFUTED: "red"}
_ID: Final = 16
_ID_DIGITS: Final = 64


@click.command(cls=FindingCommand)
@click.argument("server", required=False)
@click.option(
    "--get", "wanted", metavar="MATCH", help="Fetch this match's transcript from SERVER and verify it."
)
@click.option(
    "--fetch",
    "is_fetching",
    is_flag=True,
    help="Fetch every match listed that is over and not in this home yet, and verify it.",
)
@click.option("--all", "is_all", is_flag=True, help=f"List every match, not the newest {_NEWEST} alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each match of this home.")
@lang_option
def history(
    server: str | None,
    wanted: str | None,
    *,
    is_fetching: bool,
    is_all: bool,
    as_json: bool,
) -> None:
    """List the matches of this home, the newest first: when, which, the game, the verdict, how it ended.

    Every transcript is checked for that, as by `truc verify`. A transcript has no date: the time is that at which its file
    was last written.

    With a SERVER (host:port) list the matches that you have played there with your key, from whichever home, as far as
    the server still has them. With --fetch those that are over and have no transcript here are fetched and verified, the
    newest ones, or with --all every one. With --get fetch one, named by the first digits of its id or by all 64, and verify
    it, together with the transcript that is here, if one is. The exit status of both is that of `truc verify`.

    With one server known --fetch and --get need no SERVER.
    """
    home, speech, most = own_home(), Speech(spoken()), None if is_all else _NEWEST
    if server is None and wanted is None and not is_fetching:
        _list(home, most, speech, as_json=as_json)
        return
    if wanted is not None and is_fetching:
        raise usage_error(Sentence("history.either"))
    if as_json:
        raise usage_error(Sentence("history.json_here"))
    where, player = server_meant(server), own_player()
    if wanted is not None:
        files = at_server(where, player, lambda connection: _get(connection, wanted))
        tell(Sentence("history.fetched", file=files[-1]))
        # Together with the one kept here: two histories of one match are compared (C33).
        click.get_current_context().invoke(verify, files=tuple(map(str, files)), as_json=False)
        return
    fetched = at_server(
        where, player, lambda connection: _ask(connection, most, speech, is_fetching=is_fetching)
    )
    raise click.exceptions.Exit(_judge(fetched, speech))


def _list(home: Home, most: int | None, speech: Speech, *, as_json: bool) -> None:
    try:
        kept = kept_files(home.transcripts)
    except HomeError as error:
        raise UnusableError(str(error)) from error
    shown = kept[:most]
    if as_json:
        for each in shown:
            facts = {"file": str(each.path), "written": each.written.isoformat(timespec="seconds")}
            click.echo(json.dumps(facts | verdict_facts(verdict_on(each.path))))
        return
    console = Output()
    for each in shown:
        _print(each, verdict_on(each.path), console, speech)  # at once: checking the next one takes a while
    if not kept:
        tell(Sentence("history.none", folder=home.transcripts))
    elif len(shown) < len(kept):
        tell(speech.say("history.more", n=len(kept) - len(shown), command="truc history --all"))


def _print(kept: KeptFile, verdict: Verdict, console: Console, speech: Speech) -> None:
    """Print a match of this home: as two lines on a terminal, else as one."""
    written, result = kept.written.strftime("%Y-%m-%d %H:%M"), verdict.result
    has_begun = verdict.level is not None
    game = game_name(verdict.variant, is_preset=verdict.is_preset, speech=speech) if has_begun else "-"
    head = "  ".join((written, kept.match, game))
    ended = _result(verdict, speech) if has_begun else "-"
    said = speech.say(f"results.{result}").lower()
    if not console.is_terminal:
        say(console, f"{head}  {said}  {ended}")
        return
    say(console, f"{head}  {said}", _STYLES.get(result, "yellow"))
    say(console, f"    {ended}")


def _result(verdict: Verdict, speech: Speech) -> str:
    """Return who played whom, how it ended, and the scores, in the order in which the sides are named."""
    speech = as_played(verdict, speech)
    said, first = speech.catalogue.history, verdict.winner or 0
    names = [quoted_name(name, seat) for seat, name in enumerate(verdict.players)]
    scores = [side_score(score, speech) for score in verdict.score]
    return said[_ending(verdict)].format(
        one=side_name(first, names, speech),
        other=side_name(1 - first, names, speech),
        how=_how(verdict, speech),
        score=scores[first],
        rest=scores[1 - first],
    )


def _ending(verdict: Verdict) -> str:
    """Return the catalogue key for how a match ended."""
    if verdict.reason is None:
        return "no_result"
    return "no_winner" if verdict.winner is None else "beat"


def _how(verdict: Verdict, speech: Speech) -> str:
    reason = speech.reason(verdict.reason or "")
    if verdict.by_ruling:
        return speech.say("history.by_ruling", reason=reason)
    return speech.separated([reason, *moves_ruled(verdict, speech)])


async def _ask(
    connection: Connection, most: int | None, speech: Speech, *, is_fetching: bool
) -> tuple[Path, ...]:
    """List the matches of a player that a server has; return the files of those fetched."""
    if "matches" not in connection.capabilities:
        raise ClientError(Sentence("history.lists_none", server=connection.address.server))
    listed = await _list_there(connection, most, speech)
    return tuple([path async for path in _fetched(connection, listed)]) if is_fetching else ()


async def _list_there(connection: Connection, most: int | None, speech: Speech) -> tuple[PlayedMatch, ...]:
    """Print the matches that the server lists, and those played from this home that it no longer has."""
    # One more than is shown tells whether there are more.
    found = await connection.matches(None if most is None else most + 1)
    listed, place = found[:most], connection.address.place
    for played in listed:
        say(Output(), speech.separated([_described(played, speech), _here(connection, played.match, speech)]))
    if len(listed) < len(found):
        tell(Sentence("history.there_more", command=f"truc history {place} --all"))
        return listed
    known = {played.match for played in listed}
    gone = [match for match in _played(connection) if match not in known]
    for match in gone[:most]:
        told = speech.separated([speech.say("history.gone"), _here(connection, match, speech)])
        tell(f"{match.hex()[:_ID]}  {told}")
    if not listed and not gone:
        tell(Sentence("history.none_listed", server=connection.address.server))
    return listed


def _described(played: PlayedMatch, speech: Speech) -> str:
    names = [quoted_name(name, seat) for seat, name in enumerate(played.names)]
    words = (
        _when(played.since_ms),
        played.match.hex()[:_ID],
        played.variant or "-",
        speech.say("history.not_over") if played.reason is None else speech.reason(played.reason),
    )
    return "  ".join((*words, _sides(names, speech)))


def _sides(names: list[str], speech: Speech) -> str:
    if not names[1:]:
        return speech.say("history.unknown")
    return speech.say("history.versus", one=side_name(0, names, speech), other=side_name(1, names, speech))


def _when(unix_ms: int) -> str:
    try:
        return datetime.fromtimestamp(unix_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # no such year
        return "-"


def _here(connection: Connection, match: bytes, speech: Speech) -> str:
    kept = path_of(connection.session.account.home.transcripts, match)
    return speech.say("history.kept" if kept.exists() else "history.not_kept")


async def _fetched(connection: Connection, listed: Iterable[PlayedMatch]) -> AsyncIterator[Path]:
    """Fetch the matches that are over and not here; a running one is written by whoever plays it."""
    folder = connection.session.account.home.transcripts
    for played in listed:
        if played.ended_ms is not None and not path_of(folder, played.match).exists():
            yield await connection.transcript(played.match)


def _judge(files: Iterable[Path], speech: Speech) -> int:
    """Print the verdict on each file; return the exit status."""
    codes = set()
    for path in files:
        tell(Sentence("history.fetched", file=path))
        verdict = verdict_on(path)
        codes.add(EXIT_CODES[verdict.result])
        _print(kept_file(path), verdict, Output(), speech)
    return severest(codes)


def _played(connection: Connection) -> tuple[bytes, ...]:
    session = connection.session
    return session.account.store.played(session.first_spk)


async def _get(connection: Connection, wanted: str) -> tuple[Path, ...]:
    """Fetch a match; return the file, after the one kept here, if there is one."""
    match = await _meant(wanted, connection)
    kept = path_of(connection.session.account.home.transcripts, match)
    known = (kept,) if kept.exists() else ()
    return (*known, await connection.transcript(match))


async def _meant(wanted: str, connection: Connection) -> bytes:
    """Return the id that some digits mean: all 64, or the first of a match that the server lists or this home played.

    Raises:
        ClientError: They mean no match, or several.
    """
    if len(wanted) == _ID_DIGITS:
        try:
            return bytes.fromhex(wanted)
        except ValueError:
            raise ClientError(Sentence("history.no_digits", n=_ID_DIGITS, got=repr(wanted))) from None
    known = [*_played(connection)]
    if "matches" in connection.capabilities:
        known += [played.match for played in await connection.matches()]
    return bytes.fromhex(one_match(wanted, (match.hex() for match in known)))
