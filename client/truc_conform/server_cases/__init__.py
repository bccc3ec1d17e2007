"""Every case for servers, and how a case is judged."""

from collections.abc import Mapping
from typing import Final

import trio

from truc_conform.expectations import UnmetError, shown
from truc_conform.result import PASSED, Case, CaseOutcome, CaseVerdict, failed, in_module
from truc_conform.server_cases import (
    audit,
    away,
    blind,
    blind_hands,
    company,
    limits,
    play,
    session,
    tables,
    talk,
    transport,
    watch,
)
from truc_conform.server_visit import ServerCase, ServerVisit, read_address
from truc_protocol.audit import AuditError
from truc_protocol.errors import RemoteError

HANDS: Final = 20
_IN_ORDER: Final = (
    transport,
    session,
    tables,
    watch,
    company,
    play,
    blind,
    blind_hands,
    away,
    talk,
    audit,
    limits,
)
GROUPS: Final[Mapping[str, tuple[ServerCase, ...]]] = {
    module.__name__.rpartition(".")[2]: in_module(module, ServerCase) for module in _IN_ORDER
}
"""The cases by what they are about, in the order of a run."""
_ALL: Final = tuple(each for group in GROUPS.values() for each in group)
_RUNS: Final = {each.case.name: each.run for each in _ALL}
_LONGEST_CASE_S: Final = 300.0  # a case that hangs is told as a failure instead of ending the run
_LONGEST_WAIT_S: Final = 120.0  # what is limited for a minute is free again after two
# A server that refuses for ever must not keep the kit for ever.
_ATTEMPTS: Final = 5
CASES: Final[tuple[Case, ...]] = tuple(each.case for each in _ALL)


async def judge(
    case: Case, address: str, *, seed: int = 1, patience_s: float = 5.0, hands: int = HANDS
) -> CaseOutcome:
    """Run one case against the server at HOST:PORT; `patience_s` is how long an answer may take.

    A server may ask those who come, or fail to log in, too often to wait: then the case is run again.

    Raises:
        ValueError: The address cannot be read.
        OSError: Nothing listens there.
    """
    for attempt in range(_ATTEMPTS):
        visit = ServerVisit(read_address(address), seed=seed, patience_s=patience_s, hands=hands)
        outcome = await _judge_once(case, visit)
        wait_s = visit.asked_to_wait() * 2**attempt  # a case may need more logins than one
        if outcome.verdict is not CaseVerdict.FAIL or not wait_s:
            return outcome
        await trio.sleep(min(wait_s, _LONGEST_WAIT_S))
    return failed(f"the server asked for a wait {_ATTEMPTS} times, though the kit waited each time")


async def _judge_once(case: Case, visit: ServerVisit) -> CaseOutcome:
    try:
        with trio.fail_after(_LONGEST_CASE_S):
            async with visit:
                return await _RUNS[case.name](visit) or PASSED
    except Exception as error:
        # Nurseries wrap what is raised in them in groups.
        return _outcome(_first(error), visit.patience_s)


def _first(error: Exception) -> Exception:
    """Return the exception that was raised, out of the groups that nurseries make."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _outcome(error: Exception, patience_s: float) -> CaseOutcome:
    """Return what an exception says about the server; one that says nothing about it is raised again."""
    match error:
        case UnmetError():
            return CaseOutcome(error.verdict, str(error))
        # An audit of the server's records that fails is a fault of the server.
        case RemoteError() | AuditError():
            return failed(str(error))
        case trio.TooSlowError():
            return failed(f"no answer within {patience_s:g} s")
        case trio.BrokenResourceError():
            return failed("the connection was closed without a word")
        # Cases read answers without checks; what is missing in one
        # is the server's fault, and told with what was looked for.
        case KeyError() | TypeError() | ValueError() | IndexError():
            return failed(f"an answer of the wrong shape: {shown(error)}")
        case _:
            raise error
