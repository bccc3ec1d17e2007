import resource
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from protocol.forge import small
from protocol.peers import Table
from rows import each_row

from truc_client import HomeError, default_root, open_home
from truc_client.home.home import (
    import_seed,
    keep_name,
    kept_name,
    master_seed,
    player_key,
    revoked_keys,
    sole_use,
    write_seed,
)
from truc_client.home.transcripts import Evidence, keep_evidence


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_home_and_seed_are_made_once_for_their_owner_alone_and_never_written_over(home) -> None:
    first = master_seed(home)
    with pytest.raises(HomeError, match="already"):
        write_seed(home, bytes(32))
    assert master_seed(home) == first
    assert (mode(home.root), mode(home.seed)) == (0o700, 0o600)


def test_seed_of_a_process_that_was_killed_is_whole_or_not_there(home, monkeypatch) -> None:

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as disk:
        disk.setattr("truc_client.home.home.write_through", killed)
        with pytest.raises(KeyboardInterrupt):
            master_seed(home)
    assert len(master_seed(home)) == 32


def test_two_processes_that_make_a_seed_at_once_have_the_same_player(tmp_path, monkeypatch) -> None:
    home, quicker = open_home(tmp_path / "home"), bytes(range(32))
    draw = secrets.token_bytes

    def drawn(length: int) -> bytes:
        write_seed(home, quicker)  # by the other process, between the look and the writing
        return draw(length)

    monkeypatch.setattr("secrets.token_bytes", drawn)
    assert master_seed(home) == quicker
    assert sorted(path.name for path in home.root.iterdir() if path.is_file()) == ["master.seed"]


def test_seed_is_made_where_files_cannot_be_linked(home, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refuse)
    first = master_seed(home)
    with pytest.raises(HomeError, match="already"):
        write_seed(home, bytes(32))
    assert (master_seed(home), mode(home.seed)) == (first, 0o600)


def test_damaged_seed_is_said_so(home) -> None:
    home.seed.write_bytes(b"short")
    with pytest.raises(HomeError, match="expected 32 bytes, got 5"):
        master_seed(home)


def test_keys_for_two_servers_differ() -> None:
    assert player_key(bytes(32), b"a" * 32).public != player_key(bytes(32), b"b" * 32).public


@each_row("text", ["", "truc player key 1", "truc player key 1\nxyz", "other\n" + "00" * 32])
def test_other_text_is_not_imported(text) -> None:
    with pytest.raises(HomeError, match="hex digits"):
        import_seed(text)


@each_row(
    "platform, environ, end",
    [
        ("linux", {"TRUC_HOME": "/somewhere"}, "/somewhere"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/truc"),
        ("linux", {}, ".local/share/truc"),
        ("darwin", {}, "Library/Application Support/truc"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/truc"),
    ],
)
def test_home_is_where_the_variable_says_or_the_platform_keeps_such_things(platform, environ, end) -> None:
    assert str(default_root(environ, platform)).endswith(end)


@each_row("environ", [{"TRUC_HOME": "~nobody-of-that-name/truc"}, {}])
def test_home_folder_that_is_not_known_is_said(environ, monkeypatch) -> None:
    def unknown(_user):
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    with pytest.raises(HomeError, match=r"cannot use the folder ~.*/truc: "):
        default_root(environ, "linux")


def test_folder_in_use_is_not_free(tmp_path) -> None:
    with sole_use(tmp_path) as first, sole_use(tmp_path) as second:
        assert (first, second) == (True, False)


def test_home_that_cannot_be_made_is_said_so(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match=r"cannot use the folder"):
        open_home(tmp_path / "file" / "home")


@contextmanager
def no_room() -> Iterator[None]:
    """Let no file grow, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_name_for_which_a_disk_has_no_room_leaves_the_one_before(home) -> None:
    assert kept_name(home) is None
    keep_name(home, "ben")
    before = sorted(home.root.iterdir())
    with no_room(), pytest.raises(HomeError, match="name"):
        keep_name(home, "ana")
    assert (kept_name(home), sorted(home.root.iterdir())) == ("ben", before)


def test_evidence_for_which_a_disk_has_no_room_leaves_what_was_there(tmp_path) -> None:
    match = Table(small()).run()
    evidence = Evidence(match.document, tuple(match.records))
    assert keep_evidence(tmp_path, "match-1", evidence) is not None
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    with no_room():
        assert keep_evidence(tmp_path, "match-1", evidence) is None
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [before]


def test_revocations_that_cannot_be_read_are_said_so(home, tmp_path) -> None:
    home.revoked.write_text("")
    with pytest.raises(HomeError, match="revoked"):
        revoked_keys(home)
    home.revoked.unlink()
    assert revoked_keys(home) == frozenset()
    home.revoked.symlink_to(tmp_path / "disk that is not there")
    with pytest.raises(HomeError, match="revoked"):
        revoked_keys(home)
