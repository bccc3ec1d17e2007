"""What tests of the kit share: the cases of clients by name, run at a command in this process, and those of servers, at a port.

Whoever is judged waits most of the time, and the kit with it: so many are judged at once.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import trio
from server.conftest import QUICK, changed

from truc_conform import server_cases
from truc_conform.client_cases import JudgingOrder, chosen, in_order, perform_all
from truc_conform.result import CaseOutcome, CaseResult, CaseVerdict

BROKEN = Path(__file__).with_name("broken_client.py")
PATIENCE_S = 6.0
JOBS = 12
SLOW_TALK = changed(QUICK, limits={"requests_per_s": 10, "burst": 20})
LOW_LIMITS = changed(
    QUICK,
    limits={
        "connections_per_address": 8,
        "failed_logins_per_min": 60,
        "tables_per_min": 4,
        "idle_s": 1,
        "login_s": 1,
    },
    access={"bots": ("A" * 26,)},
)
"""What the cases about who is away, claims, calls, phrases and limits are judged under."""
CASES = {case.name: case for case in server_cases.CASES}


def judge(names, *command, level=None, jobs=2, patience_s=PATIENCE_S) -> dict[str, CaseResult]:
    """Return the results of some cases, or of a level, by name."""
    return trio.run(_judge, chosen(level, names), command, jobs, patience_s)


def judge_each(clients: Mapping, *, jobs=JOBS) -> dict[object, dict[str, CaseResult]]:
    """Return, for each of several clients, the results by name of the cases named beside its command, and its patience if told."""

    async def work(client):
        names, command, patience_s = (*client, PATIENCE_S)[:3]
        return await _judge(chosen(None, names), command, 2, patience_s)

    found = trio.run(in_order, list(clients.values()), work, jobs)
    return dict(zip(clients, found, strict=True))


async def _judge(scenes, command, jobs, patience_s) -> dict[str, CaseResult]:
    order = JudgingOrder(tuple(map(str, command)), patience_s=patience_s, jobs=jobs)
    return {result.case.name: result for result in await perform_all(scenes, order)}


def failures(results: Mapping[str, CaseResult]) -> list[str]:
    """Return the names of the cases that failed."""
    return [name for name, result in results.items() if result.verdict is CaseVerdict.FAIL]


def broken(fault: str, *extra: str) -> tuple[str, ...]:
    """Return the command of a client with one fault; "" is none."""
    return (sys.executable, str(BROKEN), "{url}", *(("--fault", fault) if fault else ()), *extra)


async def judge_server(port: int, name: str, *, patience_s: float) -> CaseOutcome:
    """Return what a case of servers comes to at a port."""
    return await server_cases.judge(CASES[name], f"127.0.0.1:{port}", patience_s=patience_s, hands=2)
