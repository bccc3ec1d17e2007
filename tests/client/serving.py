"""The server of chaos/servers.py for tests of the client that are not asynchronous; it can be killed and started again."""

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from chaos.servers import QUICK, SERVER, command_line, free_port

from truc_client import Address, parse_address


@dataclass
class RealServer:
    """`truc-server run` on loopback; it ends with its block, and `start` again after `kill` goes on with its data and port."""

    data: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    address: Address = field(default_factory=lambda: Address("nowhere"))
    program: Sequence[str] = SERVER

    def start(self) -> Self:
        self.process = subprocess.Popen(
            command_line(self.data, self.port, "error", self.program),
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **QUICK, **self.environment},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().split()
        assert line[0] == "listening", line
        self.address = parse_address(line[1])
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        self.end(signal.SIGTERM)

    @property
    def url(self) -> str:
        return self.address.place
