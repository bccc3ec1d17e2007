"""How the suite is spread over the machine."""

import os


def pytest_xdist_auto_num_workers() -> int:
    """Return twice as many workers as there are cores: many tests spend most of their time waiting for processes."""
    return 2 * (os.cpu_count() or 1)
