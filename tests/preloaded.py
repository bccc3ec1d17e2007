"""Programs of ours, started by forks of processes that have imported them: 20 ms instead of half a second.

`install` lets `subprocess.Popen` do so wherever a test starts one of `PROGRAMS`. What is started is a process as ever, a
child of this one, with the words, environment, folder and files that it was given, and runs as `python -m` would run it.
Each process that forks serves one program in one language, and ends with the one that has started it. Whatever else is
asked for, such as a resource limit or a shell, is started in the usual way, as is everything outside Linux. What a program
imports, and when, is not seen in these starts: commands/test_starts.py holds it.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import termios
import threading
from inspect import signature
from pathlib import Path
from typing import NamedTuple

_CONFORM = Path(__file__).with_name("conform")
_GUEST = Path(__file__).parents[1] / "docs" / "clients" / "guest.py"
_TERMINAL = ("truc_terminal.main", "truc_terminal.commands.bot", "truc_terminal.commands.play")
_STORES = (
    "alembic.command",
    "psycopg",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.dialects.postgresql.psycopg",
)
_SERVER = ("truc_server.main", "truc_server.commands.run", "truc_server.server", *_STORES)
PROGRAMS = {
    "truc_terminal": (*_TERMINAL, "truc_terminal.screen.prompt", "truc_terminal.commands.verify"),
    "truc_server": _SERVER,
    "page.wide_server": ("page.wide_server", *_SERVER),
    "benchmarks.calls": ("benchmarks.calls",),
    "benchmarks.floor": ("benchmarks.floor",),
    "benchmarks.generator": ("benchmarks.generator",),
    "benchmarks.sealed": ("benchmarks.sealed",),
    str(_CONFORM / "heeding_bot.py"): (*_TERMINAL, "truc_terminal.commands.keys"),
    str(_CONFORM / "careless_dealer.py"): (*_TERMINAL, "truc_client.matches.pack_steps"),
    str(_CONFORM / "broken_client.py"): ("random", "socket", "msgpack"),
    str(_GUEST): ("secrets", "socket", "urllib.parse", "msgpack"),
    str(_CONFORM / "believing_client.py"): ("truc_conform.playing", "truc_protocol.boxes"),
}
"""What is imported of each program, a module or a file, before it is forked."""
_ON_A_TERMINAL = ["setsid", "--ctty"]
_READ_AT_THE_START = ("LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE")  # and whatever begins with PYTHON
_SET_CHILD_SUBREAPER = 36  # of prctl(2)
_LONGEST = 1 << 17
_usual = subprocess.Popen._execute_child
_ASKED = tuple(signature(_usual).parameters)[1:]
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_PLAIN = {
    "executable": None,
    "preexec_fn": None,
    "close_fds": True,
    "shell": False,
    "restore_signals": True,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
    "start_new_session": False,
    "process_group": -1,
}
"""What nobody has asked for has these values."""
_starting = threading.Lock()
_forking: dict[tuple, socket.socket] = {}


class Start(NamedTuple):
    """What is to run: a program with its words, environment and folder, at the head of a terminal of its own or not."""

    program: str
    words: list[str]
    environment: dict[str, str]
    folder: str
    leads: bool


def start_of(args, environment, folder) -> Start | None:
    """Return what a command line starts if it is a program of ours: by itself, by `env`, or on a terminal of its own."""
    if isinstance(args, str | bytes | os.PathLike):
        return None
    words = [os.fsdecode(word) for word in args]
    given = os.environ if environment is None else environment
    told = {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}
    leads = words[:2] == _ON_A_TERMINAL
    words = words[2:] if leads else words
    if words[:1] == ["env"]:
        words = words[1:]
        while words and "=" in words[0]:
            name, _, told[name] = words.pop(0).partition("=")
    if words[:1] != [sys.executable]:
        return None
    words = words[2:] if words[1:2] == ["-m"] else words[1:]
    folder = os.path.abspath(os.fsdecode(folder or "."))
    if not words or words[0] not in PROGRAMS or not os.path.isdir(folder):
        return None
    return Start(words[0], words[1:], told, folder, leads)


def install() -> None:
    """Let the programs that tests start be forked, where the system can give their process to this one."""
    if (
        os.environ.get("PRELOADED") != "no"
        and sys.platform == "linux"
        and subprocess.Popen._execute_child is _usual
    ):
        subprocess.Popen._execute_child = _execute_child


def _execute_child(self, *given):
    """Start a process as Popen does, which gives all that it was told by place."""
    asked = dict(zip(_ASKED, given, strict=True))
    is_plain = all(asked[name] == value for name, value in _PLAIN.items()) and not asked["pass_fds"]
    start = start_of(asked["args"], asked["env"], asked["cwd"]) if is_plain else None
    if start is None:
        _usual(self, *given)
        return
    sys.audit("subprocess.Popen", sys.executable, asked["args"], asked["cwd"], asked["env"])
    taken = (asked["p2cread"], asked["c2pwrite"], asked["errwrite"])
    with _starting:
        self.pid = _forked(start, [own if file == -1 else file for own, file in enumerate(taken)])
    self._child_created = True
    self._close_pipe_fds(*(asked[name] for name in _PIPES))


def _forked(start: Start, files: list[int]) -> int:
    """Return the id of a process that was forked, and is a child of this one, since it was orphaned at once."""
    read_at_the_start = tuple(
        sorted(
            (name, value)
            for name, value in start.environment.items()
            if name in _READ_AT_THE_START or name.startswith("PYTHON")
        )
    )
    key = (start.program, read_at_the_start)
    if key not in _forking:
        _forking[key] = _begin(start)
    prctl = ctypes.CDLL(None).prctl
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        socket.send_fds(_forking[key], [json.dumps(start).encode()], files)
        return int(_forking[key].recv(_LONGEST))
    finally:
        prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _begin(start: Start) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    forking = subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno()), start.program],
        pass_fds=[theirs.fileno()],
        env=start.environment,
        stdin=subprocess.DEVNULL,
    )
    theirs.close()
    atexit.register(forking.wait)
    atexit.register(ours.close)  # before the wait: it ends for that
    return ours


def _fork_when_asked(channel: socket.socket) -> Start:
    """Fork for each start that is asked for; return, in the forked process, what it is to run."""
    while True:
        told, files, _, _ = socket.recv_fds(channel, _LONGEST, 3)
        if not told:
            os._exit(0)
        reading, writing = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if child:
                os.write(writing, str(child).encode())
                os._exit(0)
            channel.close()
            os.close(reading)
            os.close(writing)
            _take(files)
            return Start(*json.loads(told))
        os.close(writing)
        os.waitpid(between, 0)
        channel.send(os.read(reading, 20))
        for file in (reading, *files):
            os.close(file)


def _take(files: list[int]) -> None:
    for own, given in enumerate(files):
        os.dup2(given, own)
        os.close(given)


def _become(start: Start) -> None:
    """Make of a forked process what it would be if the interpreter had been started for it."""
    if start.leads:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(start.folder)
    os.environ.clear()
    os.environ.update(start.environment)
    for own, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        new = os.fdopen(own, "w" if own else "r", encoding=old.encoding, errors=old.errors, closefd=False)
        if name == "stderr":
            new.reconfigure(line_buffering=True)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    sys.argv = [start.program, *start.words]
    gc.enable()


def _main(channel: int, program: str) -> None:
    sys.path[0] = str(Path(program).parent) if program.endswith(".py") else os.getcwd()
    for name in PROGRAMS[program]:
        importlib.import_module(name)
    gc.collect()
    gc.disable()
    gc.freeze()
    when_interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever ends the tests ends the socket
    start = _fork_when_asked(socket.socket(fileno=channel))
    signal.signal(signal.SIGINT, when_interrupted)
    _become(start)
    try:
        _run(program, start.folder)
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        _end(end.code or 0)
        raise
    _end(0)


def _run(program: str, folder: str) -> None:
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
        return
    sys.path[0] = folder
    if "." in program:  # it runs as `__main__`, anew
        del sys.modules[program]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


def _end(code: int) -> None:
    """End as the interpreter does, but leave what is in memory alone: taking it apart would copy all that forks share.

    Where something cannot be written it returns, and the interpreter says so.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2])
