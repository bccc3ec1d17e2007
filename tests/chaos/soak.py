"""Many hands on one server process: memory and open files stay flat, the database grows by so much for each hand.

`python -m chaos.soak --hands 100000`. Thin guests play as fast as they can at a few tables. Prints one line of figures;
the exit status is 1 if anything grows that should not, or anything acknowledged is missing.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.keyed import play_keyed
from chaos.measures import Sample, cpu_s, growth, sample, slope
from chaos.reporting import report
from chaos.servers import ServerProcess, serving
from chaos.stored import missing_acts
from chaos.thin import Address, Game, Tally, play_on, seated

SAMPLES: Final = 200
STRAIGHT: Final = 0.99  # of the database's spread, explained by the hands alone
PATIENCE_S: Final = 60.0  # without a single hand


class Course(NamedTuple):
    """What a soak does."""

    hands: int
    tables: int = 16
    game: Game = Game()
    seed: int = 1
    is_keyed: bool = False


class Soaked(NamedTuple):
    """What came of a soak; `violations` is empty if all is well."""

    course: Course
    seconds: float
    cpu_s: float
    hands: int
    matches: int
    acts: int
    samples: tuple[Sample, ...]
    violations: tuple[str, ...]

    @property
    def bytes_a_hand(self) -> float:
        """Bytes of the database for each hand, its share of a match included."""
        return slope([(each.done, each.database_bytes) for each in self.samples])[0]

    def line(self) -> str:
        """Tell the figures in one line."""
        first, last = self.samples[len(self.samples) // 4], self.samples[-1]
        _, straight = slope([(each.done, each.database_bytes) for each in self.samples])
        words = [
            f"{self.course.game.variant} seats={self.course.game.seats} seed={self.course.seed}",
            f"keyed={self.course.is_keyed} hands={self.hands} matches={self.matches} acts={self.acts}",
            f"seconds={self.seconds:.0f} hands_a_second={self.hands / self.seconds:.0f}",
            f"server_us_an_act={self.cpu_s / self.acts * 1e6:.0f}",
            f"rss_mb={first.rss_mb:.1f}..{last.rss_mb:.1f} files={first.files}..{last.files}",
            f"bytes_a_hand={self.bytes_a_hand:.0f} straight={straight:.4f}",
            f"violations={len(self.violations)}",
        ]
        return " ".join(words)


async def soak(folder: Path, course: Course) -> Soaked:
    """Play so many hands on a server of its own, and look at it all the while."""
    tally, begun = Tally(), time.monotonic()
    async with serving(folder / "data", level="info") as server:
        samples = await _play(server, course, tally)
        seconds, spent_s = time.monotonic() - begun, cpu_s(server)
        violations = await server.stop()
    violations += [*tally.faults, *missing_acts(server.data, tally.taken), *_grown(samples)]
    return Soaked(
        course, seconds, spent_s, tally.hands, tally.matches, tally.acts.total(), samples, tuple(violations)
    )


async def _play(server: ServerProcess, course: Course, tally: Tally) -> tuple[Sample, ...]:
    addresses = [Address(server.port)] * course.game.seats
    async with trio.open_nursery() as nursery:
        for i in range(course.tables):
            seed = course.seed * 1_000 + i
            if course.is_keyed:
                nursery.start_soon(partial(play_keyed, addresses, tally, course.game, seed=seed))
                continue
            for guest in await seated(addresses, tally, course.game, seed=seed):
                nursery.start_soon(play_on, guest, tally)
        samples = await _watch(server, course, tally)
        nursery.cancel_scope.cancel()
    return samples


async def _watch(server: ServerProcess, course: Course, tally: Tally) -> tuple[Sample, ...]:
    """Look at the server at every so many hands, until all are played or something is wrong."""
    samples = list[Sample]()
    for i in range(SAMPLES):
        with trio.move_on_after(PATIENCE_S) as patience:
            await tally.wait(partial(_has_played, tally, course.hands * (i + 1) / SAMPLES))
        samples.append(sample(server, tally.hands))
        if patience.cancelled_caught:
            tally.blame(f"no table went on after {tally.hands} hands")
        if tally.faults:
            break
    return tuple(samples)


def _has_played(tally: Tally, hands: float) -> bool:
    return tally.hands >= hands


def _grown(samples: Sequence[Sample]) -> list[str]:
    """Say what grows that should not, and what does not grow as it should."""
    figures = {"memory": [s.rss_mb for s in samples], "open files": [float(s.files) for s in samples]}
    found = {name: growth(values) for name, values in figures.items()}
    grown = [f"{name} grows: {how}" for name, how in found.items() if how is not None]
    _, straight = slope([(s.done, s.database_bytes) for s in samples])
    return grown + ([] if straight >= STRAIGHT else [f"the database grows unevenly: {straight:.4f}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak a server; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m chaos.soak", description=__doc__)
    parser.add_argument("--hands", type=int, default=100_000, help="hands to play (100000)")
    parser.add_argument("--tables", type=int, default=16, help="tables they are played at (16)")
    parser.add_argument("--variant", default=Game().variant, help=f"the game ({Game().variant})")
    parser.add_argument("--seats", type=int, default=2, help="seats of a table (2)")
    parser.add_argument("--match", type=int, default=5, help="games of a match (5)")
    parser.add_argument("--keyed", action="store_true", help="every seat has a key, signs and audits")
    parser.add_argument("--seed", type=int, default=1, help="what play is drawn from (1)")
    chosen = parser.parse_args(arguments)
    game = Game(chosen.variant, chosen.seats, {"match": chosen.match})
    course = Course(chosen.hands, chosen.tables, game, chosen.seed, chosen.keyed)
    with tempfile.TemporaryDirectory() as folder:
        soaked = trio.run(partial(soak, Path(folder), course))
    return report(soaked.line(), soaked.violations)


if __name__ == "__main__":
    sys.exit(main())
