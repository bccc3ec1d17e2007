"""Verifying a transcript file: every check again, from the file alone, and the verdict in words.

Nothing here needs a server, a network or the client's home.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from truc_protocol.audit import Refutation, Result, Verdict, verify
from truc_protocol.bodies import Rule
from truc_protocol.transcript import MAX_FILE
from truc_protocol.words import shown_name, side_name

EXIT_CODES: Final = {Result.PROVEN: 0, Result.REFUTED: 1, Result.UNREADABLE: 2, Result.INCOMPLETE: 3}
"""What `truc verify` ends with; of several files the first of refuted, unreadable, incomplete that occurs."""

LEVELS: Final = {
    "A": "every player has a key of their own",
    "B": "some players are guests without a key: their cards and acts are the server's word",
    "C": "no player has a key: the server may have chosen every card and act",
}

_ENTROPY: Final = {
    "A": "everybody's entropy",
    "B": "the entropy of the server and of every player with a key",
    "C": "the server's entropy alone, as it may have wished",
}


def verify_file(path: Path) -> Verdict:
    """Return the verdict on a file; never raises for what is in it."""
    try:
        if path.stat().st_size > MAX_FILE:
            return _unreadable(f"expected at most {MAX_FILE} bytes")
        return verify(path.read_bytes())
    except OSError as error:
        return _unreadable(error.strerror or str(error))


def _unreadable(message: str) -> Verdict:
    return Verdict(Result.UNREADABLE, Refutation("C41", message, None, None, 0))


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the verdict in sentences, the first of them alone enough."""
    names = [shown_name(name, seat) for seat, name in enumerate(verdict.players)]
    match verdict.result:
        case Result.PROVEN:
            yield f"PROVEN: every card was committed to before play and dealt from {_ENTROPY[verdict.level or 'C']}."
        case Result.REFUTED:
            yield f"REFUTED: {verdict.refutation}"
        case Result.INCOMPLETE:
            yield "INCOMPLETE: what is there is sound, but the end is missing."
        case Result.UNREADABLE:
            yield f"UNREADABLE: {verdict.refutation}"
    if verdict.level is not None:
        yield f"{verdict.variant}, {' - '.join(names)}, {verdict.records} records"
        yield f"assurance level {verdict.level}: {LEVELS[verdict.level]}"
        yield result_line(verdict, names)
        yield from _on_the_servers_word(verdict, names)


def result_line(verdict: Verdict, names: list[str]) -> str:
    """Return who won and the score."""
    score = " : ".join(f"{games} games {points} points" for games, _upper, points in verdict.score)
    if verdict.reason is None:
        return f"no result yet, {score}"
    winner = "nobody" if verdict.winner is None else side_name(verdict.winner, names)
    return f"winner: {winner} ({verdict.reason}), {score}"


def _on_the_servers_word(verdict: Verdict, names: list[str]) -> Iterator[str]:
    for k, ruling in verdict.rulings:
        who = "" if ruling.seat is None else f" for {names[ruling.seat]}"
        yield f"record {k}: ruling {ruling.ruling}{who}: {_ground(verdict, k, ruling)}"
    if verdict.voids:
        yield f"{verdict.voids} deal(s) voided: the server's word that a player was silent, not proven"
    if verdict.proxies:
        yield f"{len(verdict.proxies)} acts of guests: the server's word"
    if verdict.unsigned:
        yield f"{len(verdict.unsigned)} acts of guests after the last signature prove nothing"


def _ground(verdict: Verdict, k: int, ruling: Rule) -> str:
    if k in verdict.asked:
        return "every player had asked for it, as the records show"
    if ruling.ruling == "abandon":
        return "the server's word, not proven"
    return "the server's word that time ran out, not proven"


def verdict_facts(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as plain values, for programs."""
    refuted = verdict.refutation
    facts: dict[str, Any] = verdict._asdict()
    facts["result"] = str(verdict.result)
    facts["rulings"] = [{"k": k, "ruling": rule.ruling, "seat": rule.seat} for k, rule in verdict.rulings]
    facts["refutation"] = refuted and {"record": refuted.where, **refuted._asdict()}
    return facts
