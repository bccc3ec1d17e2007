"""Make the transcripts beside this file: matches whose keys come from seeds and whose course stands here.

Run as docs/fairness/vectors.md says. Two matches are written move by move; of the others only what makes them worth
keeping stands here, and between it everybody plays by dice that the same seed throws.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from protocol.peers import Table

from truc_protocol.ledger import Due, Ledger, due
from truc_protocol.records import Phase, Record
from truc_protocol.setup import Opts
from truc_rules import legal, move_line, preset, with_options

FOLDER = Path(__file__).parent


class Script(NamedTuple):
    """A match: its terms, and what happens, between commas and in lines, of play mostly a trick each.

    It may be: `SEAT MOVE` (a cut with its place), `void SEAT...` (these release nothing at the call that is open),
    `ruling` (the server decides for the seat it waits for), `rest` (all pause and go on), `pause` (all pause),
    `SEAT pause`, `rekey SEAT`, `sub SEAT`, `resign SEAT`, `forfeit SEAT KIND`, `away SEAT` (from now on the server decides for it),
    `to PHASE INDEX` (everybody plays on until then), `on` (to the last ack), `stop` (here the transcript breaks off).
    """

    variant: str
    seed: int
    course: str = "on"
    seats: int = 2
    options: Mapping[str, int | str] = MappingProxyType({})
    opts: Opts = Opts()
    guests: tuple[int, ...] = ()
    boxed: bool = True
    links: int = 16
    rules: Mapping[str, object] = MappingProxyType({})
    """What the preset said otherwise when the transcript was made."""


SCRIPTS = {
    "truc-french.truc": Script(
        "truc-french",
        seed=60,
        options={"target": 8, "match": 1},
        opts=Opts(voids=2, gone=2),
        course="""\
0 redeal, 1 accept, 0 play Qs, 1 play 9s
0 play Jc, 1 play Ah
1 raise rest, 0 decline
void 1, rekey 0, rest
1 redeal, 0 accept
ruling
0 play 8c, 1 raise 2, 0 accept, 1 play Ah
0 raise rest, 1 raise rest, 0 play 9h""",
    ),
    "truc-catalan-4.truc": Script(
        "truc-catalan",
        seed=22,
        seats=4,
        options={"target": 5},
        opts=Opts(voids=2, gone=2),
        guests=(2,),
        course="""\
3 tap, 0 deal 1, 1 play 6c raise 2, 2 accept, 2 play 5e, 3 play 12c, 0 raise 3, 3 decline, 0 cut 38
void 1, rekey 0, rest
2 play 11b, 3 play 6c raise 2, 2 accept, 0 play 6b raise 3, 3 decline
ruling
2 accept, 3 play 1o, 0 play 3e, 1 play 2c, 2 play 11c
0 play 2e, 1 play 6e, 2 play 1b, 3 play 4c""",
    ),
    "argentine-match.truc": Script(
        "truco-argentino-flor", seed=26, options={"target": 15, "match": 1, "reveal": "match"}
    ),
    "paulista-4-blind.truc": Script(
        "truco-paulista",
        seed=2,
        seats=4,
        options={"target": 4, "blind": "on", "cover_from_trick": 2},
        guests=(3,),
    ),
    "paulista-turned.truc": Script(
        "truco-paulista", seed=53, options={"target": 4, "cover_from_trick": 2, "reveal": "match"}
    ),
    "le-truc-newcomer.truc": Script(
        "le-truc",
        seed=34,
        options={"target": 5, "match": 1},
        opts=Opts(voids=2, gone=1),
        links=3,
        course="to called 1, void 1, sub 1, to between 3, rekey 0, on",
    ),
    "put-forfeit.truc": Script(
        "put",
        seed=0,
        options={"match": 1},
        opts=Opts(gone_after=2),
        rules={"version": 1, "concede": "vs_ask"},
        course="to hand 2, away 1, to between 4, forfeit 1 absent, on",
    ),
    "trut-resigned.truc": Script(
        "trut", seed=1, options={"match": 1}, course="to hand 2, pause, resign 0, on"
    ),
    "le-truc-resigned.truc": Script(
        "le-truc",
        seed=2,
        options={"reveal": "match"},
        course="""\
0 stand, 0 raise 2, 1 decline
resign 1, on""",
    ),
    "truc-lanes-4-forfeit.truc": Script(
        "truc-lanes",
        seed=54,
        seats=4,
        options={"match": 1},
        opts=Opts(gone=1),
        course="to called 1, void 0 1, sub 0, forfeit 1 silent, on",
    ),
    "gauderio-guests.truc": Script(
        "truco-gauderio", seed=51, options={"target": 12, "match": 1}, guests=(0, 1), boxed=False
    ),
    "uruguayo.truc": Script(
        "truco-uruguayo",
        seed=12,
        options={"target": 12, "reveal": "match"},
        course="""\
to hand 2
1 flor, 0 contraflor, 1 accept, 1 points 33, 0 points 34, 1 play 1b, 0 play 5e
0 raise 2, 1 accept, 0 play 6b, 1 play 11e
1 play 5b, 0 play 10b
on""",
    ),
    "venezolano.truc": Script(
        "truco-venezolano",
        seed=375,
        options={"target": 12},
        course="""\
1 raise 3, 0 envido, 1 flor, 0 accept, 1 play 7c, 0 play 3b
0 raise 6, 1 accept, 0 play 2e, 1 play 10e
1 play 11e, 0 play 1c
on""",
    ),
    "valencia.truc": Script(
        "truc-valencia",
        seed=9,
        options={"target": 12, "match": 1, "reveal": "match"},
        course="""\
0 envido, 1 envido, 0 accept, 0 raise 2, 1 decline, 1 play 5b, 0 envido, 1 accept, 0 play 7e
0 raise 2, 1 accept, 0 play 5o, 1 raise 3, 0 raise 4, 1 accept, 1 play 1b
1 play 6b, 0 play 1e
on""",
    ),
    "truc-lanes-incomplete.truc": Script(
        "truc-lanes", seed=129, options={"match": 1}, guests=(1,), course="to hand 2, 1 pause, stop"
    ),
}


def play(script: Script) -> Table:
    """Play a script."""
    table = Table(
        with_options(replace(preset(script.variant), **script.rules), script.options),
        seats=script.seats,
        guests=script.guests,
        opts=script.opts,
        seed=script.seed,
        links=script.links,
        boxed_guests=script.boxed,
    )
    for line in re.split(", |\n", script.course):
        words = line.split()
        while not _waits_for(table, words[0]):
            if table.step() is None:
                raise ValueError(f"the match is over before {line!r}")
        _carry_out(table, words)
    return table if words == ["stop"] else table.run(until=_decides)


def _decides(ledger: Ledger) -> bool:
    return due(ledger) is Due.PLAYERS and ledger.phase in (Phase.BETWEEN, Phase.HAND)


def _waits_for(table: Table, word: str) -> bool:
    match word:
        case "void":
            return table.ledger.phase is Phase.CALLED
        case "rekey" | "sub":
            return table.ledger.phase is Phase.BETWEEN
        case "to" | "on" | "away" | "forfeit" | "resign" | "stop":
            return True
        case _:
            return _decides(table.ledger)


def _carry_out(table: Table, words: list[str]) -> None:
    match words:
        case ["stop"]:
            pass
        case ["on"]:
            table.run()
        case ["to", phase, index]:
            table.to(phase, index=int(index))
        case ["away", seat]:
            table.away = frozenset({int(seat)})
        case ["void", *seats]:
            table.silent = frozenset(map(int, seats))
            table.run(until=lambda ledger: ledger.phase is Phase.BETWEEN)
            table.silent = frozenset()
        case ["rest"]:
            table.rest()
            table.add(table.rule("resume"))
        case ["pause"]:
            table.rest()
        case _:
            table.add(_record(table, words))


def _record(table: Table, words: list[str]) -> Record:
    match words:
        case ["ruling"]:
            return table.dealer.move(table.ledger)
        case ["forfeit", seat, kind]:
            return table.dealer.forfeit(table.ledger, int(seat), kind)
        case ["sub", seat]:
            return table.newcomer(int(seat))
        case ["rekey" | "resign" as statement, seat]:
            player = table.players[int(seat)]
            return player.rekey(table.ledger) if statement == "rekey" else player.resign(table.ledger)
        case [seat, *move]:
            return _decision(table, int(seat), move)
        case _:
            raise ValueError("a line without words")


def _decision(table: Table, seat: int, words: list[str]) -> Record:
    match words:
        case ["pause"]:
            return table.act(seat, "pause")
        case ["cut", place]:
            return table.act(seat, "cut", (int(place),))
        case _:
            return _move(table, seat, " ".join(words))


def _move(table: Table, seat: int, line: str) -> Record:
    for action in legal(table.ledger.match, seat):
        if move_line(table.variant, action) == line:
            return table.record_of(action)
    raise ValueError(f"seat {seat} cannot {line}")


def main() -> None:
    """Write every transcript."""
    for name, script in SCRIPTS.items():
        (FOLDER / name).write_bytes(play(script).file())


if __name__ == "__main__":
    main()
