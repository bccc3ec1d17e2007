"""What every test of the kit has: servers that log as servers do, and sums that are not done again.

A server in the process of a test logs as servers do: the traceback of a planted fault, with every value, takes seconds.
"""

import pytest
from conform import reckoned_once
from server.conftest import plain_logs

__all__ = ["plain_logs"]


@pytest.fixture(autouse=True)
def reckons_once(monkeypatch):
    reckoned_once.install(monkeypatch)
