"""Seconds to verify many small matches, and few: `python tests/benchmarks/many.py [--few N] [--many N]`.

The matches are different ones of honest parties with keys, made in memory from seeds and read from files, so that nothing
but the number of files grows. What verifying them must reach stands in targets.py.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from protocol.forge import small
from protocol.peers import Table

from truc_client.all_cores import cores
from truc_client.verifying import examine_files
from truc_protocol.audit import Result

ROUNDS = 5


def made(folder: Path, count: int) -> list[Path]:
    """Play matches, and write their transcripts."""
    paths = [folder / f"{seed}.truc" for seed in range(count)]
    for seed, path in enumerate(paths):
        path.write_bytes(Table(small(), seed=seed, links=8).run().file())
    return paths


def verify_s(paths: list[Path], processes: int) -> float:
    """Return the seconds that it takes to verify files together."""
    begun = time.perf_counter()
    together = examine_files(paths, processes=processes)
    took = time.perf_counter() - begun
    assert {file.result for file in together.files} == {Result.PROVEN}
    return took


def measure(folder: Path, few: int, many: int) -> dict[str, float]:
    """Verify few files, as the middle of several rounds, and many, in one process and on all cores."""
    paths = made(folder, many)
    return {
        "few": few,
        "many": many,
        "few_s": statistics.median(verify_s(paths[:few], 1) for _ in range(ROUNDS)),
        "many_s": verify_s(paths, 1),
        "all_cores_s": verify_s(paths, cores()),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--many", type=int, default=10_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), chosen.few, chosen.many)))


if __name__ == "__main__":
    main()
