"""What the host may ask of a running server: one JSON object per line, `command` first; the answer is one line too.

Invariant: a request that was read has fields of the right types and in range, and none that are unknown.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

MAX_REQUEST: Final = 4_096  # bytes of one line
MOST_ROWS: Final = 1_000  # in one answer
MAX_REPLY: Final = 4 << 20  # bytes of one line: more than that many rows of any kind take
_MOST_HOURS: Final = 87_600
_TEXT: Final = 256

Text = Annotated[str, Meta(max_length=_TEXT)]
Named = Annotated[str, Meta(min_length=1, max_length=_TEXT)]
Hours = Annotated[int, Meta(ge=1, le=_MOST_HOURS)]


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command"):
    """What can be asked for; `truc-server admin` takes the fields as arguments, and shows the docstring as its help."""


class Who(_Request, frozen=True, tag="who"):
    """List connections; with TEXT those whose name, tag or address has it."""

    text: Text = ""


class FindTables(_Request, frozen=True, tag="tables"):
    """List tables; with TEXT those whose code, state, variant or player has it. A private table's code is its invite."""

    text: Text = ""


class Kick(_Request, frozen=True, tag="kick"):
    """End every connection of SUBJECT, who keeps their seats and may come back."""

    subject: Named


class Ban(_Request, frozen=True, tag="ban"):
    """Shut SUBJECT out, at once."""

    subject: Named
    hours: Hours | None = None


class Mute(_Request, frozen=True, tag="mute"):
    """Let SUBJECT play but not talk, at once."""

    subject: Named
    hours: Hours | None = None


class Unban(_Request, frozen=True, tag="unban"):
    """Let SUBJECT in again, at once."""

    subject: Named


class Unmute(_Request, frozen=True, tag="unmute"):
    """Let SUBJECT talk again, at once."""

    subject: Named


class CloseTable(_Request, frozen=True, tag="close"):
    """Close TABLE; a match under way ends without a winner."""

    table: Named


class MoveTable(_Request, frozen=True, tag="move"):
    """Let NODE have TABLE, when its hand is over."""

    table: Named
    node: Named


class ShowCluster(_Request, frozen=True, tag="cluster"):
    """Show every node on the database: its tables, its lease, its version."""


class SayToAll(_Request, frozen=True, tag="say"):
    """Say TEXT to everybody who is logged in."""

    text: Named


class Drain(_Request, frozen=True, tag="drain"):
    """Let hands under way end, begin nothing new, then stop the server; or another NODE."""

    node: Text = ""


class Reload(_Request, frozen=True, tag="reload"):
    """Read the settings and the certificate again, and go by what can change while the server runs."""


class Status(_Request, frozen=True, tag="status"):
    """Show the state of the server."""


AdminRequest = (
    Who
    | FindTables
    | Kick
    | Ban
    | Mute
    | Unban
    | Unmute
    | CloseTable
    | MoveTable
    | ShowCluster
    | SayToAll
    | Drain
    | Reload
    | Status
)
Answer = dict[str, object]


class AdminError(Exception):
    """A command that cannot be done; the text says why."""


def read(line: bytes) -> AdminRequest:
    """Read a request.

    Raises:
        AdminError: It is none.
    """
    try:
        request: AdminRequest = msgspec.json.decode(line, type=AdminRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise AdminError(f"expected a command as one JSON object, got: {error}") from error
    return request


# `sun_path` has 104 bytes on macOS and 108 on Linux.
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
