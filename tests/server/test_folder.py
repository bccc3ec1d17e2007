"""The data folder: how it is made, and that one process at a time has it."""

import errno
import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from rows import each_row

from truc_server.settings.folder import (
    FolderError,
    FolderLockedError,
    default_root,
    lock_holder,
    locked,
    move,
    open_folder,
    write_new,
    write_private,
)

# Holds the lock until its standard input ends.
HOLDER = """
import sys
from pathlib import Path
from truc_server.settings.folder import locked, open_folder
with locked(open_folder(Path(sys.argv[1]))):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(path):
    return open_folder(path)


@pytest.fixture
def holder(folder):
    """Another process that has the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, folder.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"locked\n"
        yield process
        process.kill()


class TestMaking:
    def test_new_folder_is_its_owners_alone_and_those_above_are_made_too(self, tmp_path):
        folder = open_folder(tmp_path / "a" / "b")
        assert stat.S_IMODE(folder.root.stat().st_mode) == 0o700

    def test_folder_that_is_there_is_taken_as_it_is(self, tmp_path):
        (tmp_path / "kept").write_text("x")
        assert (open_folder(tmp_path).root / "kept").read_text() == "x"

    def test_file_in_its_place_is_refused(self, path):
        path.write_text("")
        with pytest.raises(FolderError, match="cannot create the data folder"):
            open_folder(path)

    def test_folder_that_this_user_may_not_write_to_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr("os.access", lambda *_: False)
        with pytest.raises(FolderError, match=r"expected to read and write .*, got no permission"):
            open_folder(tmp_path)

    def test_folder_on_a_disk_that_is_read_only_is_refused_for_that(self, tmp_path, monkeypatch):
        monkeypatch.setattr("os.access", lambda *_: False)
        monkeypatch.setattr("os.statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
        with pytest.raises(FolderError, match="got a disk that is read-only"):
            open_folder(tmp_path)

    def test_full_disk_is_said_with_the_file_that_was_to_be_written(self, tmp_path, monkeypatch):
        def full(_descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match=f"No space left on device: '{tmp_path / 'identity.pem'}'"):
            write_private(tmp_path / "identity.pem", b"key")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("write", [write_private, partial(write_new, mode=0o600)])
    def test_name_that_may_not_reach_the_disk_is_said_with_the_file_which_is_there(
        self, tmp_path, monkeypatch, write
    ):
        def full(descriptor):
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("os.fsync", full)
        written, moved = tmp_path / "written", tmp_path / "moved"
        told = "it is there, but a power cut may undo that: No space left on device: "
        with pytest.raises(OSError, match=f"{told}'{written}'"):
            write(written, b"text")
        with pytest.raises(OSError, match=f"{told}'{moved}'"):
            move(written, moved)
        assert moved.read_bytes() == b"text"


def test_disk_without_locks_is_said(folder, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(FolderError, match=r"cannot lock .*lock: No locks available"), locked(folder):
        pass


@each_row(
    "environment, platform, root",
    [
        ({"XDG_DATA_HOME": "/x"}, "linux", Path("/x/truc-server")),
        ({}, "linux", Path.home() / ".local/share/truc-server"),
        ({}, "darwin", Path.home() / "Library/Application Support/truc-server"),
    ],
)
def test_folder_is_by_default_where_the_platform_has_data(environment, platform, root):
    assert default_root(environment, platform) == root


class TestLock:
    def test_other_process_is_named_again_and_again(self, folder, holder):
        for _ in range(2):
            with (
                pytest.raises(FolderLockedError, match=f"by process {holder.pid};") as caught,
                locked(folder),
            ):
                pass
        assert (caught.value.pid, lock_holder(folder).pid) == (holder.pid, holder.pid)

    def test_killed_process_leaves_no_lock_and_a_longer_number_before_nothing_behind(self, folder, holder):
        holder.kill()
        holder.wait()
        folder.lock.write_text("99999999999999\n")
        with locked(folder):
            assert folder.lock.read_text() == f"{os.getpid()}\n"

    def test_holder_that_has_not_said_its_number_is_another_process(self, folder, holder):
        folder.lock.write_text("")
        with pytest.raises(FolderLockedError, match="in use by another process;"), locked(folder):
            pass

    def test_folder_that_is_new_or_no_longer_in_use_has_no_holder(self, folder):
        assert lock_holder(folder) is None
        with locked(folder):
            assert stat.S_IMODE(folder.lock.stat().st_mode) == 0o600  # its owner's alone
        assert lock_holder(folder) is None
