"""The command line: its first line, its exit statuses, and what it says when something is wrong."""

import os
import re
import resource
import signal
import stat
import subprocess
import sys
import types
from pathlib import Path

import pytest
import structlog
import trio
from click.testing import CliRunner
from rows import each_row

from truc_server import __name__ as package
from truc_server import web
from truc_server.admin import command_socket
from truc_server.cluster import inner_door
from truc_server.commands.command_line import as_arguments
from truc_server.commands.run import MOST_NODES, raise_file_limit
from truc_server.identity.certificate import TlsError
from truc_server.identity.identity import load_identity
from truc_server.main import main
from truc_server.metrics import page
from truc_server.net import admission
from truc_server.operation.process import SPARE
from truc_server.settings.folder import Folder, locked, open_folder
from truc_server.settings.settings import Settings, SettingsError
from truc_server.settings.settings_file import settings_text
from truc_server.storage import StoreError, StoreLostError
from truc_server.storage.leases import MAX_NODES

PORT = 4242


@pytest.fixture(autouse=True)
def process(monkeypatch, tmp_path):
    """Give the process back its umask, its limits and its log, and a data folder of its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    umask = os.umask(0o022)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    os.umask(umask)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    structlog.reset_defaults()


@pytest.fixture
def data(path: Path) -> Folder:
    return Folder(path)


class FakeServer:
    """Stands for server.py: announces a port, then does as told."""

    def __init__(self, ending) -> None:
        self.ending = ending
        self.started_with: tuple[object, ...] = ()
        self.was_cancelled = False

    async def serve(self, *started_with, catalogue, control) -> None:
        *self.started_with, announce = started_with
        self.catalogue, self.control = catalogue, control
        announce(PORT, None)
        try:
            await self.ending()
        except trio.Cancelled:
            self.was_cancelled = True
            raise


@pytest.fixture
def serve(monkeypatch):
    """Put a fake in the place of server.py."""

    def served(ending) -> FakeServer:
        fake = FakeServer(ending)
        module = types.ModuleType(f"{package}.server")
        module.serve = fake.serve
        monkeypatch.setitem(sys.modules, f"{package}.server", module)
        return fake

    return served


async def end() -> None:
    await trio.lowlevel.checkpoint()


def raising(error: BaseException):
    async def ending() -> None:
        raise error

    return ending


def signalled(number: int):
    async def ending() -> None:
        os.kill(os.getpid(), number)
        await trio.sleep_forever()

    return ending


class TestRun:
    @each_row(
        "flags, address",
        [
            (("--host", "127.0.0.1"), "truc://127.0.0.1"),
            (("--host", "::1"), "truc://[::1]"),
            ((), "truc://127.0.0.1"),
            (("--public-host", "truc.example"), "truc://truc.example"),
            (("--tls",), "trucs://127.0.0.1"),
        ],
    )
    def test_first_line_is_the_address_with_the_fingerprint(self, call, serve, data, flags, address):
        serve(end)
        line = call("run", *flags).stdout
        assert line == f"listening {address}:{PORT}#{load_identity(data).fingerprint}\n"

    @pytest.fixture
    def no_nohup(self):
        """Hear of a hangup, also where the tests themselves are run under nohup."""
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        yield
        signal.signal(signal.SIGHUP, before)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_signal_ends_it_cleanly(self, call, serve, no_nohup, monkeypatch, number):
        monkeypatch.setenv("TRUC_TABLES_DRAIN_S", "0" if number == signal.SIGTERM else "60")
        fake = serve(signalled(number))
        assert (call("run").exit_code, fake.was_cancelled) == (0, True)
        assert not fake.control.drain.is_set()

    def test_sigterm_drains_it_where_hands_have_time_to_end(self, call, serve):
        async def ending() -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await fake.control.drain.wait()

        fake = serve(ending)
        assert (call("run").exit_code, fake.was_cancelled) == (0, False)

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_second_signal_ends_it_at_once(self, call, serve, no_nohup, number):
        async def ending() -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            await fake.control.drain.wait()
            os.kill(os.getpid(), number)
            await trio.sleep_forever()

        fake = serve(ending)
        assert (call("run").exit_code, fake.was_cancelled) == (0, True)

    def test_settings_are_read_again_from_the_same_places_which_must_be_there(self, call, serve, data):
        file = open_folder(data.root).settings
        file.write_text('name = "La Penya"\nmotd = "one"\n')

        async def ending() -> None:
            file.write_text('name = "La Penya"\nmotd = "two"\n')
            await trio.lowlevel.checkpoint()

        fake = serve(ending)
        call("run", "--name", "El Racó")
        again = fake.control.reread()
        assert (again.name, again.motd) == ("El Racó", "two")
        file.unlink()  # as an editor does before it writes the new one: a closed server must not open
        with pytest.raises(SettingsError, match=r"cannot read the settings file .*truc\.toml: No such file"):
            fake.control.reread()

    def test_hangup_is_ignored_where_it_was_before(self, call, serve):
        handlers = []

        async def ending() -> None:
            handlers.append(signal.getsignal(signal.SIGHUP))
            await trio.lowlevel.checkpoint()

        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        serve(ending)
        call("run")
        signal.signal(signal.SIGHUP, before)
        assert handlers == [signal.SIG_IGN]

    def test_server_runs_on_when_nobody_takes_its_first_line(self, call, serve, monkeypatch):
        def fail(_line):
            raise BrokenPipeError(32, "Broken pipe")

        fake = serve(end)
        monkeypatch.setattr("truc_server.commands.run.click.echo", fail)
        result = call("run")
        assert (result.exit_code, fake.started_with != ()) == (0, True)
        assert "output_not_taken" in result.stderr

    @pytest.mark.parametrize("drain_s", ["0", "60"], ids=["at once", "after a drain"])
    def test_signal_after_the_end_has_begun_has_its_usual_effect(self, call, serve, monkeypatch, drain_s):
        monkeypatch.setenv("TRUC_TABLES_DRAIN_S", drain_s)
        handlers = []

        async def ending() -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            try:
                await fake.control.drain.wait()
                fake.control.on_end()
            finally:
                with trio.CancelScope(shield=True):
                    await trio.testing.wait_all_tasks_blocked()
                handlers.append(signal.getsignal(signal.SIGTERM))

        fake = serve(ending)
        call("run")
        assert handlers == [signal.SIG_DFL]

    def test_server_gets_the_settings_of_flags_store_and_keys_and_a_folder_of_its_own(
        self, call, serve, data
    ):
        held = []

        async def ending() -> None:
            held.append(data.lock.read_text())

        fake = serve(ending)
        hosts = ("--host", "::1", "--host", "127.0.0.1")
        call("run", *hosts, "--port", "0", "--log-format", "json", "--log-level", "error")
        settings, folder, store, identity = fake.started_with
        assert (settings.listen.hosts, settings.listen.port) == (("::1", "127.0.0.1"), 0)
        assert (settings.log.format, settings.log.level) == ("json", "error")
        assert (folder, type(store).__name__) == (data, "Store")
        assert (fake.catalogue.own(), identity.key.public) == ((), load_identity(data).key.public)
        assert (held, stat.S_IMODE(data.database.stat().st_mode)) == ([f"{os.getpid()}\n"], 0o600)

    def test_store_of_the_settings_is_used(self, call, serve, data, tmp_path, monkeypatch):
        serve(end)
        monkeypatch.setenv("TRUC_STORE_URL", f"sqlite:///{tmp_path}/other.db")
        call("run")
        assert ((tmp_path / "other.db").exists(), data.database.exists()) == (True, False)


class TestRunFailures:
    def test_locked_folder_is_status_1_and_names_the_process(self, call, serve, data):
        serve(end)
        with locked(open_folder(data.root)):
            result = call("run")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == (
            f"truc-server: {data.root} is in use by process {os.getpid()}; "
            "stop it first, or choose another folder with --data\n"
        )

    def test_wrong_settings_file_is_status_2_and_names_the_line(self, call, data):
        open_folder(data.root).settings.write_text('[listen]\nport = "abc"\n')
        result = call("run")
        assert result.exit_code == 2
        assert result.stderr == (
            f"truc-server: {data.settings} line 2: listen.port expected a whole number from 0 to 65535, got 'abc'\n"
        )

    def test_folder_without_a_name_is_status_2(self):
        result = CliRunner().invoke(main, ["run", "--data", ""])
        assert (result.exit_code, "'--data': expected a folder, got nothing" in result.stderr) == (2, True)

    def test_settings_file_that_is_missing_or_no_text_is_status_2(self, call, tmp_path):
        result = call("run", "--settings", str(tmp_path / "none.toml"))
        assert result.exit_code == 2
        expected = f"cannot read the settings file {tmp_path / 'none.toml'}: No such file or directory\n"
        assert result.stderr.endswith(expected)
        (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
        result = call("run", "--settings", str(tmp_path / "bytes.toml"))
        assert (result.exit_code, result.stderr.endswith(": expected UTF-8\n")) == (2, True)

    def test_database_that_cannot_be_opened_is_status_1(self, call, data):
        load_identity(open_folder(data.root))
        data.database.write_bytes(b"no database " * 100)
        result = call("run")
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert "file is not a database" in result.stderr

    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (StoreLostError("the table is lost"), "the table is lost"),
            (OSError(98, "Address already in use"), "Address already in use"),
            (TlsError("cannot read /nowhere/fullchain.pem"), "cannot read /nowhere/fullchain.pem"),
        ],
    )
    def test_error_of_the_server_is_one_line_and_status_1(self, call, serve, error, told):
        serve(raising(error))
        result = call("run")
        assert (result.exit_code, result.stderr) == (1, f"truc-server: {told}\n")

    def test_several_errors_are_one_line_and_a_programming_error_is_not_hidden(self, call, serve):
        serve(raising(ExceptionGroup("two", [StoreError("one"), ExceptionGroup("inner", [OSError("two")])])))
        assert call("run").stderr == "truc-server: one; two\n"
        serve(raising(ExceptionGroup("two", [StoreError("one"), ZeroDivisionError()])))
        assert isinstance(call("run").exception, ExceptionGroup)


class TestSettingsFile:
    def test_settings_explains_every_default(self):
        assert CliRunner().invoke(main, ["settings"]).stdout == settings_text(Settings())

    def test_file_named_by_the_environment_is_used(self, call, tmp_path, monkeypatch):
        (tmp_path / "mine.toml").write_text('name = "La Penya"\n')
        monkeypatch.setenv("TRUC_SETTINGS", str(tmp_path / "mine.toml"))
        assert 'name = "La Penya"\n' in call("settings").stdout

    def test_file_of_the_flag_comes_before_that_in_the_data_folder(self, call, data, tmp_path):
        open_folder(data.root).settings.write_text('name = "La Penya"\n')
        (tmp_path / "mine.toml").write_text('name = "El Racó"\n')
        assert 'name = "La Penya"\n' in call("settings").stdout
        assert 'name = "El Racó"\n' in call("settings", "--settings", str(tmp_path / "mine.toml")).stdout

    def test_data_folder_is_the_users_own_or_that_of_the_environment(self, monkeypatch, tmp_path):
        open_folder(tmp_path / "home" / "truc-server").settings.write_text('name = "La Penya"\n')
        assert 'name = "La Penya"\n' in CliRunner().invoke(main, ["settings"]).stdout
        open_folder(tmp_path / "there").settings.write_text('name = "El Racó"\n')
        monkeypatch.setenv("TRUC_DATA", str(tmp_path / "there"))
        assert 'name = "El Racó"\n' in CliRunner().invoke(main, ["settings"]).stdout


@pytest.mark.usefixtures("any_port")
class TestCheck:
    def test_new_folder_is_right_and_not_made(self, call, data):
        result = call("check")
        assert (result.exit_code, data.root.exists()) == (0, False)
        assert f"ok     data folder: {data.root} will be made at the first start\n" in result.stdout

    def test_running_server_is_named(self, call, data):
        with locked(open_folder(data.root)):
            told = call("check").stdout
        assert f"ok     lock: a server is running in the data folder, process {os.getpid()}\n" in told

    def test_folder_open_to_others_is_wrong(self, call, data):
        open_folder(data.root).root.chmod(0o755)
        result = call("check")
        assert result.exit_code == 1
        assert "wrong  data folder" in result.stdout
        assert "(mode 0755): run chmod 700" in result.stdout

    def test_too_few_files_is_wrong(self, call, tmp_path):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        (tmp_path / "many.toml").write_text(f"[limits]\nconnections = {min(hard, 1_000_000)}\n")
        result = call("check", "--settings", str(tmp_path / "many.toml"))
        assert (result.exit_code, "wrong  open files" in result.stdout) == (1, True)


class TestKeys:
    def test_invite_has_host_port_and_fingerprint(self, call, data):
        identity = load_identity(open_folder(data.root))
        result = call("invite", "--public-host", "truc.example")
        assert (result.stdout, result.stderr) == (f"truc://truc.example:7373#{identity.fingerprint}\n", "")
        assert "works on this machine only" in call("invite").stderr
        data.settings.write_text("[listen]\ntls = true\n")
        assert call("invite").stdout.startswith("trucs://")


class TestFileLimit:
    def test_limit_is_raised_to_what_is_needed_and_allowed_and_never_lowered(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for wanted, given in ((300, 300), (16, 256), (hard + 1, hard)):
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
            raise_file_limit(wanted)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (given, hard)

    def test_what_is_spared_is_enough_for_all_who_have_limits_of_their_own(self):
        own = 64  # of the server itself: an idle one has some 20, and its database may come to 30 more
        beside = admission.LINGERING + web.CONNECTIONS + inner_door.MAX_STRANGERS + page.CONNECTIONS
        assert beside + command_socket.CALLERS + own <= SPARE


def test_hosting_page_names_every_command():
    page = (Path(__file__).parents[2] / "docs" / "hosting" / "README.md").read_text("utf-8")
    assert re.findall(r"^\* `truc-server (\w+)`:", page, re.MULTILINE) == list(main.commands)


FILLED = """
import sys
from truc_server.commands.run import _fill_streams
_fill_streams()
with open(sys.argv[1], "w") as file:
    print(file.fileno() > 2, sys.stderr.writable(), file=file)
"""


def test_files_of_the_server_never_stand_in_for_standard_streams_that_are_closed(tmp_path):
    closed = 'exec "$@" <&- >&- 2>&-'
    command = [sys.executable, "-c", FILLED, str(tmp_path / "seen")]
    subprocess.run(["/bin/sh", "-c", closed, "sh", *command], check=True)
    assert (tmp_path / "seen").read_text() == "True True\n"


class TestNodes:
    """`run --nodes`, as far as it needs no database; the rest is in system/test_run_nodes.py."""

    @pytest.mark.parametrize(
        ("url", "moved_to", "told"),
        [
            ("", "", "run --nodes: expected store.url to name a PostgreSQL"),
            ("sqlite:///one.db", "", "run --nodes: expected store.url to name a PostgreSQL"),
            ("postgresql://nobody@127.0.0.1:1/none", "elsewhere:1", "access.moved_to is set"),
        ],
    )
    def test_database_for_one_server_alone_and_a_server_that_has_moved_are_refused(
        self, call, monkeypatch, url, moved_to, told
    ):
        monkeypatch.setenv("TRUC_STORE_URL", url)
        monkeypatch.setenv("TRUC_ACCESS_MOVED_TO", moved_to)
        result = call("run", "--nodes", "2")
        assert (result.exit_code, told in result.stderr) == (2, True)

    def test_flags_are_passed_on_as_they_were_given(self):
        flags = {
            "hosts": ("a", "b"),
            "tls": True,
            "name": None,
            "port": 5,
            "log_level": "info",
            "grease": False,
        }
        given = ["--host", "a", "--host", "b", "--tls", "--log-level", "info"]
        assert as_arguments(flags, but={"port"}) == given

    def test_there_are_at_most_as_many_as_the_database_takes(self):
        assert MOST_NODES == MAX_NODES
