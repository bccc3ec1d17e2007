"""What every test of the kit has: servers that log as servers do, and sums that are not done again.

A server in the process of a test logs as servers do: the traceback of a planted fault, with every value, takes seconds.
"""

import checked_once
import pytest
from server.conftest import plain_logs

__all__ = ["plain_logs"]


@pytest.fixture(autouse=True)
def checks_are_shared(monkeypatch):
    checked_once.install(monkeypatch)
