"""The files of server/service: what systemd says of them, what they name, and the server as they have it run.

systemd and containers themselves are not run here. What can be is: systemd's own checks of the units, the server told to notify and to give signs
of life, the server under the system call filter of its unit, and each command that a file names.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from ctypes.util import find_library
from functools import partial
from pathlib import Path

import pytest
import trio
from chaos.servers import QUICK, free_port, serving
from rows import each_row
from server.asking import telling
from server.conftest import running
from system.confined import values

import truc_client
import truc_protocol
import truc_server
from truc_server.main import main
from truc_server.operation.process import needed_files
from truc_server.server import GOODBYE_S
from truc_server.settings.folder import Folder, locked
from truc_server.settings.settings import Settings
from truc_server.settings.settings_file import KEYS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SERVICE = ROOT / "server" / "service"
UNITS = ("truc.service", "truc-backup.service", "truc-backup.timer")
UNIT = (SERVICE / "truc.service").read_text()
PAGE = (ROOT / "docs" / "hosting" / "service.md").read_text("utf-8")
CONTAINER = (SERVICE / "Containerfile").read_text()
COMPOSE = (SERVICE / "compose.yaml").read_text()
INSTALLED = "/opt/truc/bin/truc-server"
PACKAGES = [str(Path(each.__file__).parents[1]) for each in (truc_server, truc_protocol, truc_client)]
HERE = {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *PACKAGES])}
systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)
CAN_FILTER = (
    sys.platform == "linux"
    and shutil.which("systemd-analyze") is not None
    and find_library("seccomp") is not None
)
filtering = pytest.mark.skipif(not CAN_FILTER, reason="needs systemd-analyze and libseccomp")


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)


def seconds(span: str) -> float:
    """Read a span of time as units have it."""
    number, unit = re.fullmatch(r"(\d+)(|s|min)", span).groups()
    return int(number) * (60 if unit == "min" else 1)


def command_of(words: list[str]) -> None:
    """Find a command of the server, and each of its flags."""
    found = main
    while words and hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    known = {flag for parameter in found.params for flag in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


@each_row("file", SERVICE.iterdir())
def test_variables_are_settings(file):
    named = set(re.findall(r"\bTRUC_\w+", file.read_text("utf-8")))
    assert named <= {key.variable for key in KEYS.values()}


class TestUnits:
    @systemd
    def test_systemd_finds_nothing_wrong(self, tmp_path):
        program = tmp_path / "truc-server"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        for unit in UNITS:
            (tmp_path / unit).write_text((SERVICE / unit).read_text().replace(INSTALLED, str(program)))
        found = analyze("verify", *(str(tmp_path / unit) for unit in UNITS))
        about_it = [line for line in found.stderr.splitlines() if "truc" in line]
        assert (found.returncode, about_it) == (0, [])

    @systemd
    @pytest.mark.parametrize("name", ["truc.service", "truc-backup.service"])
    def test_exposure_is_as_low_as_the_page_says(self, name):
        (figure,) = re.findall(rf"^\| `{name}` \| ([\d.]+) \|", PAGE, re.MULTILINE)
        said = analyze("security", "--offline=yes", "--no-pager", str(SERVICE / name)).stdout
        (found,) = re.findall(rf"exposure level for {name}: ([\d.]+) ", said)
        assert abs(float(found) - float(figure)) <= 0.3  # versions of systemd weigh a little differently

    @pytest.mark.parametrize("name", UNITS)
    def test_page_leads_to_the_file(self, name):
        assert f"[{name}](../../server/service/{name})" in PAGE

    @pytest.mark.parametrize("name", ["truc.service", "truc-backup.service"])
    def test_commands_are_commands_of_the_server(self, name):
        lines = [line for line in (SERVICE / name).read_text().splitlines() if INSTALLED in line]
        assert lines
        for line in lines:
            command_of(shlex.split(line.replace("'", " ").split(INSTALLED, 1)[1]))

    def test_file_limit_is_enough_for_the_default_settings(self):
        (limit,) = values(UNIT, "LimitNOFILE")
        assert int(limit) >= needed_files(Settings())

    def test_stop_leaves_time_to_drain_and_for_goodbyes(self):
        (stop,) = values(UNIT, "TimeoutStopSec")
        assert seconds(stop) > Settings().tables.drain_s + 2 * GOODBYE_S

    def test_wrong_settings_do_not_start_it_again_and_again(self, tmp_path):
        ended = subprocess.run(
            [sys.executable, "-m", "truc_server", "run", "--port", "70000", "--data", str(tmp_path / "data")],
            capture_output=True,
            check=False,
        )
        assert [str(ended.returncode)] == values(UNIT, "RestartPreventExitStatus")


@pytest.fixture
def manager(tmp_path):
    """Listen where a service manager would."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(20)
        yield listening


def told(manager: socket.socket, sign: str) -> list[str]:
    """Wait for a sign; return it with the status that came along."""
    while True:
        lines = manager.recv(1000).decode().splitlines()
        if lines[0] == sign:
            return lines


async def test_server_says_when_it_is_ready_and_alive_and_when_it_stops(tmp_path, manager):
    settings = {
        **QUICK,
        "TRUC_TABLES_DRAIN_S": "5",
        "NOTIFY_SOCKET": str(tmp_path / "notify"),
        "WATCHDOG_USEC": "300000",
    }
    async with serving(tmp_path / "data", settings) as server:
        ready = await trio.to_thread.run_sync(told, manager, "READY=1")
        assert ready == ["READY=1", f"STATUS=listening on port {server.port}"]
        for _ in range(3):
            assert await trio.to_thread.run_sync(told, manager, "WATCHDOG=1") == ["WATCHDOG=1"]
        server.signal(signal.SIGTERM)
        draining = await trio.to_thread.run_sync(told, manager, "STOPPING=1")
        stopping = await trio.to_thread.run_sync(told, manager, "STOPPING=1")
        assert [draining[1], stopping[1]] == ["STATUS=draining: hands under way end", "STATUS=stopping"]
        assert await server.wait() == 0


def test_server_that_cannot_start_is_never_ready(tmp_path, manager):
    folder = Folder(tmp_path / "data")
    folder.root.mkdir()
    with locked(folder):
        ended = subprocess.run(
            [sys.executable, "-m", "truc_server", "run", "--data", str(folder.root)],
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
            capture_output=True,
            check=False,
        )
    assert ended.returncode == 1
    assert b"is in use by process" in ended.stderr
    manager.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.recv(1000)


def confined(unit: str) -> list[str]:
    """Return what holds a command to the filter of a unit, where that can be done."""
    return [sys.executable, "-m", "system.confined", str(SERVICE / unit)] if CAN_FILTER else []


@filtering
async def test_encrypted_server_with_metrics_runs_under_the_filter_of_the_unit(tmp_path):
    program = (*confined("truc.service")[2:], sys.executable, "-m", "truc_server", "run")
    metrics = free_port()
    settings = {**QUICK, **HERE, "TRUC_LISTEN_TLS": "true", "TRUC_METRICS_PORT": str(metrics)}
    async with serving(tmp_path / "data", settings, program=program) as server:
        async with await trio.open_tcp_stream("127.0.0.1", metrics) as page:
            await page.send_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            shown = b"".join([chunk async for chunk in page])
        tables = [sys.executable, "-m", "truc_terminal", "tables", f"trucs://{server.url}"]
        home = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "home")}
        await trio.run_process(tables, env=home, capture_stdout=True, capture_stderr=True)
        assert await server.stop() == []
    assert b"\nprocess_start_time_seconds " in shown  # for which /proc/stat is read


async def test_server_that_the_watchdog_ends_leaves_a_traceback_without_values(tmp_path):
    told_python = dict(
        line.split("=", 1) for line in values(UNIT, "Environment") if line.startswith("PYTHON")
    )
    # Python reads the stacks of threads that may still run, and now and then stumbles over one: then it is tried again.
    for n in range(3):
        async with serving(tmp_path / f"data{n}", {**QUICK, **told_python}) as server:
            server.signal(signal.SIGABRT)
            status = await server.wait()
        if status != -signal.SIGSEGV:
            break
    assert status == -signal.SIGABRT
    left = server.log.read_text()
    assert "Fatal Python error: Aborted" in left
    assert re.search(r'run\.py", line \d+ in run$', left, re.MULTILINE)


@filtering
@pytest.mark.parametrize("call", ["os.chroot('/')", "__import__('mmap').mmap(-1, 4096, prot=7)"])
def test_filter_of_the_unit_denies(call):
    command = [*confined("truc.service"), sys.executable, "-c", f"import os; {call}"]
    ended = subprocess.run(command, env={**os.environ, **HERE}, capture_output=True, text=True, check=False)
    assert "Operation not permitted" in ended.stderr


class TestContainer:
    def test_build_has_every_package_and_what_the_project_file_names(self):
        copied = {
            name
            for line in re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINER, re.MULTILINE)
            for name in line.split()
        }
        project = (ROOT / "pyproject.toml").read_text()
        packages = re.findall(r'"(\w+)/truc_\w+",', project.split("packages = [")[1].split("]")[0])
        (readme,) = re.findall(r'^readme = "(.*)"', project, re.MULTILINE)
        assert {*packages, readme, "pyproject.toml", "LICENSE"} == copied

    def test_entry_is_a_program_of_the_package(self):
        (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', CONTAINER, re.MULTILINE)
        assert f'\n{entry} = "truc_server.main:main"\n' in (ROOT / "pyproject.toml").read_text()
        (arguments,) = re.findall(r'^CMD \["(.*)"\]$', CONTAINER, re.MULTILINE)
        command_of([arguments])

    def test_stop_leaves_time_to_drain_and_for_goodbyes(self):
        (grace,) = re.findall(r"stop_grace_period: (\S+)", COMPOSE)
        assert seconds(grace) > Settings().tables.drain_s + 2 * GOODBYE_S
        assert f"--stop-timeout {int(seconds(grace))} " in PAGE

    def test_compose_names_the_containerfile(self):
        (context,) = re.findall(r"context: (\S+)", COMPOSE)
        (file,) = re.findall(r"dockerfile: (\S+)", COMPOSE)
        assert (SERVICE / context).resolve() == ROOT
        assert (ROOT / file) == SERVICE / "Containerfile"

    async def test_health_check_is_right_beside_a_server_and_wrong_without(self, tmp_path):
        (check,) = re.findall(r'CMD \["python", "-c", "(.*)"\]$', CONTAINER, re.MULTILINE)
        settings = telling()
        looking = partial(
            trio.run_process,
            [sys.executable, "-c", check],
            env={**os.environ, "TRUC_METRICS_PORT": str(settings.metrics.port)},
            check=False,
            capture_stderr=True,
        )
        async with running(tmp_path / "data", settings):
            assert (await looking()).returncode == 0
        assert (await looking()).returncode == 1


WRAPPED = """#!/bin/sh
test "$1 $2 $3" = "-u truc --" || exit 9
shift 3
exec "$@"
"""


def test_page_quotes_the_command_for_root():
    assert f"```sh\n{(SERVICE / 'truc-server').read_text()}```\n" in PAGE


def test_command_for_root_runs_as_the_servers_user_on_its_folder(tmp_path):
    (tmp_path / "runuser").write_text(WRAPPED)
    shown = tmp_path / "shown"
    shown.write_text('#!/bin/sh\necho "$TRUC_DATA" "$@"\n')
    for program in ("runuser", "shown"):
        (tmp_path / program).chmod(0o755)
    (tmp_path / "command").write_text((SERVICE / "truc-server").read_text().replace(INSTALLED, str(shown)))
    ran = subprocess.run(
        ["/bin/sh", str(tmp_path / "command"), "mute", "two words"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "/var/lib/truc mute two words\n"
    assert os.access(SERVICE / "truc-server", os.X_OK)


async def test_backup_of_the_timer_is_made_beside_the_running_server_and_old_ones_go(tmp_path):
    backups = tmp_path / "backups"
    old, young = backups / "20200101-040000", backups / "20200102-040000"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "truc.db").touch()
    os.utime(old, (0, 0))
    program = str(Path(sys.executable).with_name("truc-server"))
    async with running(tmp_path / "data") as server:
        for line in values((SERVICE / "truc-backup.service").read_text(), "ExecStart"):
            there = line.replace("/var/backups/truc", str(backups)).replace(INSTALLED, program)
            command = shlex.split(there.replace("%%", "%"))
            command[0] = shutil.which(command[0])
            environment = {**os.environ, **HERE, "TRUC_DATA": str(server.folder.root)}
            await trio.run_process([*confined("truc-backup.service"), *command], env=environment)
    left = sorted(folder.name for folder in backups.iterdir())
    assert (len(left), old.name in left, young.name in left) == (2, False, True)
    assert (backups / left[-1] / "truc.db").stat().st_size > 0
