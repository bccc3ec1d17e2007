"""What tests of the kit share: the cases of clients by name, run at a command in this process."""

import sys
from pathlib import Path

import trio

from truc_conform.client_cases import chosen
from truc_conform.result import CaseResult
from truc_conform.running import Order, perform_all

BROKEN = Path(__file__).with_name("broken_client.py")
PATIENCE_S = 6.0


def judge(names, *command, level=None, jobs=2, patience_s=PATIENCE_S) -> dict[str, CaseResult]:
    """Return the results of some cases, or of a level, by name."""
    order = Order(tuple(map(str, command)), patience_s=patience_s, jobs=jobs)
    found = trio.run(perform_all, chosen(level, names), order)
    return {result.case.name: result for result in found}


def broken(fault: str, *extra: str) -> tuple[str, ...]:
    """Return the command of a client with one fault; "" is none."""
    return (sys.executable, str(BROKEN), "{url}", *(("--fault", fault) if fault else ()), *extra)
