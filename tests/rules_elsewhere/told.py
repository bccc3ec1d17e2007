"""What the rules in JavaScript are asked: matches played here at random, scenarios, counts; one process of Node for all.

A line of JSON goes to again.mjs, and one comes back. Of each match that is the table, the steps, and the SHA-256 of how
the match stands at first and after each step, as `standing` writes it: where Node comes to another, it says all of its own.

    python -m rules_elsewhere.told --hands 1000 --seed 1 [GAME...]

plays so many hands of each game, as many at each of its tables, and tells every difference. Another seed plays others:
so a long run is many short ones.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from clients_elsewhere.programs import NODE
from rules.chance import Step, cards_for, choice, options_of, random_hand, random_match
from rules.played import signs
from rules.test_surely_legal import seen

from truc_protocol.codec import dec
from truc_protocol.documents import MAX_DOCUMENT, rule_document
from truc_rules import (
    Action,
    Kind,
    Match,
    Seat,
    Variant,
    apply,
    awaits_deal,
    deal,
    deciders,
    deciders_in_view,
    described,
    next_hand,
    owed_shares,
    owed_shows,
    preset,
    presets,
    ruled,
    surely_legal,
)

PROGRAM = Path(__file__).parent / "again.mjs"
SHOWN_DIFFERENCES = 5
MATCHES_AT_ONCE = 50


class Rules:
    """The rules in JavaScript, in a process of their own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def asked(self, what: str, variant: Variant, task: Mapping[str, Any]) -> Any:
        """Return the answer to one question."""
        return self._answer({"ask": what, "document": document_of(variant), **task})

    def reads(self, document: Any) -> bool:
        """Tell whether a document is taken for rules."""
        return bool(self._answer({"ask": "reads", "document": document}))

    def _answer(self, question: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def document_of(variant: Variant) -> Any:
    return dec(rule_document(variant), MAX_DOCUMENT)


@contextmanager
def rules_in_javascript() -> Iterator[Rules]:
    command = [NODE, str(PROGRAM)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Rules(process)
        assert process.stdin is not None
        process.stdin.close()


def table_of(match: Match) -> dict[str, Any]:
    score = [{"upper": side.upper, "points": side.points} for side in match.score]
    return {"seats": match.seats, "dealer": match.dealer, "score": score, "games": match.games}


def standing(match: Match, options: Sequence[Action]) -> str:
    """Write all that both programs must agree on; again.mjs writes the same."""
    hand, move = match.hand, ruled(match)
    (our_upper, ours), (their_upper, theirs) = match.score
    bets, row = hand.bets, hand.row
    shows = " ".join([f"{seat}:{dotted(slots)}" for seat, slots in owed_shows(match)])
    said = " ".join([joined(signs(match, seat)) for seat in range(match.seats)])
    return (
        f"{hand.phase.name.lower()}|{match.dealer}|{our_upper}.{ours}|{their_upper}.{theirs}|{dotted(match.games)}"
        f"|{bets.locked or bets.stake}|{dotted((match.game_winner, match.winner))}|{dotted(sorted(deciders(match)))}"
        f"|{row.leader}|{dotted(row.table)}|{dotted([trick.side for trick in row.tricks])}"
        f"|{shows}|{' '.join(map(dotted, owed_shares(match)))}|{'' if move is None else written(move)}"
        f"|{said}|{' '.join(sorted(map(written, options)))}"
    )


def dotted(numbers: Sequence[int | None]) -> str:
    return ".".join(["" if number is None else str(number) for number in numbers]) if numbers else ""


@cache
def joined(words: tuple[str, ...]) -> str:
    return ".".join(words)


@cache
def written(action: Action) -> str:
    value = "" if action.value is None else action.value
    return f"{action.seat},{action.kind},{dotted(sorted(action.cards))},{value}"


def step_of(action: Action) -> list[Any]:
    return ["play", {"seat": action.seat, "kind": action.kind, "cards": action.cards, "value": action.value}]


class Told(NamedTuple):
    """A match as it is told, how it stood at first and after each step, and how many hands it had."""

    task: Mapping[str, Any]
    standings: tuple[str, ...]
    hands: int


def told(variant: Variant, seats: int, *, hands: int, seed: str) -> Told:
    """Play a match at random, no more than its first hands."""
    chance = random.Random(f"{variant.name} {seats} {seed}")
    match = random_match(variant, seats, chance)
    table, steps, standings, played = table_of(match), [], [], 0
    while True:
        options = options_of(match)
        standings.append(standing(match, options))
        step: list[Any]
        if awaits_deal(match):
            given, up = cards_for(match, chance)
            step, match = ["deal", given, up], deal(match, given, up)[0]
        elif (action := choice(match, options, chance)) is not None:
            step, match = step_of(action), apply(match, action)[0]
        elif (played := played + 1) < hands and match.winner is None:
            step, match = ["next"], next_hand(match)
        else:
            break
        steps.append(step)
    digest = sha256("\n".join(standings).encode()).hexdigest()
    return Told({"table": table, "steps": steps, "digest": digest}, tuple(standings), played)


def differences(rules: Rules, variant: Variant, matches: Sequence[Told]) -> list[str]:
    """Return of each match that goes on otherwise in JavaScript where that is: the step, how it stands here and there."""
    answers = rules.asked("matches", variant, {"matches": [match.task for match in matches]})
    return [
        _parting(variant, match, found)
        for match, found in zip(matches, answers, strict=True)
        if found is not None
    ]


def _parting(variant: Variant, match: Told, found: Sequence[str]) -> str:
    pairs = zip_longest(match.standings, found, fillvalue="nothing")
    at, (here, there) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
    before = match.task["steps"][at - 1] if at else "at first"
    return f"{variant.name} {match.task['table']} {before}\n{here}\n{there}"


class Hand(NamedTuple):
    """A hand as one seat sees it, step by step, and what it finds out by itself each time that it is asked."""

    task: Mapping[str, Any]
    found: list[str]


def seen_by_a_seat(variant: Variant, seats: int, seed: str) -> Hand:
    """Play a hand at random; one seat is asked for its options after each step, of nobody and of whom the hand waits for."""
    chance = random.Random(f"{variant.name} {seats} {seed}")
    seat, steps = Seat(chance.randrange(seats)), random_hand(variant, seats, chance)
    match, told, found = steps[0].before, list[Any](), list[str]()
    for step in steps:
        told += _told_to(step, seat)
        match = seen(match, step, seat)
        if awaits_deal(match):
            continue
        for awaited in ((), deciders_in_view(step.after)):
            told.append(["ask", awaited])
            found.append(_sure(match, seat, awaited))
    first = steps[0].before
    is_second = first.hand_number > 1
    table = {**table_of(first), "dealer": (first.dealer - is_second) % seats}
    return Hand({"table": table, "isSecond": is_second, "seat": seat, "steps": told}, found)


def _told_to(step: Step, seat: int) -> Iterator[list[Any]]:
    """Yield what a seat is told of a step, and sees by it: the records of docs/fairness, without the proofs."""
    action, dealt = step.action, step.before.hand.dealt
    if action is None:
        after = step.after.hand.dealt
        yield ["deal", after.each, () if dealt.redeals else after.up]
        if not after.blind:
            yield from (["know", seat, slot, card] for slot, card in enumerate(after.cards[seat]))
        return
    held = dealt.cards[action.seat] if dealt.cards else ()
    slots = [held.index(card) for card in action.cards]
    if action.kind is not Kind.COVER:
        yield from (["know", action.seat, *pair] for pair in zip(slots, action.cards, strict=True))
    yield ["act", action.seat, action.kind, _args(action, slots)]
    if action.kind is Kind.BLIND:
        yield ["see", held[int(action.value or 0)]]


def _args(action: Action, slots: Sequence[int]) -> dict[str, Any]:
    """Return what an act says, by the names of section 8."""
    cards, value = action.cards, action.value
    match action.kind:
        case Kind.PLAY:
            return {"slot": slots[0], "card": cards[0], "ask": value}
        case Kind.COVER:
            return {"slot": slots[0]}
        case Kind.SHOW:
            return {"openings": [[slot, card] for slot, card in zip(slots, cards, strict=True)]}
        case _:
            return {} if value is None else {_NAMED.get(action.kind, "value"): value}


_NAMED: Mapping[Kind, str] = {
    Kind.BLIND: "slot",
    Kind.RAISE: "stake",
    Kind.CLAIM: "seat",
    Kind.ORDER: "rank",
    Kind.DEAL: "count",
}


def _sure(match: Match, seat: Seat, awaited: Sequence[int]) -> str:
    here, actions = surely_legal(match, seat, awaited)
    waits = "waits" if actions and seat not in awaited and seat in deciders(here) else ""
    lines = [
        " ".join([line, *(f"{name}={value}" for name, value in hints)])
        for line, hints in described(here, actions)
    ]
    return "|".join([waits, *(sorted(lines) or [""])])


def batches(variant: Variant, seats: int, *, hands: int, seed: str) -> Iterator[list[Told]]:
    """Yield matches with so many hands in all, some at a time."""
    left, number = hands, 0
    while left > 0:
        batch: list[Told] = []
        while left > 0 and len(batch) < MATCHES_AT_ONCE:
            batch.append(told(variant, seats, hands=left, seed=f"{seed}.{number}"))
            left, number = left - batch[-1].hands, number + 1
        yield batch


def main(arguments: list[str] | None = None) -> int:
    """Play hands of every game named, or of all; return 1 if there is a difference."""
    parser = argparse.ArgumentParser(prog="python -m rules_elsewhere.told")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("games", nargs="*", default=presets())
    options = parser.parse_args(arguments)
    wrong = 0
    with rules_in_javascript() as rules:
        for name in options.games:
            tables = preset(name).players
            found, played = [], 0
            for seats in tables:
                for matches in batches(
                    preset(name), seats, hands=-(-options.hands // len(tables)), seed=options.seed
                ):
                    played += sum(match.hands for match in matches)
                    found += differences(rules, preset(name), matches)
            wrong += len(found)
            sys.stdout.write(f"{name}: {played} hands, {len(found)} differences\n")
            sys.stdout.write("".join(f"{each}\n" for each in found[:SHOWN_DIFFERENCES]))
            sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
