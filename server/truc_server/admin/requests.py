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


class Who(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="who"):
    """List connections; with `text` those whose name, tag or address has it."""

    text: Text = ""


class FindTables(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="tables"):
    """List tables; with `text` those whose code, state, variant or name of a player has it."""

    text: Text = ""


class Kick(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="kick"):
    """End every connection of a subject, who may come back."""

    subject: Named


class Ban(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="ban"):
    """Shut a subject out."""

    subject: Named
    hours: Hours | None = None


class Mute(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="mute"):
    """Let a subject play but not talk."""

    subject: Named
    hours: Hours | None = None


class Unban(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="unban"):
    """Let a subject in again."""

    subject: Named


class Unmute(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="unmute"):
    """Let a subject talk again."""

    subject: Named


class CloseTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="close"):
    """Close a table; a match under way ends without a winner."""

    table: Named


class Drain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="drain"):
    """Let hands under way end, then stop."""


class Reload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="reload"):
    """Read the settings again."""


class Status(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="status"):
    """Show the state of the server."""


AdminRequest = Who | FindTables | Kick | Ban | Mute | Unban | Unmute | CloseTable | Drain | Reload | Status
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
