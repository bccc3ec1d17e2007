"""How the suite is spread over the machine, which tests need processes or sockets, and what any test may need."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import preloaded
import pytest

_FULL = Path("/dev/full")
_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30  # bytes: a few times what a run has there at any moment
_HERE = Path(__file__).parent
_STARTS_OR_CONNECTS = {
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "socket.bind",
    "socket.connect",
}

# What needs no process and no socket, and so is the loop of whoever works on the code: folders, and files of others.
_IN_THE_LOOP = {"rules", "perft", "protocol", "bots"}
_FILES_IN_THE_LOOP = {
    "client/test_address.py",
    "client/test_home.py",
    "client/test_nothing_in_english.py",
    "client/test_picture.py",
    "client/test_prompt.py",
    "client/test_pseudo.py",
    "client/test_public_names.py",
    "client/test_recognition.py",
    "client/test_screen.py",
    "client/test_screen_of_pauses.py",
    "client/test_session_picture.py",
    "client/test_spelling.py",
    "client/test_stages.py",
    "client/test_store.py",
    "client/test_table_options.py",
    "client/test_wrapping.py",
    "conform/test_raw_seat.py",
    "server/test_audience.py",
    "server/test_delay_line.py",
    "server/test_identity.py",
    "server/test_limits_page.py",
    "server/test_logs.py",
    "server/test_options_page.py",
    "server/test_rate_limits.py",
    "server/test_refusals.py",
    "server/test_running_clock.py",
    "server/test_store_played.py",
    "server/test_store_ratings.py",
    "server/test_store_terms.py",
    "server/test_subjects.py",
    "system/test_reporting.py",
    "test_docs.py",
    "test_rules_docs.py",
}

_BEGIN_FIRST = (
    "clients_elsewhere/test_conformance_elsewhere.py",
    "conform/test_own_library.py",
    "conform/test_own_clients.py",
    "conform/test_blind_clients.py",
    "conform/test_broken_verifiers.py",
    "conform/test_server_conforms.py",
    "client/test_docs_examples.py",
    "system/test_own_bots.py",
    "system/test_kills.py",
    "conform/test_broken_clients.py",
    "page/test_judged.py",
    "page/test_matches.py",
    "page/test_interruptions.py",
    "simulation/test_simulation.py",
    "benchmarks/test_calls.py",
    "benchmarks/test_benchmarks.py",
    "rules/test_hidden_cards.py",
    "server/test_on_postgresql.py",
    "rules/test_legal_and_apply.py",
)
"""Files with tests that take ten seconds and more, or wait as long: begun last, one of them would run on alone."""

_in_a_test_of_the_loop = False

gc.disable()  # while tests are collected: of what is made then, nothing is garbage
# the programs that tests start keep their bytecode: compiling the modules makes each start half as long again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False  # nor do all workers rewrite the assertions of every file, each for itself
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell has it ignored by what it runs in the background, and programs that tests interrupt would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _keep_in_memory() -> None:
    """Let what tests keep stand in memory where there is room, and programs may lie: a match waits a third of its time for a disk."""
    if os.environ.get("TMPDIR") or not os.access(_MEMORY, os.W_OK):
        return
    found = os.statvfs(_MEMORY)
    if found.f_bavail * found.f_frsize >= _ROOM and not found.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


_keep_in_memory()
preloaded.install()


@pytest.fixture
def full() -> Iterator[int]:
    """Return a descriptor to which nothing can be written, as if the disk were full."""
    if not _FULL.exists():
        pytest.skip("needs a device that is always full, which Linux has")
    with _FULL.open("w") as device:
        yield device.fileno()


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory):
    """Return a browser that all tests of the session share; each opens pages of its own in it."""
    from client.browser import chromium

    with chromium(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory):
    """Return a server process that all tests of the session share."""
    from client.serving import RealServer

    with RealServer(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="session")
def tls_server(tmp_path_factory: pytest.TempPathFactory):
    """Return such a server that encrypts."""
    from client.serving import RealServer

    with RealServer(tmp_path_factory.mktemp("server"), {"TRUC_LISTEN_TLS": "true"}) as server:
        yield server


def pytest_xdist_auto_num_workers() -> int:
    """Return three times as many workers as there are cores: many tests spend most of their time waiting."""
    return 3 * (os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile a new clone before there are workers: each would compile all of it for itself, at the same time as the others."""
    if not session.config.getoption("numprocesses", None) or (_HERE / "rules" / "__pycache__").exists():
        return
    files = sorted(_HERE.rglob("test_*.py"))
    collect = [sys.executable, "-m", "pytest", "-qq", "-n0", "--collect-only"]
    cores = os.cpu_count() or 1
    shares = (files[core::cores] for core in range(cores))
    compiling = [subprocess.Popen([*collect, *share], stdout=subprocess.DEVNULL) for share in shares]
    for process in compiling:
        process.wait()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark what needs processes or sockets, by the place of its file; put what takes long before what is left."""
    for item in items:
        if not _is_in_the_loop(item.path):
            item.add_marker("process")
    yield
    if (workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))) > 1:
        items[:] = _long_ones_first(items, workers)


def _long_ones_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return tests in an order in which the share of every worker begins with files that take long, or have slow tests.

    xdist gives each worker an equal share of the tests, in their order; who has done theirs takes the end of another's. So
    what is left at the end of a run are quick tests, of which all workers have some until the last is done.
    """
    tests: dict[Path, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.path, []).append(item)
    longest = [file for name in _BEGIN_FIRST if (file := _HERE / name) in tests]
    slow = [
        file
        for file, own in tests.items()
        if file not in longest and any(item.get_closest_marker("slow") for item in own)
    ]
    quick = [item for file, own in tests.items() if file not in longest + slow for item in own]
    order: list[pytest.Item] = []
    for worker in range(workers):
        share = (len(items) - len(order)) // (workers - worker)
        # neighbours stay together: they share a browser or a database
        own_slow = slow[worker * len(slow) // workers : (worker + 1) * len(slow) // workers]
        begin = [item for file in longest[worker::workers] + own_slow for item in tests[file]]
        left = max(0, share - len(begin))
        order += begin + quick[:left]
        del quick[:left]
    return order + quick


@cache
def _is_in_the_loop(file: Path) -> bool:
    place = file.relative_to(_HERE)
    return place.parts[0] in _IN_THE_LOOP or place.as_posix() in _FILES_IN_THE_LOOP


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file that the loop leaves out: collecting them would be an eighth of its work."""
    if config.getoption("markexpr") == "not process" and collection_path.suffix == ".py":
        return not _is_in_the_loop(collection_path) or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hold a test of the loop to what the loop promises, its fixtures too."""
    global _in_a_test_of_the_loop
    _in_a_test_of_the_loop = item.get_closest_marker("process") is None


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    """Refuse a process or a socket to a test of the loop."""
    if event in _STARTS_OR_CONNECTS and _in_a_test_of_the_loop:
        raise RuntimeError(f"a test without the mark `process` came to {event}")


sys.addaudithook(_refuse)


def pytest_collection_finish() -> None:
    """Let the collector run again, and not through all the tests that there are."""
    gc.freeze()
    gc.enable()
