"""Make the transcripts of mode blind in `blind/`: matches in memory whose keys come from seeds, played by dice.

With `PYTHONPATH=tests:protocol:server:client`, from the repository's root: `python -m vectors.blind_matches`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from protocol.blind_peers import BlindTable

from truc_protocol.blind_mode.sealed_pack import KeysStep, MaskStep, PackStage, SeatStep
from truc_protocol.records import Phase
from truc_protocol.setup import Opts
from truc_rules import preset, with_options

FOLDER: Final = Path(__file__).parent / "blind"


def _french(**table: object) -> BlindTable:
    variant = with_options(preset("truc-french"), {"target": 3, "match": 1})
    return BlindTable(variant, seats=2, links=16, **table)


def redeals() -> BlindTable:
    """Two seats: redeals, and a void of the first hand because one does not mask."""
    table = _french(seed=1, opts=Opts(gone=2))
    table.run(until=lambda ledger: ledger.blind_hand is not None)
    table.silent = frozenset(table.ledger.blind_hand.pack.owing() if table.ledger.blind_hand else ())
    table.step()
    table.silent = frozenset()
    return table.run()


def lends() -> BlindTable:
    """Four seats: cards lent to partners at the last point; after that hand one resigns."""
    variant = with_options(preset("truco-mineiro-2"), {"target": 5})
    return _resigned_after(2, BlindTable(variant, seats=4, seed=1, links=16))


def _resigned_after(hands: int, table: BlindTable) -> BlindTable:
    table.run(until=lambda ledger: ledger.deal_index > hands and ledger.phase is Phase.BETWEEN)
    table.add(table.players[0].resign(table.ledger))
    return table.run()


def six() -> BlindTable:
    """Six seats, one hand: then one resigns."""
    return _resigned_after(1, BlindTable("truco-argentino-6", seats=6, seed=2, links=16))


def unseen() -> BlindTable:
    """Two seats: cards turned up and covered, and a hand that is played blind."""
    options = {"target": 4, "blind": "on", "cover_from_trick": 2}
    return BlindTable(with_options(preset("truco-paulista"), options), seats=2, seed=2, links=16).run()


def other_order(_table: BlindTable, step: SeatStep) -> SeatStep:
    """Another order than the link says: every hand is one of cards, and nobody sees it before the link is open."""
    if not isinstance(step, MaskStep):
        return step
    points = step.points
    return step._replace(points=points[2:4] + points[:2] + points[4:])


def exposed() -> BlindTable:
    """Two seats, of which one is exposed by its link when the first hand is opened."""
    return _french(seed=4, cheats={1: other_order}).run()


def unopened() -> BlindTable:
    """Two seats, of which one does not open the first hand, and forfeits."""
    table = _french(seed=1)
    table.run(until=lambda ledger: ledger.hand is not None)
    table.silent = frozenset({1})
    return table.run()


def shut_boxes(_table: BlindTable, step: SeatStep) -> SeatStep:
    """Keys in boxes that do not open."""
    if not isinstance(step, KeysStep):
        return step
    return step._replace(boxes=tuple(bytes(len(box)) for box in step.boxes))


def garbled() -> BlindTable:
    """Two seats, of which one says that the first hand is garbled; the other is exposed by its link."""
    return _french(seed=4, cheats={1: shut_boxes}).run()


def newcomer() -> BlindTable:
    """Four seats with chains of three links: new chains, and a substitute for a seat that did not lock."""
    variant = with_options(preset("truc-catalan"), {"target": 3, "match": 1})
    table = BlindTable(variant, seats=4, seed=3, links=3, opts=Opts(gone=1))
    table.run(
        until=lambda ledger: ledger.blind_hand is not None and ledger.blind_hand.pack.stage is PackStage.LOCK
    )
    table.silent = frozenset(table.ledger.blind_hand.pack.owing() if table.ledger.blind_hand else ())
    table.step()
    table.silent = frozenset()
    return table.run()


MATCHES: Final[Mapping[str, Callable[[], BlindTable]]] = {
    "french-redeals.truc": redeals,
    "mineiro-4-lends.truc": lends,
    "argentino-6.truc": six,
    "paulista-unseen.truc": unseen,
    "french-exposed.truc": exposed,
    "french-unopened.truc": unopened,
    "french-garbled.truc": garbled,
    "catalan-4-newcomer.truc": newcomer,
}


if __name__ == "__main__":
    for name, match in MATCHES.items():
        (FOLDER / name).write_bytes(match().file())
