"""`truc watch`: what happens at a table, line by line, for who has no seat there."""

from collections.abc import Iterator
from math import ceil
from typing import Final

import click

from truc_client.account import Player
from truc_client.address import Address
from truc_client.cli.common import (
    FailedError,
    address_of,
    lang_option,
    language,
    own_home,
    player_name,
    run,
    tell_delay,
    tell_first_use,
    tell_new_key,
)
from truc_client.cli.listing import table_line
from truc_client.connecting import connect
from truc_client.happenings import (
    ChatSaid,
    Fact,
    Happening,
    Interrupted,
    MatchEnded,
    MatchStarted,
    PhraseSaid,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    ServerDraining,
    Signed,
    SnapshotTaken,
    Substituted,
    TableChanged,
    TableClosed,
    TranscriptSetAside,
)
from truc_client.verifying import LEVELS, quoted, quoted_name, score_words, verdict_lines
from truc_protocol.words import Speech, phrase_label, printable, sign_label, tell

_UNCHECKED: Final = "unchecked: "
_NOT_GIVEN: Final = "the server does not give out what stood before; what follows is its word, and nothing of it can be checked"


@click.command(short_help="Watch a table to the end of its match.")
@click.argument("address", metavar="ADDRESS/TABLE")
@click.option(
    "--follow", is_flag=True, help="Go on with the matches that come after, until the table is gone."
)
@lang_option
def watch(address: str, *, follow: bool, lang: str | None) -> None:
    """Watch a table to the end of its match: HOST/TABLE, HOST:PORT/TABLE or a truc:// or trucs:// link.

    `truc tables HOST` lists the public tables; a private one needs its link. A table may show what happens late, or hand by
    hand, or to nobody (its option `spectators`).

    Every record is checked as for a player, and the transcript is kept. Who comes in the middle is told how it stands at
    once, and that what was before is checked when it is. What players say and do is told in the language asked for, all else in
    English.
    """
    spoken, home = language(lang), own_home()
    where = address_of(address)
    if where.table is None:
        raise FailedError(f"expected ADDRESS/TABLE: which table at {where.server}? truc tables {where.place}")
    code = where.table.upper()
    tell_first_use(home)
    player = Player(home, player_name(None, home), on_new_key=tell_new_key, on_delay=tell_delay)
    run(lambda: _watch(where, code, player, Commentary(spoken), follow=follow))


async def _watch(
    where: Address, code: str, player: Player, commentary: "Commentary", *, follow: bool
) -> None:
    async with connect(where, player) as connection:
        table = await connection.watch(code)
        async for happening in table:
            for line in commentary.lines(happening):
                click.echo(printable(line))
            if isinstance(happening, MatchEnded) and not follow:
                return


class Commentary:
    """What happens at a table as lines, without its cards and colours."""

    def __init__(self, lang: str) -> None:
        self._speech = Speech(lang)
        self._speech_of = (lang, "")
        self._names: tuple[str, ...] = ()
        self._table = ""
        self._is_unchecked = False

    def lines(self, happening: Happening) -> Iterator[str]:
        """Yield what is said of something that has happened."""
        match happening:
            case RecordSeen(means=means):
                yield from self._sentences(means)
            case RecordUnchecked(means=means):
                if not self._is_unchecked:
                    yield _NOT_GIVEN
                self._is_unchecked = True
                yield from (f"{_UNCHECKED}{line}" for line in self._sentences(means))
            case MatchStarted():
                yield from self._begin(happening)
            case SnapshotTaken():
                yield from self._join_in(happening)
            case MatchEnded(verdict, transcript):
                yield from verdict_lines(verdict)
                yield f"transcript: {transcript}"
            case (
                TableChanged()
                | TableClosed()
                | ServerDraining()
                | Interrupted()
                | Resumed()
                | TranscriptSetAside()
            ):
                yield from self._of_the_line(happening)
            case _:
                yield from self._of_people(happening)

    def _sentences(self, means: tuple[Fact, ...]) -> Iterator[str]:
        for fact in means:
            sentence = tell(fact, self._names, speech=self._speech)
            if sentence:
                yield sentence
            if fact["what"] == "hand_closed":
                yield self._score(means[-1])

    def _begin(self, match: MatchStarted) -> Iterator[str]:
        self._is_unchecked = False
        self._speech_of = (self._speech.lang, match.words)
        self._speech = Speech(*self._speech_of)
        self._names = tuple(quoted_name(name, seat) for seat, name in enumerate(match.players))
        yield f"match {match.match.hex()[:16]}: {match.variant}, {' - '.join(self._names)}"
        yield f"assurance level {match.level}: {LEVELS[match.level]}"

    def _join_in(self, snapshot: SnapshotTaken) -> Iterator[str]:
        if snapshot.skipped:
            yield "too much has happened while this client did not read"
        if snapshot.view:
            yield self._score(snapshot.view)
        yield f"it goes on with record {snapshot.k}; what stood before it is not checked yet"

    def _score(self, state: Fact) -> str:
        return f"score: {score_words(state['score'], self._names)}"

    def _of_the_line(
        self,
        happening: TableChanged | TableClosed | ServerDraining | Interrupted | Resumed | TranscriptSetAside,
    ) -> Iterator[str]:
        match happening:
            case TableChanged(state):
                before, self._table = self._table, table_line(state)
                if self._table != before:
                    yield self._table
            case TableClosed(reason):
                yield f"the table is gone: {reason}"
            case ServerDraining(left_ms):
                yield f"the server is about to be stopped, in {ceil(left_ms / 1000)} s at the latest: no new hand begins until it is back"
            case Interrupted(reason):
                yield f"{reason}; connecting again"
            case Resumed(k):
                yield f"every record before {k} is here, and has passed its checks"
            case TranscriptSetAside(path, reason):
                yield f"{reason}; the transcript was set aside as {path}"

    def _of_people(self, happening: Happening) -> Iterator[str]:
        match happening:
            case ChatSaid():
                yield f"{quoted(happening.name)} ({happening.player}): {happening.text}"
            case Signed(seat, word):
                yield f"{self._names[seat]} signs {sign_label(word, *self._speech_of)}"
            case PhraseSaid(seat, phrase):
                yield f"{self._names[seat]}: {phrase_label(phrase, *self._speech_of)}"
            case Substituted(seat, name):
                newcomer = quoted_name(name, seat)
                yield f"{newcomer} takes the seat of {self._names[seat]}"
                self._names = (*self._names[:seat], newcomer, *self._names[seat + 1 :])
            case _:
                pass
