"""How a long run is asked for, and what it says at its end: its figures in one line, and the exit status.

Invariant: the status is 1 if anything was not as promised, whatever it was.
"""

import argparse
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import trio

SHOWN: Final = 20

Plan = TypeVar("Plan", bound=Any)


class Outcome(NamedTuple):
    """What was counted in a run that ends with the first violation, and what its line tells besides."""

    figures: Counter[str]
    more: str = ""

    violations = ()

    @property
    def line(self) -> str:
        """The figures in one line."""
        return counted(self.figures) + self.more


def planned(
    plan: Plan, flags: Mapping[str, str], arguments: Sequence[str] | None, doc: str, **choices: Sequence[str]
) -> Plan:
    """Return a plan with what the command line says in place of its own values, which are the defaults.

    `flags` says what each field is that has a flag: its name, without the unit of a time.
    """
    parser = argparse.ArgumentParser(description=doc)
    for field, said in flags.items():
        flag, default = f"--{field.removesuffix('_s')}", getattr(plan, field)
        if isinstance(default, bool):
            parser.add_argument(flag, dest=field, action="store_true", help=said)
        else:
            how = {"type": type(default), "default": default, "choices": choices.get(field)}
            parser.add_argument(flag, dest=field, help=f"{said} (%(default)s)", **how)
    return plan._replace(**vars(parser.parse_args(arguments)))


def carry_out(plan: Plan, run: Callable[[Plan, Path], Awaitable[Any]]) -> int:
    """Run a plan in a new folder, which stays if anything was not as promised; return the exit status.

    What it comes to has its figures as `line`, and may have `violations`.
    """
    folder = Path(tempfile.mkdtemp(prefix="truc-"))
    try:
        outcome = trio.run(run, plan, folder)
    except Exception as error:  # whatever it is, it is not what was promised
        traceback.print_exception(error)
        line, violations = "failed", [repr(error)]
    else:
        line, violations = outcome.line, outcome.violations
    if violations:
        line = f"{line}; everything is left in {folder}"
    else:
        shutil.rmtree(folder)
    return report(f"{plan}: {line}", violations)


def report(line: str, violations: Sequence[str]) -> int:
    """Write the figures and the first violations; return the exit status."""
    sys.stdout.write(line + "\n")
    sys.stderr.writelines(f"{violation}\n" for violation in violations[:SHOWN])
    return 1 if violations else 0


def counted(figures: Mapping[str, int]) -> str:
    """Write figures by their names."""
    return ", ".join(f"{name} {n}" for name, n in sorted(figures.items()))
