"""What the rules in JavaScript are asked: matches played here at random, scenarios, counts; one process of Node for all.

A line of JSON goes to again.mjs, and one comes back. Of a match that is the document, the table, the steps, and after
each a sum of how the match stands then, as `standing` writes it: Node says where its own is another.

    python -m rules_elsewhere.told --hands 1000 --seed 1 [GAME...]

plays so many hands of each game and seat count, and tells every difference.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from clients_elsewhere.programs import NODE
from rules.chance import TABLES, cards_for, choice, random_match

from truc_protocol.codec import dec
from truc_protocol.documents import MAX_DOCUMENT, rule_document
from truc_rules import (
    Action,
    Match,
    Seat,
    Variant,
    apply,
    awaits_deal,
    deal,
    deciders,
    legal,
    next_hand,
    owed_shares,
    owed_shows,
    preset,
    presets,
    ruled,
    signs,
)

PROGRAM = Path(__file__).parent / "again.mjs"
SHOWN_DIFFERENCES = 5


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


def seats_of(match: Match) -> Iterator[Seat]:
    return (Seat(seat) for seat in range(match.seats))


def standing(match: Match) -> str:
    """Write all that both programs must agree on; again.mjs writes the same."""
    bets, move = match.hand.bets, ruled(match)
    options = [written(each) for seat in seats_of(match) for each in legal(match, seat)]
    parts = (
        match.hand.phase.name.lower(),
        match.dealer,
        " ".join(f"{side.upper}.{side.points}" for side in match.score),
        " ".join(map(str, match.games)),
        bets.locked or bets.stake,
        match.game_winner,
        match.winner,
        " ".join(map(str, sorted(deciders(match)))),
        " ".join(f"{seat}:{'.'.join(map(str, slots))}" for seat, slots in owed_shows(match)),
        " ".join(f"{giver}>{receiver}" for giver, receiver in owed_shares(match)),
        None if move is None else written(move),
        " ".join(f"{seat}:{'.'.join(signs(match, seat))}" for seat in seats_of(match)),
        " ".join(sorted(options)),
    )
    return "|".join("" if part is None else str(part) for part in parts)


def written(action: Action) -> str:
    cards = ".".join(map(str, sorted(action.cards)))
    return f"{action.seat},{action.kind},{cards},{'' if action.value is None else action.value}"


def step_of(action: Action) -> list[Any]:
    return ["play", {"seat": action.seat, "kind": action.kind, "cards": action.cards, "value": action.value}]


class Told(NamedTuple):
    """A match as it is told, how it stood after each step, and how many hands it had."""

    task: Mapping[str, Any]
    standings: tuple[str, ...]
    hands: int


def told(variant: Variant, seats: int, *, hands: int, seed: str) -> Told:
    """Play a match at random, no more than its first hands."""
    chance = random.Random(f"{variant.name} {seats} {seed}")
    match = random_match(variant, seats, chance)
    table, steps, standings, played = table_of(match), [], [], 0
    while True:
        step: list[Any]
        if awaits_deal(match):
            given, up = cards_for(match, chance)
            step, match = ["deal", given, up], deal(match, given, up)[0]
        elif (action := choice(match, chance)) is not None:
            step, match = step_of(action), apply(match, action)[0]
        elif (played := played + 1) < hands and match.winner is None:
            step, match = ["next"], next_hand(match)
        else:
            break
        standings.append(standing(match))
        steps.append([*step, crc32(standings[-1].encode())])
    return Told({"table": table, "steps": steps}, tuple(standings), played)


def difference(rules: Rules, variant: Variant, match: Told) -> str | None:
    """Return where the match goes on otherwise in JavaScript: the step, how it stands here and there."""
    found = rules.asked("match", variant, match.task)
    if found is None:
        return None
    at = found["step"]
    return f"{variant.name} step {at} {match.task['steps'][at]}\n{match.standings[at]}\n{found['standing']}"


def main(arguments: list[str] | None = None) -> int:
    """Play hands of every game named, or of all; return 1 if there is a difference."""
    parser = argparse.ArgumentParser(prog="python -m rules_elsewhere.told")
    parser.add_argument("--hands", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("games", nargs="*", default=presets())
    options = parser.parse_args(arguments)
    wrong = 0
    with rules_in_javascript() as rules:
        for name, seats in TABLES:
            if name not in options.games:
                continue
            found, played, matches = [], 0, 0
            while played < options.hands:
                seed = f"{options.seed}.{matches}"
                match = told(preset(name), seats, hands=options.hands - played, seed=seed)
                played, matches = played + match.hands, matches + 1
                found += [each for each in [difference(rules, preset(name), match)] if each is not None]
            wrong += len(found)
            sys.stdout.write(f"{name} {seats}: {played} hands, {len(found)} differences\n")
            sys.stdout.write("".join(f"{each}\n" for each in found[:SHOWN_DIFFERENCES]))
            sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
