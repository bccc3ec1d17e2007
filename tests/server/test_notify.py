"""What the service manager is told, on real sockets of the kind it has."""

import os
import socket
import sys

import pytest
from structlog.testing import capture_logs

from truc_server.operation import notify


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has abstract sockets")
def test_abstract_socket_is_spoken_to(monkeypatch):
    name = f"truc-test-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0{name}")
        listening.settimeout(5)
        notify.tell(notify.READY)
        assert listening.recv(1000) == b"READY=1"


def test_without_a_manager_nobody_is_told(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    with capture_logs() as logged:
        notify.tell(notify.READY)
    assert logged == []


@pytest.mark.parametrize("name", ["/nowhere/at/all", "vsock:2:1", "/" + "x" * 200])
def test_manager_that_cannot_be_reached_costs_a_line_of_the_log(monkeypatch, name):
    monkeypatch.setenv("NOTIFY_SOCKET", name)
    with capture_logs() as logged:
        notify.tell(notify.READY)
    assert [line["event"] for line in logged] == ["service_manager_not_told"]


def test_manager_that_does_not_read_never_holds_the_server_up(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening, capture_logs() as logged:
        listening.bind(str(tmp_path / "notify"))
        for _ in range(5_000):  # more than its socket takes
            notify.tell("WATCHDOG=1")
    assert {line["event"] for line in logged} == {"service_manager_not_told"}


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({"WATCHDOG_USEC": "60000000"}, 20.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 20.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_three_signs_of_life_are_due_in_the_time_of_the_watchdog(environment, seconds):
    assert notify.watchdog_interval_s(environment) == seconds
