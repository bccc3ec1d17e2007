"""Fuzz one target, sessions with a server, or whole clients: `PYTHONPATH=tests:docs python -m fuzz TARGET --seconds 600`."""

import argparse
import importlib
import importlib.util
import sys
import tempfile
from functools import partial
from pathlib import Path

import trio
from fuzz.running import PACKAGES, Plan, run_atheris, run_plain


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command."""
    described = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    described.add_argument(
        "target", help="a target, `all`, `sessions`, `clients`; any other word lists the targets"
    )
    described.add_argument("--seconds", type=float, default=60, help="how long; of `all`, each target (60)")
    described.add_argument("--count", type=int, help="at most so many runs or sessions")
    described.add_argument("--seed", type=int, default=1, help="the same seed brings the same changes (1)")
    described.add_argument(
        "--corpus", type=Path, help="a folder to start from too; atheris keeps there what it finds new"
    )
    described.add_argument(
        "--crashes", type=Path, help="where to write what fails; a temporary folder if absent"
    )
    described.add_argument(
        "--guide",
        nargs="+",
        default=PACKAGES,
        metavar="MODULE",
        help="what atheris looks into: less starts sooner (every package)",
    )
    described.add_argument("--plain", action="store_true", help="without atheris, though it is there")
    described.add_argument(
        "--first",
        type=int,
        default=0,
        help="of sessions and clients: the number of the first one, to play it again",
    )
    return described


def main() -> int:
    """Run what was asked for; return the exit status."""
    given = parser().parse_args()
    if given.target in ("sessions", "clients"):  # imported here: atheris instruments what it looks into first
        run = importlib.import_module(f"fuzz.{given.target}").run
        return trio.run(
            partial(run, seconds=given.seconds, count=given.count, seed=given.seed, first=given.first)
        )
    crashes = given.crashes or Path(tempfile.mkdtemp(prefix="fuzz-"))
    plan = Plan(
        given.target, given.seconds, given.count, given.seed, given.corpus, crashes, tuple(given.guide)
    )
    is_plain = given.plain or given.target == "all"
    if not is_plain and importlib.util.find_spec("atheris") is None:
        sys.stderr.write(
            "atheris is not installed (Linux on x86_64 has it): changing what is there, unguided\n"
        )
        is_plain = True
    return run_plain(plan) if is_plain else run_atheris(plan)


if __name__ == "__main__":
    sys.exit(main())
