"""The codes of tables: how long they are, what they are made of, and how a log names a table.

Invariant: no log has the whole code of a private table, which is its invite.
"""

import re
from secrets import choice
from typing import Final

PUBLIC_CODE: Final = 5  # characters in the code of a listed table
PRIVATE_CODE: Final = 16  # 80 bits, 75 beside other nodes: the code is the invite
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_SHOWN: Final = 4  # characters of a private one
_INVITE: Final = re.compile(rf"\b[{_ALPHABET}]{{{PRIVATE_CODE}}}\b")


SHARES: Final = len(_ALPHABET)
"""Into so many shares all codes of a length fall, equally large: nodes that draw from different ones never draw the same."""


def draw_code(length: int, share: int | None) -> str:
    """Return a code that nobody can guess, from a share of all codes if one is given; a table may have it already.

    A share costs 5 of the bits that nobody can guess.
    """
    drawn = "".join(choice(_ALPHABET) for _ in range(length))
    if share is None:
        return drawn
    last = _ALPHABET[(share - share_of(drawn[:-1])) % SHARES]
    return drawn[:-1] + last


def share_of(code: str) -> int:
    """Return which share a code falls into: the sum of its characters' values."""
    return sum(map(_ALPHABET.index, code)) % SHARES


def label(code: str) -> str:
    """Return a table's name for logs."""
    # enough to find the table again in the log, and far from enough to join it
    return code if len(code) <= PUBLIC_CODE else f"{code[:_SHOWN]}..."


def without_invites(text: str) -> str:
    """Return a text for logs: of whatever looks like the code of a private table, the label."""
    return _INVITE.sub(lambda found: label(found[0]), text)
