"""The codes of tables: how long they are, what they are made of, and how a log names a table.

Invariant: no log has the whole code of a private table, which is its invite.
"""

import re
from secrets import choice
from typing import Final

PUBLIC_CODE: Final = 5  # characters in the code of a listed table
PRIVATE_CODE: Final = 16  # 80 bits: the code is the invite
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_SHOWN: Final = 4  # characters of a private one
_INVITE: Final = re.compile(rf"\b[{_ALPHABET}]{{{PRIVATE_CODE}}}\b")


def draw_code(length: int) -> str:
    """Return a code that nobody can guess; a table may have it already."""
    return "".join(choice(_ALPHABET) for _ in range(length))


def label(code: str) -> str:
    """Return a table's name for logs."""
    return code if len(code) <= PUBLIC_CODE else f"{code[:_SHOWN]}..."


def without_invites(text: str) -> str:
    """Return a text for logs: of whatever looks like the code of a private table, the label."""
    return _INVITE.sub(lambda found: label(found[0]), text)
