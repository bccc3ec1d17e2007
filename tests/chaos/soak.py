"""Many hands on one server process: memory and open files stay flat, the database grows by so much for each hand.

`python -m chaos.soak --hands 100000`. Thin guests play as fast as they can at a few tables. Prints one line of figures;
the exit status is 1 if anything grows that should not, or anything acknowledged is missing.
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.keyed import play_keyed
from chaos.measures import Sample, cpu_s, growth, sample, slope
from chaos.reporting import carry_out, planned
from chaos.servers import ServerProcess, serving
from chaos.stored import missing_acts
from chaos.thin import Address, Game, Tally, play_on, seated

SAMPLES: Final = 200
STRAIGHT: Final = 0.99  # of the database's spread, explained by the hands alone
PATIENCE_S: Final = 60.0  # without a single hand


class Course(NamedTuple):
    """What a soak does."""

    hands: int = 100_000
    tables: int = 16
    variant: str = "put"
    seats: int = 2
    match: int = 5
    seed: int = 1
    keyed: bool = False

    @property
    def game(self) -> Game:
        """What is played at each table."""
        return Game(self.variant, self.seats, {"match": self.match})


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

    @property
    def line(self) -> str:
        """Tell the figures in one line."""
        first, last = self.samples[len(self.samples) // 4], self.samples[-1]
        _, straight = slope([(each.done, each.database_bytes) for each in self.samples])
        words = [
            f"hands={self.hands} matches={self.matches} acts={self.acts}",
            f"seconds={self.seconds:.0f} hands_a_second={self.hands / self.seconds:.0f}",
            f"server_us_an_act={self.cpu_s / self.acts * 1e6:.0f}",
            f"rss_mb={first.rss_mb:.1f}..{last.rss_mb:.1f} files={first.files}..{last.files}",
            f"bytes_a_hand={self.bytes_a_hand:.0f} straight={straight:.4f}",
            f"violations={len(self.violations)}",
        ]
        return " ".join(words)


async def soak(course: Course, folder: Path) -> Soaked:
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
            if course.keyed:
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


FLAGS: Final = {
    "hands": "hands to play",
    "tables": "tables they are played at",
    "variant": "the game",
    "seats": "seats of a table",
    "match": "games of a match",
    "keyed": "every seat has a key, signs and audits",
    "seed": "what play is drawn from",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak a server; return the exit status."""
    return carry_out(planned(Course(), FLAGS, arguments, __doc__), soak)


if __name__ == "__main__":
    sys.exit(main())
