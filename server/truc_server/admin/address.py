"""How long the path of a Unix socket may be: what the system's `sun_path` holds."""

import os
import sys
from pathlib import Path
from typing import Final

from truc_server.admin.requests import AdminError

MAX_PATH: Final = 103 if sys.platform == "darwin" else 107
"""Bytes of the path, without the zero that ends it."""


def check_length(path: Path) -> None:
    """Check that a path is short enough for a socket.

    Raises:
        AdminError: It is too long.
    """
    length = len(os.fsencode(path))
    if length > MAX_PATH:
        raise AdminError(
            f"{path} has {length} bytes, and the path of a socket at most {MAX_PATH}: move the data folder to a shorter path"
        )
