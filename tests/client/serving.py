"""A real server as a process of its own, for tests of the client; it can be killed and started again."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from truc_client import Address, parse_address


@dataclass
class RealServer:
    """`truc-server run` on loopback; `start` again after `kill` goes on with the same data and port."""

    data: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = 0
    address: Address = field(default_factory=lambda: Address("nowhere"))

    def start(self) -> "RealServer":
        command = [sys.executable, "-m", "truc_server", "run", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--data", str(self.data), "--log-level", "error"]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TRUC_TABLES_BETWEEN_HANDS_MS": "0",
                "TRUC_TABLES_WINDOW_MS": "0",
                **self.environment,
            },
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline().split()
        assert line[0] == "listening", line
        self.address = parse_address(line[1])
        self.port = self.address.port
        return self

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        self.end(signal.SIGTERM)

    @property
    def url(self) -> str:
        return f"{self.address.host}:{self.port}"
