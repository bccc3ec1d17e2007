"""Each thing that `truc-server check` finds wrong or worth a note, and that it says what to do."""

import errno
import os
import shutil
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rows import each_row
from server.commands import call

from truc_server.commands.checking import look_at_clock
from truc_server.identity.identity import load_identity, roll
from truc_server.identity.passphrases import change_passphrase
from truc_server.settings.folder import Folder, locked, open_folder

pytestmark = pytest.mark.usefixtures("any_port")
WORDS = "a long enough passphrase"
BOT = "A" * 26
NOW = 1_790_000_000


@pytest.fixture
def folder(path) -> Folder:
    folder = open_folder(path)
    load_identity(folder)
    return folder


def check(folder: Folder, settings: str = "", *, status: int = 0) -> list[str]:
    """Check a folder with these settings; returns the lines."""
    if settings:
        folder.settings.write_text(settings)
    result = call(folder, "check")
    assert (result.exit_code, result.stderr) == (status, ""), result.output
    return result.stdout.splitlines()


def wrong(folder: Folder, settings: str = "") -> str:
    """Return the only line that says of something that it is wrong."""
    (line,) = [line for line in check(folder, settings, status=1) if line.startswith("wrong")]
    return line


def test_sound_folder_has_nothing_wrong(folder):
    assert not [line for line in check(folder) if line.startswith("wrong")]


def test_file_in_place_of_the_folder_is_wrong(path):
    path.write_text("")
    [told] = [line for line in check(Folder(path), status=1) if line.startswith("wrong  data")]
    assert told == f"wrong  data folder: expected a folder, got {path}: choose another with --data"


def test_folder_that_cannot_be_made_is_wrong(path):
    path.write_text("")
    [told] = [line for line in check(Folder(path / "a" / "b"), status=1) if line.startswith("wrong  data")]
    assert told == f"wrong  data folder: {path}/a/b cannot be made: expected a folder, got {path}"


@pytest.mark.parametrize("section", ["listen", "web"])
def test_certificate_in_the_home_of_nobody_is_wrong(folder, section):
    more = {"listen": "tls = true", "web": 'origin = "https://truc.example"'}[section]
    lines = check(folder, f'[{section}]\ncertificate = "~nobody-of-that-name/x"\n{more}\n', status=1)
    assert [line for line in lines if "cannot read ~nobody-of-that-name/x: No such file or directory" in line]


# Settings among themselves

WRONG = (
    (
        "[listen]\nport = 7400\npublic_host = 'x.example'\n[metrics]\nport = 7400",
        "metrics.port: is listen.port as well: give the two different ports",
    ),
    (
        f"[access]\nbots = ['{BOT}']\nbanned = ['{BOT}', '10.0.0.1']",
        "access.bots: one of them is in access.banned, and cannot come when it is called: take it out of one list",
    ),
    (
        "[tables]\nbots = 3\n[limits]\nconnections_per_address = 3",
        "limits.connections_per_address: not enough for tables.bots, who all come from this machine: set more",
    ),
    (
        "[listen]\nport = 7400\npublic_host = 'x.example'\n[access]\nmoved_to = 'x.example:7400'",
        "access.moved_to: is this server itself, and everybody would be sent in a circle: take it out",
    ),
    (
        "[listen]\npublic_host = 'x.example'\n[cluster]\nnode = 'one'",
        "cluster.node: set, so store.url must be the PostgreSQL database that the nodes share",
    ),
    (
        "[listen]\npublic_host = 'x.example'\n[cluster]\nnode = 'one'\nroute = 'proxy'",
        "cluster.inner: empty, so no other node can bring players to the tables of this one: set it where"
        ' cluster.route = "proxy"',
    ),
    (
        "[listen]\npublic_host = 'x.example'\n[cluster]\nnode = 'one'\n[web]\nlisten = '127.0.0.1:0'",
        "cluster.inner: empty, so no browser comes to the tables of this node from another: a page cannot be sent to"
        " another address, so set it where browsers are served",
    ),
    (
        "[cluster]\nnode = 'one'",
        "cluster.public: not set, and neither is listen.public_host: players cannot be sent to this node",
    ),
    (
        "[access]\nmoved_to = 'there.example:7373'\n[cluster]\nnode = 'one'",
        "access.moved_to: set, so this node sends everybody away and takes up no table: take cluster.node out",
    ),
)


@pytest.mark.parametrize(("settings", "told"), WRONG, ids=[told.split(":")[0] for _, told in WRONG])
def test_settings_that_nobody_can_want_are_wrong(folder, settings, told, monkeypatch):
    monkeypatch.delenv("TRUC_LISTEN_PORT")
    with locked(folder):  # as no port is tried where a server runs
        assert f"wrong  {told}" in check(folder, settings, status=1)


NOTES = (
    (
        '[access]\nmembers = "keys"',
        'access.members: no guest may log in where it is "keys", although guests = true',
    ),
    (
        "guests = false\n[match]\nguests = 2",
        "match.guests: seats are kept for guests, although guests = false lets none log in",
    ),
    (
        '[metrics]\nport = 7401\nhost = "0.0.0.0"',
        "metrics.host: whoever reaches that address can read the figures; 127.0.0.1 keeps them on this machine",
    ),
    (
        "[limits]\nconnections = 10",
        "limits.connections_per_address: more than limits.connections, so that one address may take all of them",
    ),
    (
        "[limits]\ntables = 10",
        "limits.tables_per_address: more than limits.tables, so that one address may open all of them",
    ),
    (
        "[match]\ndecision_ms = 0",
        "match.bank_ms: never used, as match.decision_ms = 0 sets no time for a decision",
    ),
    (
        "[access]\nmoved_to = 'there.example:7373'",
        "access.moved_to: everybody is sent to there.example:7373, and no table is taken up",
    ),
    (
        '[web]\norigin = "https://truc.example"\nproxies = ["127.0.0.1"]',
        "web.origin: not used, as web.listen is empty and no browser is served",
    ),
    (
        '[web]\nlisten = "127.0.0.1:0"\norigin = "http://truc.example"',
        "web.origin: http://truc.example is neither https nor this machine: browsers have no keys there, and play as guests",
    ),
    (
        '[web]\nlisten = "127.0.0.1:0"\norigin = "https://truc.example"',
        "web.proxies: empty, so all who come through your proxy count as one address; name the proxy",
    ),
    (
        "[cluster]\ninner = '127.0.0.1:7375'",
        "cluster.node: empty, so this is the only server on its database, and no other setting of cluster is used",
    ),
    (
        "motd = 'hello'",
        "listen.public_host: not set, so invites lead to this machine only; set the name that players use",
    ),
)


@each_row("settings, told", NOTES)
def test_settings_that_do_nothing_are_noted(folder, settings, told):
    with locked(folder):
        assert f"note   {told}" in check(folder, settings)


def test_nothing_is_said_of_settings_that_go_together(folder):
    with locked(folder):
        lines = check(folder, '[listen]\npublic_host = "x.example"')
    assert not [line for line in lines for _, told in (*WRONG, *NOTES) if told in line]


# Ports


@pytest.fixture
def taken(monkeypatch):
    """A port that another program listens on, and this server would."""
    monkeypatch.setenv("TRUC_LISTEN_HOSTS", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("TRUC_LISTEN_PORT", str(other.getsockname()[1]))
        yield other.getsockname()[1]


def in_use(section: str, port: int, setting: str) -> str:
    told = f"port {port} of 127.0.0.1 is in use by another program: stop it, or change {setting}"
    return f"wrong  {section}: {told}"


def test_port_in_use_is_wrong_also_before_the_first_start_and_for_figures_and_other_nodes(
    folder, taken, tmp_path, monkeypatch
):
    for where in (folder, Folder(tmp_path / "new")):
        assert in_use("listen", taken, "listen.port") in check(where, status=1)
    monkeypatch.setenv("TRUC_LISTEN_PORT", "0")
    lines = check(folder, f'[metrics]\nport = {taken}\n[cluster]\ninner = "127.0.0.1:{taken}"', status=1)
    assert in_use("metrics", taken, "metrics.port") in lines
    assert in_use("cluster", taken, "cluster.inner") in lines


def test_port_of_the_server_that_runs_is_its_own(folder, taken):
    with locked(folder):
        assert not [line for line in check(folder) if "in use by another" in line]


def test_tried_port_is_free_afterwards(folder, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    monkeypatch.setenv("TRUC_LISTEN_PORT", str(port))
    monkeypatch.setenv("TRUC_LISTEN_HOSTS", "127.0.0.1")
    check(folder)
    socket.create_server(("127.0.0.1", port)).close()


def test_address_of_another_machine_is_wrong(folder):
    lines = check(folder, '[listen]\nhosts = ["192.0.2.1"]', status=1)
    told = "port 0 of 192.0.2.1 cannot be listened on: Cannot assign requested address; change listen.hosts"
    assert f"wrong  listen: {told}" in lines


@pytest.mark.parametrize("number", [errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL])
def test_kind_of_address_that_the_machine_lacks_is_noted_beside_another(folder, number, monkeypatch):
    class Without(socket.socket):
        def bind(self, address):
            if self.family == socket.AF_INET6:
                raise OSError(number, os.strerror(number))
            super().bind(address)

    monkeypatch.setattr(socket, "socket", Without)
    assert "note   listen: this machine has no such address as ::" in check(folder)
    lines = check(folder, '[listen]\nhosts = ["::"]', status=1)
    assert [line for line in lines if line.startswith("wrong  listen: port 0 of :: cannot be listened on")]


def test_name_that_is_no_address_is_wrong(folder, monkeypatch):
    def unknown(*_arguments, **_named):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    lines = check(folder, '[listen]\nhosts = ["nowhere.example"]', status=1)
    told = "listen: nowhere.example is no address of this machine: Name or service not known; change listen.hosts"
    assert f"wrong  {told}" in lines


def test_port_that_is_not_this_users_is_wrong(folder, monkeypatch):
    class Denied(socket.socket):
        def bind(self, _address):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "socket", Denied)
    monkeypatch.setenv("TRUC_LISTEN_PORT", "443")
    monkeypatch.setenv("TRUC_LISTEN_HOSTS", "127.0.0.1")
    told = "port 443 of 127.0.0.1 may not be listened on by this user: choose one above 1023 as listen.port"
    assert f"wrong  listen: {told}" in check(folder, status=1)


def test_inner_socket_needs_a_folder_and_a_short_path(folder, tmp_path):
    lines = check(folder, f'[cluster]\ninner = "{tmp_path}/none/inner"', status=1)
    assert f"wrong  cluster.inner: expected to make a socket in {tmp_path}/none, got no such folder" in lines
    long = f"{tmp_path}/{'i' * 100}"
    told = f"{long} has {len(long)} bytes, and the system takes 107 for a socket: choose a shorter path"
    assert wrong(folder, f'[cluster]\ninner = "{long}"') == f"wrong  cluster.inner: {told}"


def test_node_whose_inner_door_is_shut_is_noted(folder):
    told = "cluster.inner: empty, so who plays at another node's table cannot also play here on the same connection"
    with locked(folder):
        assert f"note   {told}" in check(folder, "[cluster]\nnode = 'one'", status=1)


# Keys and passphrase


def words(path: Path, mode: int = 0o600) -> str:
    path.write_text(f"{WORDS}\n")
    path.chmod(mode)
    return str(path)


def test_passphrase_that_opens_the_keys_is_right(folder, tmp_path, monkeypatch):
    change_passphrase(folder, None, WORDS)
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", words(tmp_path / "words"))
    assert f"ok     passphrase: {tmp_path}/words opens the keys" in check(folder)


def test_passphrase_file_is_looked_at_before_the_first_start_too(tmp_path, monkeypatch):
    folder = Folder(tmp_path / "new")
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", str(tmp_path / "none"))
    open_folder(folder.root)
    told = f"wrong  keys: cannot read the passphrase file {tmp_path}/none: No such file or directory"
    assert told in check(folder, status=1)
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", words(tmp_path / "words"))
    sealed = f"keys: will be made at the first start, sealed with the passphrase in {tmp_path}/words"
    assert f"ok     {sealed}" in check(folder)


def test_passphrase_that_does_not_open_the_keys_is_wrong(folder, tmp_path, monkeypatch):
    change_passphrase(folder, None, "another long passphrase")
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", words(tmp_path / "words"))
    told = f"{folder.identity}: the passphrase does not open it, or it is damaged"
    assert f"wrong  keys: {told}" in check(folder, status=1)


def test_sealed_keys_without_a_file_are_noted(folder):
    change_passphrase(folder, None, WORDS)
    told = "passphrase: asked for at every start, at the terminal; a service needs store.passphrase_file"
    assert f"note   {told}" in check(folder)


def test_file_without_a_passphrase_on_the_keys_is_wrong(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", words(tmp_path / "words"))
    assert wrong(folder).endswith(
        f"have no passphrase: give them one with truc-server key passphrase --new {tmp_path}/words, or take the setting out"
    )


def test_key_file_left_unsealed_is_wrong(folder):
    before = folder.secrets_key.read_bytes()
    change_passphrase(folder, None, WORDS)
    folder.secrets_key.write_bytes(before)
    told = f"passphrase: {folder.secrets_key} not sealed, although others are: run truc-server key passphrase"
    assert f"wrong  {told}" in check(folder, status=1)


# Clock, socket, folder


def test_clock_behind_the_newest_key_is_wrong(folder):
    roll(folder, 4_000_000_000)
    line = wrong(folder)
    assert line.startswith("wrong  clock: the key was changed up to ")
    assert line.endswith("set the clock, as players' clients refuse a key to come")


@each_row(
    "now, told",
    [
        (NOW, "ok     clock: 2026-09-21 14:13 UTC"),
        (
            NOW - 3_600,
            "wrong  clock: it says 2026-09-21 13:13 UTC, but the data folder was changed at 2026-09-21 14:13 UTC: "
            "set it",
        ),
        (
            0,
            "wrong  clock: it says 1970-01-01 00:00 UTC: set it, bans, invites and changes of the key go by it",
        ),
    ],
)
def test_clock_goes_with_the_data_folder(folder, now, told):
    os.utime(folder.identity, (NOW, NOW))
    assert look_at_clock(folder, now).line == told


def test_folder_whose_name_is_too_long_for_a_socket_is_wrong(tmp_path):
    folder = open_folder(tmp_path / ("d" * 100))
    load_identity(folder)
    length = len(str(folder.admin_socket))
    assert wrong(folder) == (
        f"wrong  data folder: {folder.admin_socket} has {length} bytes, and the system takes 107 for a socket: "
        "truc-server admin will not work; choose a folder with a shorter name"
    )


def test_socket_of_just_the_longest_name_is_right():
    with TemporaryDirectory() as above:
        short = len(str(Folder(Path(above) / "").admin_socket)) + 1
        folder = open_folder(Path(above) / ("d" * (107 - short)))
        load_identity(folder)
        with socket.socket(socket.AF_UNIX) as tried:
            tried.bind(str(folder.admin_socket))
        folder.admin_socket.unlink()
        assert not [line for line in check(folder) if "truc-server admin" in line]


def test_tables_that_have_moved_are_wrong(folder):
    folder.moved.touch()
    assert wrong(folder).startswith(f"wrong  start: the tables in {folder.root} have moved")


def test_certificate_is_looked_at(folder):
    lines = check(folder, '[listen]\ntls = true\ncertificate = "/none/there.pem"', status=1)
    assert [line for line in lines if line.startswith("wrong  TLS: ")]


def test_database_without_its_keys_is_wrong(folder):
    shutil.copy(folder.identity, folder.database)
    folder.identity.unlink()
    assert [line for line in check(folder, status=1) if line.startswith("wrong  keys: ")]
