"""Verifying files: every check again, from the files alone, and what they come to in words and as plain values.

Nothing here needs a server, a network or the client's home.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, assert_never

from truc_client.errors import HomeError
from truc_protocol.audit import (
    Agreement,
    Contradiction,
    Examined,
    Refutation,
    Result,
    Together,
    TranscriptExamined,
    Verdict,
    Weighed,
    examine,
    verify,
)
from truc_protocol.bodies import Rule, SideScore
from truc_protocol.transcript import MAX_FILE
from truc_protocol.words import ENGLISH, check_words, printable, shown_name, side_name

EXIT_CODES: Final = {Result.PROVEN: 0, Result.REFUTED: 1, Result.UNREADABLE: 2, Result.INCOMPLETE: 3}
"""What `truc verify` ends with; of several files the first of refuted, unreadable, incomplete that occurs."""

LEVELS: Final = {
    "A": "every player has a key of their own",
    "B": "some players are guests without a key: their cards and acts are the server's word",
    "C": "no player has a key: the server may have chosen every card and act",
}

_LONGEST: Final = 400
"""Signs of a message that are shown: it may repeat what a stranger wrote."""
_SEAT: Final = re.compile(r"\bseat (\d+)\b")
_UNKNOWN: Final = "who kept it back, if anybody did, cannot be told"
_ENTROPY: Final = {
    "A": "everybody's entropy",
    "B": "the entropy of the server and of every player with a key",
    "C": "the server's entropy alone, as it may have wished",
}


def verify_file(path: Path) -> Verdict:
    """Return the verdict on a transcript by itself; never raises for what is in it."""
    try:
        return verify(read_file(path))
    except (HomeError, OSError) as error:
        return _unreadable(trouble(error))


def examine_files(paths: Sequence[Path]) -> Together:
    """Examine transcripts and evidence together; never raises for what is in them, or that one is too large.

    Raises:
        OSError: A file cannot be opened or read; its `filename` says which.
    """
    contents, unread = [], {}
    for n, path in enumerate(paths):
        try:
            contents.append(read_file(path))
        except HomeError as error:
            contents.append(b"")
            unread[n] = TranscriptExamined(_unreadable(str(error)))
    together = examine(contents)
    return together._replace(files=tuple(unread.get(n, file) for n, file in enumerate(together.files)))


def read_file(path: Path) -> bytes:
    """Return what stands in a file, of which there may be no more than a transcript can have.

    Raises:
        HomeError: It has more.
        OSError: It cannot be opened or read; `filename` says which it is.
    """
    try:
        if path.stat().st_size > MAX_FILE:
            raise HomeError(f"expected at most {MAX_FILE} bytes")
        return path.read_bytes()
    except OSError as error:
        error.filename = str(path)
        raise


def trouble(error: HomeError | OSError) -> str:
    """Return why a file cannot be read, without the file."""
    return error.strerror or "it cannot be read" if isinstance(error, OSError) else str(error)


def _unreadable(message: str) -> Verdict:
    return Verdict(Result.UNREADABLE, Refutation("C41", message, None, None, 0))


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the verdict in sentences, the first of them alone enough."""
    names = player_names(verdict)
    yield _first_line(verdict)
    if verdict.refutation is not None:
        yield str(check_words(verdict.refutation.check))
    if verdict.level is not None:
        yield f"{game_name(verdict.variant, is_preset=verdict.is_preset)}, {' - '.join(names)}, {verdict.records} records"
        yield f"assurance level {verdict.level}: {LEVELS[verdict.level]}"
        yield result_line(verdict, names)
        yield from (line for _, line in sorted([*_on_the_servers_word(verdict), *_changes(verdict)]))
        yield from _counted(verdict)


def game_name(variant: str | None, *, is_preset: bool) -> str:
    """Return the name of a game; a table may have its own rules under the name of a known one."""
    return f"{variant}" if is_preset else f"{variant} with house rules"


def player_names(verdict: Verdict) -> list[str]:
    """Return the players by seat, as they may be shown; a name alone could be anything, also "the server"."""
    return _named(verdict.players)


def _named(players: Sequence[str]) -> list[str]:
    return [named_seat(name, seat) for seat, name in enumerate(players)]


def named_seat(name: str, seat: int) -> str:
    """Return a seat with the name of its player, which stands in quotes."""
    return f"seat {seat} {quoted_name(name, seat)}"


def quoted_name(name: str, seat: int) -> str:
    """Return the name of a player in quotes, and nothing in it that could end them."""
    return quoted(shown_name(name, seat))


def quoted(text: str) -> str:
    """Return what somebody else wrote in quotes, and nothing in it that could end them."""
    inner = printable(text).replace('"', "'")
    return f'"{inner}"'


def _first_line(verdict: Verdict) -> str:
    match verdict.result:
        case Result.PROVEN:
            entropy = _ENTROPY[verdict.level or "C"]
            then = ", at each deal of those who sat there then" if verdict.substitutes else ""
            ruled = (
                "; who won was decided by the server's ruling, which is not proven"
                if verdict.by_ruling
                else ""
            )
            return f"PROVEN: every card was committed to before play and dealt from {entropy}{then}{ruled}."
        case Result.REFUTED:
            return f"REFUTED: {refutation_line(verdict.refutation, players_then(verdict))}"
        case Result.INCOMPLETE:
            return f"INCOMPLETE: what is there is sound, but the end is missing; {_UNKNOWN}."
        case Result.UNREADABLE:
            return f"UNREADABLE: {shortened(str(verdict.refutation))}"
        case _:
            assert_never(verdict.result)


def players_then(verdict: Verdict) -> Sequence[str]:
    """Return who sat there when the record was made that failed."""
    failed = verdict.refutation
    return verdict.players if failed is None or failed.k is None else verdict.players_at(failed.k)


def with_names(text: str, players: Sequence[str]) -> str:
    """Return a message with the name of its player behind every seat."""
    return _SEAT.sub(lambda found: _named_number(found[1], players) or found[0], text)


def _named_number(digits: str, players: Sequence[str]) -> str | None:
    seat = int(digits) if len(digits) == 1 else len(players)
    return named_seat(players[seat], seat) if seat < len(players) else None


def shortened(text: str) -> str:
    """Return a message without what is too long to be read."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


def refutation_line(refutation: Refutation | None, players: Sequence[str]) -> str:
    """Return what failed and who is to blame, as far as the records show it."""
    blamed = refutation is not None and refutation.culprit is not None
    failed = with_names(shortened(str(refutation)), players)
    return failed if blamed else f"{failed}; the records do not show who is to blame"


def result_line(verdict: Verdict, names: list[str]) -> str:
    """Return who won and the score, with what in it is the server's word."""
    score = score_words(verdict.score, names)
    if verdict.reason is None:
        return f"no result yet, {score}"
    winner = "nobody" if verdict.winner is None else side_name(verdict.winner, names)
    return f"winner: {winner} ({'; '.join([verdict.reason, *_doubts(verdict)])}), {score}"


def score_words(score: Sequence[SideScore], names: Sequence[str]) -> str:
    """Return the score of each side behind its name: the games that it has won, and the points of the one in play."""
    return ", ".join(
        f"{side_name(side, names)} {side_score(games, points)}"
        for side, (games, _upper, points) in enumerate(score)
    )


def side_score(games: int, points: int) -> str:
    """Return the score of a side: the games that it has won, and the points of the one in play."""
    won = f"{ENGLISH.counted('game', games)} " if games else ""
    return f"{won}{ENGLISH.counted('point', points)}"


def _doubts(verdict: Verdict) -> Iterator[str]:
    """Yield what in the result is not the players' own doing, as far as the records show."""
    if verdict.result is not Result.PROVEN:
        yield "as far as the records go"
    if verdict.by_ruling:
        yield "decided by the server's ruling, not proven"
    if verdict.guest_resigned:
        yield "a guest's resignation: the server's word, signed by nobody else"
    seats = [rule.seat for _, rule in verdict.rulings if rule.ruling == "move" and rule.seat is not None]
    lost = 0 if verdict.winner is None else sum(seat % 2 != verdict.winner for seat in seats)
    if lost:
        what = "1 move" if lost == 1 else f"{lost} moves"
        yield f"{what} of the losing side made by the server's rulings"


def _on_the_servers_word(verdict: Verdict) -> Iterator[tuple[int, str]]:
    """Yield the rulings and voids, each behind its position."""
    for k, ruling in verdict.rulings:
        who = "" if ruling.seat is None else f" for {_name_at(verdict, k, ruling.seat)}"
        yield k, f"record {k}: ruling {ruling.ruling}{who}: {_ground(verdict, k, ruling)}"
    for k, seats in verdict.silent:
        silent = " and ".join(_name_at(verdict, k, seat) for seat in seats)
        yield k, f"record {k}: the server voided a deal and called {silent} silent: its word, not proven"


def _counted(verdict: Verdict) -> Iterator[str]:
    """Yield what there may be much of, each kind in a line."""
    if verdict.scheduled:
        first = f"the first is record {verdict.scheduled[0]}"
        yield f"new chains on schedule: {len(verdict.scheduled)} ({first})"
    if verdict.proxies:
        yield f"{len(verdict.proxies)} acts of guests: the server's word"
    if verdict.unsigned:
        yield f"{len(verdict.unsigned)} acts of guests after the last signature prove nothing"


def _name_at(verdict: Verdict, k: int, seat: int) -> str:
    """Return who sat in a seat when a record was made."""
    return _named(verdict.players_at(k))[seat]


def _ground(verdict: Verdict, k: int, ruling: Rule) -> str:
    if k in verdict.asked:
        return "every player had asked for it, as the records show"
    if ruling.ruling == "abandon":
        return "the server's word, not proven"
    return "the server's word that time ran out, not proven"


def _changes(verdict: Verdict) -> Iterator[tuple[int, str]]:
    """Yield the substitutes and the new chains that nothing called for, each behind its position."""
    for k, newcomer in verdict.substitutes:
        name = quoted_name(newcomer.name.decode(errors="replace"), newcomer.seat)
        yield k, f"record {k}: {name} took {_name_at(verdict, k, newcomer.seat)} as a substitute"
    for k, role in verdict.rekeys:
        if k not in verdict.scheduled:
            who = _name_at(verdict, k, role - 1)
            yield k, f"record {k}: {who} began a new chain before its time, with a new box key"


class SeatRow(NamedTuple):
    """What a verdict says of one seat."""

    seat: int
    name: str
    kind: str
    signed: str


def seat_rows(verdict: Verdict) -> Iterator[SeatRow]:
    """Yield for each seat up to where its newest signature binds what happened."""
    for seat, name in enumerate(verdict.players):
        covered = verdict.covered[seat]
        signed = "signed nothing" if covered is None else f"signed what stands before record {covered}"
        yield SeatRow(seat, quoted_name(name, seat), "guest" if seat in verdict.guests else "key", signed)


def contradiction_lines(together: Together, files: Sequence[Path]) -> Iterator[str]:
    """Yield what pairs of transcripts show: the first of each kind with its meaning, and how many more there are."""
    groups: dict[tuple[int, int, str, str], list[Contradiction]] = {}
    for each in together.contradictions:
        groups.setdefault((each.first, each.second, each.found.check, each.found.culprit), []).append(each)
    for (first, second, check, culprit), found in groups.items():
        more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
        players = _players(together.files[first], found[0].found.places[0])
        message = with_names(f"{check}: {found[0].found.message}; to blame: {culprit}", players)
        yield f"{files[first]} and {files[second]}: REFUTED: {message}{more}"
        yield f"  {check_words(check)}"


def _players(file: Examined, k: int | None) -> Sequence[str]:
    """Return who sat at the table of a transcript at position `k`, or sits there last."""
    if not isinstance(file, TranscriptExamined):
        return ()
    return file.verdict.players if k is None else file.verdict.players_at(k)


def agreement_lines(together: Together) -> Iterator[str]:
    """Yield for each match how far its transcripts are the same, and that different matches are not compared."""
    for each in together.agreements:
        yield f"{len(each.files)} transcripts of one match {_agreement(each)}."
    matches = {file.verdict.match for file in together.files if isinstance(file, TranscriptExamined)} - {None}
    if len(matches) > 1:
        yield f"transcripts of {len(matches)} different matches: nothing to compare record by record."


def _agreement(each: Agreement) -> str:
    if not each.records:
        return "have no sound record of play in common"
    where = f"agree up to record {each.records - 1}"
    return (
        f"{where}, the last sound one of the shortest" if each.is_whole else f"{where}; after it they differ"
    )


def evidence_line(each: Weighed, together: Together) -> str:
    """Return what an item of evidence says, and what it refutes."""
    failed = each.refutation
    at = None if failed is None else failed.k
    players = () if each.transcript is None else _players(together.files[each.transcript], at)
    message = with_names(shortened(each.message), players)
    if failed is None:
        return message
    return f"{message}; refutes {failed.where} ({failed.check}); to blame: {failed.culprit}"
