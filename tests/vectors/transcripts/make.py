"""Make the transcripts beside this file: two matches whose keys come from seeds and whose moves stand here.

Run from the repository's root: python -m vectors.transcripts.make, with tests, protocol and server on the path.
"""

from pathlib import Path
from typing import NamedTuple

from protocol.peers import Table

from truc_protocol.ledger import Due, due
from truc_protocol.records import Phase, Record
from truc_protocol.setup import Opts
from truc_rules import legal, move_line, preset, with_options

FOLDER = Path(__file__).parent


class Script(NamedTuple):
    """A match: its terms, and a line for each decision.

    Lines: `SEAT MOVE` (a cut with its place), `void SEAT` (that seat releases nothing at the call that is open),
    `ruling` (the server decides for the seat it waits for), `rest` (all pause and go on), `rekey SEAT`.
    """

    variant: str
    seats: int
    options: dict[str, int | str]
    opts: Opts
    guests: tuple[int, ...]
    seed: int
    lines: str


SCRIPTS = {
    "truc-french.truc": Script(
        variant="truc-french",
        seats=2,
        options={"target": 8, "match": 1},
        opts=Opts(voids=2, gone=2),
        guests=(),
        seed=60,
        lines="""\
0 redeal
1 accept
0 play Qs
1 play 9s
0 play Jc
1 play Ah
1 raise rest
0 decline
void 1
rekey 0
rest
1 redeal
0 accept
ruling
0 play 8c
1 raise 2
0 accept
1 play Ah
0 raise rest
1 raise rest
0 play 9h""",
    ),
    "truc-catalan-4.truc": Script(
        variant="truc-catalan",
        seats=4,
        options={"target": 5},
        opts=Opts(voids=2, gone=2),
        guests=(2,),
        seed=22,
        lines="""\
3 tap
0 deal 1
1 play 6c raise 2
2 accept
2 play 5e
3 play 12c
0 raise 3
3 decline
0 cut 38
void 1
rekey 0
rest
2 play 11b
3 play 6c raise 2
2 accept
0 play 6b raise 3
3 decline
ruling
2 accept
3 play 1o
0 play 3e
1 play 2c
2 play 11c
0 play 2e
1 play 6e
2 play 1b
3 play 4c""",
    ),
}


def play(script: Script) -> Table:
    """Play a script."""
    variant = with_options(preset(script.variant), script.options)
    table = Table(
        variant,
        seats=script.seats,
        guests=script.guests,
        opts=script.opts,
        seed=script.seed,
        links=16,
        boxed_guests=True,
    )
    for line in script.lines.split("\n"):
        words = line.split()
        while not _waits_for(table, words[0]):
            table.step()
        _carry_out(table, words)
    return table.run(until=_decides)


def _decides(ledger) -> bool:
    return due(ledger) is Due.PLAYERS and ledger.phase in (Phase.BETWEEN, Phase.HAND)


def _waits_for(table: Table, word: str) -> bool:
    match word:
        case "void":
            return table.ledger.phase is Phase.CALLED
        case "rekey":
            return table.ledger.phase is Phase.BETWEEN
        case _:
            return _decides(table.ledger)


def _carry_out(table: Table, words: list[str]) -> None:
    match words:
        case ["void", seat]:
            table.silent = frozenset({int(seat)})
            table.run(until=lambda ledger: ledger.phase is Phase.BETWEEN)
            table.silent = frozenset()
        case ["rekey", seat]:
            table.add(table.players[int(seat)].rekey(table.ledger))
        case ["rest"]:
            table.rest()
            table.add(table.rule("resume"))
        case ["ruling"]:
            table.add(table.dealer.move(table.ledger))
        case [seat, "cut", place]:
            table.add(table.act(int(seat), "cut", (int(place),)))
        case [seat, *move]:
            table.add(_move(table, int(seat), " ".join(move)))


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
