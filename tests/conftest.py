"""How the suite is spread over the machine, and what any test may need of it."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_FULL = Path("/dev/full")

gc.disable()  # while tests are collected: of what is made then, nothing is garbage


@pytest.fixture
def full() -> Iterator[int]:
    """Return a descriptor to which nothing can be written, as if the disk were full."""
    if not _FULL.exists():
        pytest.skip("needs a device that is always full, which Linux has")
    with _FULL.open("w") as device:
        yield device.fileno()


def pytest_xdist_auto_num_workers() -> int:
    """Return twice as many workers as there are cores: many tests spend most of their time waiting for processes."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_finish() -> None:
    """Let the collector run again, and not through all the tests that there are."""
    gc.freeze()
    gc.enable()
