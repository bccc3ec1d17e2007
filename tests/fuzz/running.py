"""Runs of one target: bytes are changed and checked until the time or the count is over, or something is found.

What fails is written down as a file that the suite replays once it stands in `found`. With atheris the bytes are guided by
what they reach; without it they are changed from the start alone.
"""

import hashlib
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

PACKAGES: Final = ("truc_rules", "truc_protocol", "truc_server", "truc_client", "truc_terminal", "truc_words")
SLOW_S: Final = 20
_PATIENCE_S: Final = 5.0


class Plan(NamedTuple):
    """What is to be run: a target, how long, how often, from which seed; where files are kept; what guides atheris."""

    target: str
    seconds: float
    count: int | None
    seed: int
    corpus: Path | None
    crashes: Path
    guide: tuple[str, ...] = PACKAGES


class Tally:
    """What a run has done so far."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.runs = 0
        self.slowest = 0.0
        self.failed: Path | None = None
        self._began = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the time or the count is reached, or something was found."""
        spent = time.monotonic() - self._began
        counted = self.plan.count is not None and self.runs >= self.plan.count
        return self.failed is not None or counted or spent >= self.plan.seconds

    def check(self, check: Callable[[bytes], None], tried: bytes) -> None:
        """Check bytes, and keep those on which the check fails."""
        began = time.monotonic()
        self.runs += 1
        try:
            check(tried)
        except Exception:  # whatever comes is what was looked for
            self._keep(tried, traceback.format_exc(limit=-12))
        spent = time.monotonic() - began
        self.slowest = max(self.slowest, spent)
        if spent > _PATIENCE_S and self.failed is None:
            self._keep(tried, f"the check took {spent:.1f} s")

    def _keep(self, tried: bytes, why: str) -> None:
        folder = self.plan.crashes / self.plan.target
        folder.mkdir(parents=True, exist_ok=True)
        self.failed = folder / hashlib.sha256(tried).hexdigest()[:16]
        self.failed.write_bytes(tried)
        sys.stderr.write(why + "\n")

    def summary(self, way: str) -> str:
        """Return the figures in a line."""
        spent = time.monotonic() - self._began
        outcome = "nothing found" if self.failed is None else f"FOUND {self.failed}"
        return (
            f"{self.plan.target}: {way}, seed {self.plan.seed}, {self.runs} runs in {spent:.1f} s, "
            f"{self.runs / max(spent, 0.001):.0f}/s, slowest {self.slowest * 1000:.0f} ms: {outcome}"
        )


def run_plain(plan: Plan) -> int:
    """Run a target without atheris, or all of them one after the other; return the exit status."""
    from fuzz.targets import TARGETS

    if plan.target == "all":
        return max(run_mutations(plan._replace(target=name)) for name in TARGETS)
    return run_mutations(plan) if plan.target in TARGETS else _list(TARGETS)


def _list(names: Iterable[str]) -> int:
    sys.stderr.write(f"expected a target, all, sessions or clients; the targets are {', '.join(names)}\n")
    return 2


def run_mutations(plan: Plan) -> int:
    """Change what a target starts from until the plan is over; return the exit status."""
    from fuzz.targets import TARGETS, mutator, starts

    chance, tally = random.Random(plan.seed), Tally(plan)
    check, mutate = TARGETS[plan.target].check, mutator(plan.target)
    begin = [*starts(plan.target), *_kept(plan)]
    for start in begin:
        tally.check(check, start)
    while not tally.is_over:
        tally.check(check, mutate(chance, chance.choice(begin), begin))
    sys.stdout.write(tally.summary("mutations") + "\n")
    return 1 if tally.failed else 0


def _kept(plan: Plan) -> list[bytes]:
    if plan.corpus is None or not plan.corpus.is_dir():
        return []
    return [path.read_bytes() for path in sorted(plan.corpus.iterdir()) if path.is_file()]


def run_atheris(plan: Plan) -> int:
    """Let atheris look for what a target fails on; ends the process when the plan is over.

    Returns:
        The exit status, if there is nothing to run or the fuzzer itself has failed.
    """
    import atheris

    with atheris.instrument_imports(include=[*plan.guide]):
        from fuzz.targets import TARGETS, mutator, starts

    if plan.target not in TARGETS:
        return _list(TARGETS)
    mutate, begin = mutator(plan.target), starts(plan.target)
    tally = Tally(plan)
    scratch = Path(tempfile.mkdtemp())

    def one(tried: bytes) -> None:
        tally.check(TARGETS[plan.target].check, tried)
        if tally.is_over:
            shutil.rmtree(scratch)
            _end(tally)

    def change(old: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        is_blind = chance.randrange(3) == 0
        return atheris.Mutate(old, most) if is_blind else mutate(chance, old, begin)[:most]

    corpus = _filled(plan.corpus or scratch, begin)
    atheris.Setup(_arguments(plan, corpus), one, custom_mutator=change)
    atheris.Fuzz()
    return 1


def _filled(corpus: Path, begin: Iterable[bytes]) -> Path:
    corpus.mkdir(parents=True, exist_ok=True)
    for start in begin:
        (corpus / hashlib.sha256(start).hexdigest()[:16]).write_bytes(start)
    return corpus


def _arguments(plan: Plan, corpus: Path) -> list[str]:
    folder = plan.crashes / plan.target
    folder.mkdir(parents=True, exist_ok=True)
    return [
        "fuzz",
        f"-seed={plan.seed}",
        f"-timeout={SLOW_S}",
        "-max_len=40000",
        "-rss_limit_mb=1024",
        "-verbosity=0",
        f"-artifact_prefix={folder}/",
        str(corpus),
    ]


def _end(tally: Tally) -> None:
    """Leave at once: libFuzzer has no way to be asked to stop."""
    sys.stdout.write(tally.summary("atheris") + "\n")
    sys.stdout.flush()
    os._exit(1 if tally.failed else 0)
