"""Clients that need no process each: one runs them one after the other, until it is killed during a visit.

Starting a program in Node or Java takes more of the processor than most cases. How a client ends as a process, other tests see.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import trio
from clients_elsewhere.programs import KEYED_JS, NODE

from truc_conform.client_cases import JudgingOrder, await_end, chosen, filled, in_order, perform
from truc_conform.result import CaseResult
from truc_conform.scenes import ClientExit

PATIENCE_S = 60.0
HOSTED_JS = (NODE, str(Path(__file__).with_name("host.mjs")), KEYED_JS[-1])


def hosted_java(client: Sequence[str]) -> tuple[str, ...]:
    """Return what starts the host, for the command of a client in Java."""
    return (*client[:-1], "keyed.Host")


class Host:
    """A process in which a client plays one match after the other."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def play(self, *words: str) -> int:
        """Run the client with these words; return its exit code."""
        self._process.stdin.write("\t".join(words) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


class Hosts:
    """The processes: `command` starts one, and `words` are the arguments of a client, filled in as by the kit."""

    def __init__(self, command: Sequence[str], words: Sequence[str]) -> None:
        self._command, self._words = command, words
        self._idle: list[trio.Process] = []

    async def visit(self, server, home) -> ClientExit:
        """Let a client visit a server once."""
        home.mkdir(exist_ok=True)
        began = trio.current_time()
        host = self._idle.pop() if self._idle else await self._start()
        hosted = Hosted(host)
        await host.stdin.send_all("\t".join(filled(self._words, server, home)).encode() + b"\n")
        code = await await_end(hosted, server, PATIENCE_S)
        if code is None or host.returncode is not None:
            await host.wait()
        else:
            self._idle.append(host)
        return ClientExit(code, trio.current_time() - began)

    async def _start(self) -> trio.Process:
        return await trio.lowlevel.open_process(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    async def end(self) -> None:
        """End the processes that wait for another visit."""
        for host in self._idle:
            host.kill()
            await host.wait()


class Hosted:
    """One visit, as the kit waits for it or ends it."""

    def __init__(self, host: trio.Process) -> None:
        self._host = host
        self.returncode: int | None = None
        self.kill = host.kill

    async def wait(self) -> int:
        said = await self._host.stdout.receive_some()
        self.returncode = int(said) if said else await self._host.wait()
        return self.returncode


def judge_hosted(names, command, words, *, level) -> dict[str, CaseResult]:
    """Return the results of the cases of a level by name: two hosts play them, which `command` starts."""
    hosts = Hosts(command, words)

    async def work(scene) -> list[CaseResult]:
        return await perform(scene, JudgingOrder(words), hosts.visit)

    async def judge_all() -> list[list[CaseResult]]:
        try:
            return await in_order(chosen(level, names), work, 2)
        finally:
            with trio.CancelScope(shield=True):
                await hosts.end()

    return {result.case.name: result for found in trio.run(judge_all) for result in found}
