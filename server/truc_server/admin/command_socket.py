"""Where the host's commands come in: a Unix socket in the data folder, for its owner alone.

Each line is a command and is answered by a line, in turn. Deliberately not here: what a command does (desk.py).
Invariants: no caller can stall the server or make it fail; every command that was read is logged, whatever came of it.
"""

import socket
import struct
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple

import msgspec
import structlog
import trio

from truc_server.admin.audit import AdminLogEntry, Caller, note
from truc_server.admin.desk import Desk
from truc_server.admin.requests import (
    MAX_REPLY,
    MAX_REQUEST,
    AdminError,
    AdminRequest,
    Answer,
    CloseTable,
    FindTables,
    MoveTable,
    check_length,
    read,
)
from truc_server.net.listening import CHUNK, accept, listen_at
from truc_server.storage import StoreError
from truc_server.storage.journal import JournalStoppedError
from truc_server.table_data.codes import label

CALLERS: Final = 8  # at once; others wait
IDLE_S: Final = 60.0  # for the next command of a caller
ANSWER_S: Final = 5.0  # for an answer to be taken; the end of the server waits for it
_CODES: Final = frozenset({"table", "text"})  # arguments that may be the code of a table
_NAMING_TABLES: Final = (FindTables, CloseTable, MoveTable)
_CREDENTIALS: Final = struct.Struct("3i")  # pid, uid, gid

log = structlog.get_logger()


class _CommandSocket(NamedTuple):
    """What every caller is served with."""

    desk: Desk
    places: trio.CapacityLimiter

    async def serve(self, stream: trio.SocketStream) -> None:
        """Take a caller's commands one after the other, to the last."""
        async with stream, self.places:
            try:
                await self._serve(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
                pass  # a caller who is gone, or too slow, wants no answer
            except Exception:
                log.exception("internal", incident=token_hex(4))

    async def _serve(self, stream: trio.SocketStream) -> None:
        caller, received = _caller(stream), bytearray()
        while True:
            with trio.fail_after(IDLE_S):
                line = await _line(stream, received)
            if line is None:
                return
            request, answer = await self._do(line)
            # what was done is noted and answered even if the server ends by it, as with `drain`
            with trio.CancelScope(shield=True), trio.fail_after(ANSWER_S):
                # noted first: a caller who does not take the answer leaves no command out of the log
                await self._note(caller, request, answer)
                await stream.send_all(_encoded(answer))

    async def _do(self, line: bytes) -> tuple[AdminRequest | None, Answer]:
        """Do a command; return it, if it could be read, and the answer to it."""
        request: AdminRequest | None = None
        try:
            request = read(line)
            return request, {"ok": True, **await self.desk.do(request)}
        except JournalStoppedError:
            why = "the server is stopping, and does nothing any more"
        except (AdminError, StoreError) as error:
            why = str(error)
        except Exception:
            incident = token_hex(4)
            log.exception("internal", incident=incident)
            why = f"the server has failed; its log has it as incident {incident}"
        return request, {"ok": False, "error": why}

    async def _note(self, caller: Caller, request: AdminRequest | None, answer: Answer) -> None:
        outcome = "ok" if answer["ok"] else str(answer["error"])
        command, arguments = _said(request)
        if "subject" in answer:  # a number or a name may be somebody else's tomorrow
            arguments["subject"] = answer["subject"]
        log.info("admin", command=command, uid=caller.uid, pid=caller.pid, outcome=outcome, **arguments)
        entry = AdminLogEntry(caller, command, arguments, outcome)
        try:
            await trio.to_thread.run_sync(note, self.desk.folder.admin_log, entry)
        except OSError as error:
            log.warning("admin_not_noted", command=command, reason=error.strerror)


def _encoded(answer: Answer) -> bytes:
    encoded = msgspec.json.encode(answer)
    if len(encoded) > MAX_REPLY:
        encoded = msgspec.json.encode({"ok": False, "error": "the answer is too long: ask for less"})
    return encoded + b"\n"


async def serve(desk: Desk, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    """Serve the host for as long as the server runs; if the socket cannot be made, the server does without."""
    path = desk.folder.admin_socket
    try:
        listener = await trio.to_thread.run_sync(_open, path)
    except (AdminError, OSError) as error:
        log.warning("no_admin_socket", path=str(path), reason=str(error))
        task_status.started()
        return
    commands = _CommandSocket(desk, trio.CapacityLimiter(CALLERS))
    try:
        async with trio.open_nursery() as callers:
            task_status.started()
            await accept([listener], commands.serve, callers)
    finally:
        with suppress(OSError):
            path.unlink()


def _open(path: Path) -> trio.SocketListener:
    """Listen on a path. The data folder is locked, so no other server is using it.

    Raises:
        AdminError: The path is too long.
        OSError: Something else is there, or the system refuses.
    """
    check_length(path)
    return listen_at(path)


async def _line(stream: trio.SocketStream, received: bytearray) -> bytes | None:
    """Return the next line; None at the end, or if it is too long, which is answered here."""
    while b"\n" not in received:
        if len(received) > MAX_REQUEST:
            await stream.send_all(
                b'{"ok":false,"error":"expected a line of at most %d bytes"}\n' % MAX_REQUEST
            )
            return None
        chunk = await stream.receive_some(CHUNK)
        if not chunk:
            return None
        received += chunk
    line, _, rest = bytes(received).partition(b"\n")
    received[:] = rest
    return line


def _caller(stream: trio.SocketStream) -> Caller:
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:  # not Linux
        return Caller(None, None)
    pid, uid, _ = _CREDENTIALS.unpack(stream.socket.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return Caller(uid, pid)


def _said(request: AdminRequest | None) -> tuple[str, dict[str, object]]:
    """Return a command and its arguments as noted: never the whole code of a private table, which is its invite."""
    if request is None:
        return "?", {}
    fields: dict[str, object] = msgspec.to_builtins(request)
    arguments = {name: value for name, value in fields.items() if name != "command"}
    for name in _CODES & arguments.keys() if isinstance(request, _NAMING_TABLES) else ():
        arguments[name] = label(str(arguments[name]))
    return str(fields["command"]), arguments
