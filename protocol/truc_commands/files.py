"""What somebody names on a command line: its path, and reading it. A link to a device has no end, and no command may fill the memory with it."""

import errno
from pathlib import Path
from typing import Final

MAX_TEXT: Final = 1 << 20
"""How many bytes a file that people write may have, where nothing sets another limit."""


MAX_OWN: Final = 64 * MAX_TEXT
"""How many bytes a file may have that the program itself has written, with a line for each match or key."""


def path_of(text: str) -> Path:
    """Return a path as somebody writes it: `~` is their home folder, and stays as it is where none is known."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def is_homeless(path: Path) -> bool:
    """Tell whether a path begins with a home folder that is not known."""
    return path.parts[:1] != () and path.parts[0].startswith("~")


def read_bounded(path: Path, most: int) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: It cannot be opened or read, or is longer than `most` bytes; `filename` says which file it is.
    """
    # one byte more shows that there are too many: a device reports no size
    content = read_beginning(path, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"expected at most {most} bytes", str(path))
    return content


def read_beginning(path: Path, most: int) -> bytes:
    """Return at most so many bytes of a file.

    Raises:
        OSError: It cannot be opened or read; `filename` says which file it is.
    """
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        # an error while reading, unlike one while opening, does not name the file
        error.filename = str(path)
        raise
