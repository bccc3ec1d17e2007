"""A flood of garbage beside honest tables: none of them loses an act, and the server stays as it was.

`python -m chaos.flood --seconds 1200 --tables 200`. The honest play from addresses of their own, so that the server's limits
for an address bite the flood alone; nothing of the server's settings is loosened for either. Prints one line of figures; the
exit status is 1 if anything acknowledged is missing, a table stands still, or the server takes up more than it should.
"""

import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.attacks import ATTACKS, attacking
from chaos.measures import Sample, growth, sample
from chaos.reporting import carry_out, planned
from chaos.servers import ServerProcess, serving
from chaos.stored import missing_acts
from chaos.thin import Address, Game, Guest, Tally, connect, play_on, seated

SETTINGS: Final = {"TRUC_TABLES_BETWEEN_HANDS_MS": "200"}
TABLES_AN_ADDRESS: Final = 9  # two connections each: below the 20 that an address may have
EVERY_S: Final = 0.1
MORE_MB: Final = 64.0
"""Than the quiet server: the outboxes of all that may be connected, and what the allocator keeps."""
LINGERING: Final = 256  # who is turned away and reads why, at most
MORE_FILES: Final = 20 * len(ATTACKS) + LINGERING + 64
"""Than the quiet server: let in, turned away, just come."""
LOG_BYTES_A_S: Final = 40_000
PATIENCE_S: Final = 60.0
CALM_S: Final = 60
LOGIN_S: Final = 20.0  # for a login that does not wait for anything, on a busy machine


class Course(NamedTuple):
    """What a flood does; a table makes an act every `pause_s` seconds."""

    seconds: float = 60.0
    tables: int = 200
    pause_s: float = 2.0
    seed: int = 1


class Flooded(NamedTuple):
    """What came of a flood; `violations` is empty if all is well."""

    course: Course
    acts: int
    attacks: Counter[str]
    quiet: Sample
    samples: tuple[Sample, ...]
    after: Sample
    log_bytes: int
    violations: tuple[str, ...]

    @property
    def line(self) -> str:
        """Tell the figures in one line."""
        return " ".join(
            [
                f"acts={self.acts} attacks={self.attacks.total()}",
                f"rss_mb={self.quiet.rss_mb:.1f}..{max(s.rss_mb for s in self.samples):.1f}..{self.after.rss_mb:.1f}",
                f"files={self.quiet.files}..{max(s.files for s in self.samples)}..{self.after.files}",
                f"log_bytes={self.log_bytes} violations={len(self.violations)}",
                *(f"{name}={n}" for name, n in sorted(self.attacks.items())),
            ]
        )


@asynccontextmanager
async def honest_tables(
    port: int, tables: int, tally: Tally, *, seed: int, pause_s: float
) -> AsyncIterator[None]:
    """Let guests play at so many tables, from addresses of which each has no more connections than it may."""
    async with trio.open_nursery() as nursery:
        guests = list[Guest]()
        for i in range(tables):
            address = Address(port, f"127.0.1.{i // TABLES_AN_ADDRESS + 1}")
            guests += await seated([address] * 2, tally, Game(), seed=seed * 1_000 + i, pause_s=pause_s)
            for guest in guests[-2:]:
                nursery.start_soon(play_on, guest, tally)
        yield
        nursery.cancel_scope.cancel()


async def flood(course: Course, folder: Path) -> Flooded:
    """Flood a server of its own, and look at it all the while."""
    tally, counts = Tally(), Counter[str]()
    async with serving(folder / "data", SETTINGS, level="info") as server:
        honest = honest_tables(server.port, course.tables, tally, seed=course.seed, pause_s=course.pause_s)
        async with honest:
            await _each_acts(tally, course)
            quiet = sample(server)
            log_before = server.log.stat().st_size
            async with attacking(server.port, counts, seed=course.seed):
                samples = await _watch(server, course)
            log_bytes = server.log.stat().st_size - log_before
            await _each_acts(tally, course)
            await _login_at_once(server, tally)
            after = await _calm(server, quiet)
        violations = await server.stop()
    violations += [*tally.faults, *missing_acts(server.data, tally.taken)]
    violations += [f"nobody ever came to {way.name}" for way in ATTACKS if not counts[way.name]]
    flooded = Flooded(course, tally.acts.total(), counts, quiet, samples, after, log_bytes, ())
    return flooded._replace(violations=(*violations, *excesses(flooded)))


async def _watch(server: ServerProcess, course: Course) -> tuple[Sample, ...]:
    samples = list[Sample]()
    with trio.move_on_after(course.seconds):
        while True:
            await trio.sleep(EVERY_S)
            samples.append(sample(server))
    return tuple(samples)


async def _each_acts(tally: Tally, course: Course) -> None:
    """Wait until every table has made an act from now on."""
    before = Counter(tally.acts)

    def moving() -> int:
        return sum(acts > before[table] for table, acts in tally.acts.items())

    with trio.move_on_after(PATIENCE_S + 10 * course.pause_s) as patience:
        await tally.wait(lambda: moving() >= course.tables)
    if patience.cancelled_caught:
        tally.blame(f"only {moving()} of {course.tables} tables go on")


async def _login_at_once(server: ServerProcess, tally: Tally) -> None:
    """Log in from an address that nobody has come from."""
    async with await connect(Address(server.port, "127.0.2.1")) as stream:
        try:
            with trio.fail_after(LOGIN_S):
                await Guest(stream, tally, random.Random(0)).enter("late")
        except (trio.TooSlowError, ConnectionError) as error:
            tally.blame(f"nobody new gets in: {error}")


async def _calm(server: ServerProcess, quiet: Sample) -> Sample:
    """Wait until no more files are open than before the flood; return what the server takes up then."""
    for _ in range(CALM_S * 10):
        if sample(server).files <= quiet.files:
            break
        await trio.sleep(0.1)
    return sample(server)


def excesses(flooded: Flooded) -> list[str]:
    """Say what the server took up beyond what it may."""
    quiet, rss = flooded.quiet, [during.rss_mb for during in flooded.samples]
    files = max(during.files for during in flooded.samples)
    grown = growth(rss)
    said = {
        f"memory rose from {quiet.rss_mb:.1f} to {max(rss):.1f} MB": max(rss) > quiet.rss_mb + MORE_MB,
        f"memory grows {grown}": grown is not None,
        f"open files rose from {quiet.files} to {files}": files > quiet.files + MORE_FILES,
        f"{flooded.after.files} files stay open, {quiet.files} were": flooded.after.files > quiet.files,
        f"the log has {flooded.log_bytes} bytes more": flooded.log_bytes
        > LOG_BYTES_A_S * flooded.course.seconds,
    }
    return [what for what, is_so in said.items() if is_so]


FLAGS: Final = {
    "seconds": "how long it floods",
    "tables": "honest tables beside it",
    "pause_s": "seconds between two acts of a table",
    "seed": "what play and garbage are drawn from",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Flood a server; return the exit status."""
    return carry_out(planned(Course(), FLAGS, arguments, __doc__), flood)


if __name__ == "__main__":
    sys.exit(main())
