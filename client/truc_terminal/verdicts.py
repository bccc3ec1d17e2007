"""A verdict in words: what was proven, what failed and who is to blame, and what files say together.

Sentences are in the reader's language; words for machines stay in English: the kinds of rulings, and what a check says
of the record that fails it.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, assert_never

from truc_protocol.audit import (
    Agreement,
    Contradiction,
    CrossAudit,
    Examined,
    Refutation,
    Result,
    Verdict,
    WeighedItem,
)
from truc_protocol.bodies import Rule, SideScore
from truc_protocol.records import BLIND
from truc_rules import preset, presets
from truc_words import (
    ENGLISH,
    Sentence,
    Speech,
    in_language,
    joined,
    printable,
    shown_name,
    side_name,
    words_of_check,
)

EXIT_CODES: Final = {Result.PROVEN: 0, Result.REFUTED: 1, Result.UNREADABLE: 2, Result.INCOMPLETE: 3}
"""The exit status of `truc verify`; with several files, the first of refuted, unreadable, incomplete that occurs."""
_GROUNDS: Final = {"cheat": "verdict.own_link", "false": "verdict.own_cards"}
"""How it was shown that a seat has cheated in mode blind, by the kind of its forfeit."""
_LONGEST: Final = 400
"""How many characters of a message are shown: it may repeat what a stranger wrote."""
_SEAT: Final = re.compile(r"\bseat (\d+)\b")


def verdict_lines(verdict: Verdict, speech: Speech = ENGLISH) -> Iterator[str]:
    """Yield the verdict in sentences, of which the first alone is enough; words for machines stay in English."""
    speech = as_played(verdict, speech)
    names = _named(verdict.players, speech)
    yield _first_line(verdict, speech)
    if verdict.refutation is not None:
        yield in_language(str(words_of_check(verdict.refutation.check)), speech.lang)
    if verdict.level is not None:
        game = game_name(verdict.variant, is_preset=verdict.is_preset, speech=speech)
        yield speech.say(
            "verdict.match",
            game=game,
            players=" - ".join(names),
            records=speech.counted("record", verdict.records),
        )
        yield level_line(verdict.level, speech)
        if verdict.mode == BLIND:
            yield speech.say("verdict.mode_blind")
        yield result_line(verdict, names, speech)
        # In the order of the records, whatever kind each is of.
        noted = sorted([*_on_the_servers_word(verdict, speech), *_changes(verdict, speech)])
        yield from (line for _, line in noted)
        for j, seats in verdict.unopened:
            unopened = joined([names[seat] for seat in seats], speech)
            yield speech.say("verdict.unopened", n=j, seats=unopened)
        if verdict.exposed is not None and verdict.proven_forfeit is None:
            ground = Sentence(_GROUNDS[verdict.exposed.kind])
            yield speech.say("verdict.exposed", seat=names[verdict.exposed.seat], ground=ground)
        yield from _counted(verdict, speech)


def as_played(verdict: Verdict, speech: Speech) -> Speech:
    """Return the speech with the words of the game that was played, if that is known by its name."""
    # A verdict has the name of the game, but not its words.
    known = verdict.variant in presets() and not speech.words
    return Speech(speech.lang, preset(str(verdict.variant)).words) if known else speech


def level_line(level: str, speech: Speech) -> str:
    """Return what the assurance level of a match means: whether all, some or none of its players have keys."""
    return speech.say("screen.level", level=level, meaning=Sentence(f"screen.level_{level.lower()}"))


def game_name(variant: str | None, *, is_preset: bool, speech: Speech) -> str:
    """Return the name of a game; a table may have its own rules under the name of a known one."""
    return f"{variant}" if is_preset else speech.say("verdict.house_rules", game=variant)


def _named(players: Sequence[str], speech: Speech) -> list[str]:
    """Return players by seat, as they may be shown; a name alone could be anything, even "the server"."""
    return [named_seat(name, seat, speech) for seat, name in enumerate(players)]


def named_seat(name: str, seat: int, speech: Speech = ENGLISH) -> str:
    """Return a seat with the name of its player in quotes."""
    return speech.say("verdict.seat", n=seat, name=quoted_name(name, seat))


def seat_name(seat: int, speech: Speech) -> str:
    """Return what a seat is called without the name of its player."""
    return speech.say("together.seat", n=seat)


def quoted_name(name: str, seat: int) -> str:
    """Return the name of a player in quotes, with nothing inside that could end them."""
    return quoted(shown_name(name, seat))


def quoted(text: str) -> str:
    """Return what somebody else wrote, in quotes, with nothing inside that could end them."""
    # A player may be called 'a (won); "b": 9': such a name could
    # end the quotes, and say something else of the result.
    inner = printable(text).replace('"', "'")
    return f'"{inner}"'


def _first_line(verdict: Verdict, speech: Speech) -> str:
    match verdict.result:
        case Result.PROVEN:
            return _proven(verdict, speech)
        case Result.REFUTED:
            failed = refutation_line(verdict.refutation, _players_then(verdict), speech)
            return speech.say("verdict.refuted", failed=failed)
        case Result.INCOMPLETE:
            return speech.say("verdict.incomplete")
        case Result.UNREADABLE:
            return speech.say("verdict.unreadable", failed=shortened(str(verdict.refutation)))
        case _:
            assert_never(verdict.result)


def _proven(verdict: Verdict, speech: Speech) -> str:
    entropy = speech.say(f"verdict.entropy_{(verdict.level or 'C').lower()}")
    if verdict.substitutes:
        entropy = speech.say("verdict.of_those_then", entropy=entropy)
    if verdict.host_saw_no_card:
        entropy = speech.separated([entropy, speech.say("verdict.host_saw_no_card")])
    elif verdict.unopened:
        hidden = ", ".join(str(j) for j, _ in verdict.unopened)
        entropy = speech.separated([entropy, speech.say("verdict.but_unopened", n=hidden)])
    if verdict.by_ruling:
        return speech.say("verdict.proven_by_ruling", entropy=entropy)
    return speech.say("verdict.proven", entropy=speech.separated([entropy, *moves_ruled(verdict, speech)]))


def moves_ruled(verdict: Verdict, speech: Speech) -> Iterator[str]:
    """Yield how many moves of the losing side were the server's, if any: any of them may have decided the match."""
    # In the first line: a match whose loser never had the time to choose would read as plainly proven.
    if verdict.losers_ruled:
        yield speech.say("verdict.moves_ruled", n=verdict.losers_ruled, moves=verdict.losers_moves)


def _players_then(verdict: Verdict) -> Sequence[str]:
    """Return who sat at the table when the failed record was made."""
    failed = verdict.refutation
    # A substitute may have the seat since: whoever sat there then is named.
    return verdict.players if failed is None or failed.k is None else verdict.players_at(failed.k)


def with_names(text: str, players: Sequence[str]) -> str:
    """Return a message with the player's name after every seat."""
    return _SEAT.sub(lambda found: _named_number(found[1], players) or found[0], text)


def _named_number(digits: str, players: Sequence[str]) -> str | None:
    # A longer number is no seat of any game, and may have thousands of digits, which int() refuses.
    seat = int(digits) if len(digits) == 1 else len(players)
    return named_seat(players[seat], seat) if seat < len(players) else None


def shortened(text: str) -> str:
    """Return a message, with its middle left out if it is too long to read."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


def refutation_line(refutation: Refutation | None, players: Sequence[str], speech: Speech) -> str:
    """Return what failed and who is to blame, as far as the records show it."""
    has_culprit = refutation is not None and refutation.culprit is not None
    failed = with_names(shortened(str(refutation)), players)
    return failed if has_culprit else speech.say("verdict.nobody_blamed", failed=failed)


def result_line(verdict: Verdict, names: list[str], speech: Speech) -> str:
    """Return who won, how, and the score, with what in the result is only the server's word."""
    score = score_words(verdict.score, names, speech)
    if verdict.reason is None:
        return speech.say("verdict.no_result", score=score)
    nobody = verdict.winner is None
    winner = speech.say("verdict.nobody") if nobody else side_name(verdict.winner or 0, names, speech)
    # Of all forfeits only this one needs nobody's word: the
    # seat's own link or cards show it (blind.md, "Records").
    shown = verdict.proven_forfeit
    reason = speech.reason(verdict.reason) if shown is None else speech.say(_ground(shown))
    how = speech.separated([reason, *_doubts(verdict, speech)])
    return speech.say("verdict.winner", winner=winner, how=how, score=score)


def score_words(score: Sequence[SideScore], names: Sequence[str], speech: Speech = ENGLISH) -> str:
    """Return the score of each side after its name."""
    return speech.separated(
        speech.labelled(side_name(side, names, speech), side_score(each, speech))
        for side, each in enumerate(score)
    )


def side_score(score: SideScore, speech: Speech) -> str:
    """Return the score of a side: the games won, and the units and points in the current one."""
    games, upper, points = score
    won = [speech.counted("game", games)] if games else []
    # Games that count in units (Trut) say them also where there is none; all others have no word for them.
    units = [speech.counted("unit", upper)] if upper or "unit" in speech.local.counts else []
    return joined([*won, *units, speech.counted("point", points)], speech)


def _doubts(verdict: Verdict, speech: Speech) -> Iterator[str]:
    """Yield what qualifies the result: what is not the players' own doing, as far as the records show."""
    if verdict.result is not Result.PROVEN:
        yield speech.say("verdict.as_far")
    if verdict.by_ruling:
        yield speech.say("verdict.decided")
    if verdict.guest_resigned:
        yield speech.say("verdict.guest_resigned")
    yield from moves_ruled(verdict, speech)


def _on_the_servers_word(verdict: Verdict, speech: Speech) -> Iterator[tuple[int, str]]:
    """Yield the rulings and voids, each after its position."""
    players_at, asked = verdict.seatings(), frozenset(verdict.asked)
    for k, ruling in verdict.rulings:
        ground = "verdict.asked_by_all" if k in asked else _ground(ruling)
        values = {"k": k, "ruling": ruling.ruling, "ground": Sentence(ground)}
        if ruling.seat is None:
            yield k, speech.say("verdict.ruling", **values)
        else:
            seat = named_seat(players_at(k)[ruling.seat], ruling.seat, speech)
            yield k, speech.say("verdict.ruling_for", **values, seat=seat)
    for k, seats in verdict.silent:
        names = [named_seat(players_at(k)[seat], seat, speech) for seat in seats]
        yield k, speech.say("verdict.voided", k=k, seats=joined(names, speech))


def _counted(verdict: Verdict, speech: Speech) -> Iterator[str]:
    """Yield what may occur many times, each kind as one line."""
    if verdict.scheduled:
        yield speech.say("verdict.chains_on_schedule", n=len(verdict.scheduled), k=verdict.scheduled[0])
    if verdict.proxies:
        yield speech.say("verdict.guests_acts", acts=speech.counted("guests_act", len(verdict.proxies)))
    if verdict.unsigned:
        yield speech.say("verdict.unsigned_acts", acts=speech.counted("guests_act", len(verdict.unsigned)))


def _ground(ruling: Rule) -> str:
    if ruling.ruling == "abandon":
        return "verdict.servers_word"
    return _GROUNDS.get(str(ruling.kind), "verdict.time_ran_out")


def _changes(verdict: Verdict, speech: Speech) -> Iterator[tuple[int, str]]:
    """Yield the substitutes and the unscheduled new chains, each after its position."""
    players_at, scheduled = verdict.seatings(), frozenset(verdict.scheduled)
    for k, newcomer in verdict.substitutes:
        name = quoted_name(newcomer.name.decode(errors="replace"), newcomer.seat)
        seat = named_seat(players_at(k)[newcomer.seat], newcomer.seat, speech)
        yield k, speech.say("verdict.substitute", k=k, name=name, seat=seat)
    for k, role in verdict.rekeys:
        if k not in scheduled:
            seat = named_seat(players_at(k)[role - 1], role - 1, speech)
            yield k, speech.say("verdict.early_chain", k=k, seat=seat)


class SeatRow(NamedTuple):
    """What a verdict says of one seat."""

    seat: int
    name: str
    kind: str
    signed: str


def seat_rows(verdict: Verdict, speech: Speech) -> Iterator[SeatRow]:
    """Yield, for each seat, how far its newest signature binds what happened."""
    for seat, name in enumerate(verdict.players):
        covered = verdict.covered[seat]
        nothing = covered is None
        signed = speech.say("verdict.signed_nothing" if nothing else "verdict.signed_before", k=covered)
        kind = speech.say("verdict.by_guest" if seat in verdict.guests else "verdict.by_key")
        yield SeatRow(seat, quoted_name(name, seat), kind, signed)


def contradiction_lines(cross_audit: CrossAudit, files: Sequence[Path], speech: Speech) -> Iterator[str]:
    """Yield what pairs of transcripts show: the first of each kind with its meaning, and how many more there are."""
    groups: dict[tuple[int, int, str, str], list[Contradiction]] = {}
    for each in cross_audit.contradictions:
        # Where two histories part, every later record contradicts
        # too: thousands of lines would say one thing.
        groups.setdefault((each.first, each.second, each.found.check, each.found.culprit), []).append(each)
    for (first, second, check, culprit), found in groups.items():
        players = _players(cross_audit.files[first], found[0].found.places[0])
        message = with_names(f"{check}: {found[0].found.message}; to blame: {culprit}", players)
        more = [speech.say("together.more_like_it", n=len(found) - 1)] if len(found) > 1 else []
        shown = speech.noted(message, more)
        yield speech.say("together.both", first=files[first], second=files[second], found=shown)
        yield f"  {in_language(str(words_of_check(check)), speech.lang)}"


def _players(file: Examined, k: int | None) -> Sequence[str]:
    """Return who sat at the table of a transcript at position `k`; without it, who sat there last."""
    if not isinstance(file, Verdict):
        return ()
    return file.players if k is None else file.players_at(k)


def agreement_lines(cross_audit: CrossAudit, speech: Speech) -> Iterator[str]:
    """Yield, for each match, how far its transcripts agree, and that different matches are not compared."""
    for each in cross_audit.agreements:
        yield speech.say(_agreement(each), n=len(each.files), k=each.records - 1)
    matches = {file.match for file in cross_audit.files if isinstance(file, Verdict)} - {None}
    if len(matches) > 1:
        yield speech.say("together.different", n=len(matches))


def _agreement(each: Agreement) -> str:
    if not each.records:
        return "together.nothing_common"
    return "together.agree" if each.is_whole else "together.differ"


def evidence_line(each: WeighedItem, cross_audit: CrossAudit, speech: Speech) -> str:
    """Return what an item of evidence says, and what it refutes."""
    failed = each.refutation
    at = None if failed is None else failed.k
    players = () if each.transcript is None else _players(cross_audit.files[each.transcript], at)
    message = with_names(shortened(each.message), players)
    if failed is None:
        return message
    values = {"where": failed.where, "check": failed.check, "culprit": failed.culprit}
    return speech.say("together.refutes", message=message, **values)
