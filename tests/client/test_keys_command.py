"""`truc keys`: servers known by their keys, changed and given up, and the own keys for them."""

import shutil
import stat
from functools import partial

import pytest
from client.playing import know
from rows import each_row

from truc_client.home.home import master_seed, player_key, revoked_keys
from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.key_files import read_revocation, revocation_text
from truc_protocol.wire.handshake import Pin, revoke

FIRST, PRESENT, STRANGER = (signing_key_from_seed(bytes([i]) * 32) for i in range(1, 4))
SERVER = "truc.test:7373"


@pytest.fixture
def keys(truc, home):
    """Return a way to run `truc keys` in a home of its own."""
    return partial(truc, "keys")


@pytest.fixture
def known(home) -> bytes:
    """Let a server be known that has changed its key; returns the own public key there."""
    know(home, SERVER, Pin(FIRST.public, PRESENT.public, 1))
    return player_key(master_seed(home), FIRST.public).public


def given_up(key) -> str:
    return revocation_text(revoke(key))


def test_show_names_each_key_of_a_server_once_the_present_one_first_and_no_secret(keys, known, home) -> None:
    know(home, "other.test:7373", Pin(FIRST.public, FIRST.public, 0))
    told = keys("show").stdout
    present, first = fingerprint(PRESENT.public), fingerprint(FIRST.public)
    assert f"{SERVER}  server {present} (at first {first})  you {fingerprint(known)}\n" in told
    assert f"server {first}  you " in told
    seed = master_seed(home)
    secrets = (seed, player_key(seed, FIRST.public).seed())
    assert not [secret for secret in secrets if secret.hex() in told]


def test_show_makes_no_folder_and_revocation_no_key(keys, home) -> None:
    assert (keys("revocation", SERVER).exit_code, home.seed.exists()) == (1, False)
    shutil.rmtree(home.root)
    assert ("no key yet" in keys("show").stdout, home.root.exists()) == (True, False)


def test_own_key_is_given_up_by_the_host_alone(keys, known, home) -> None:
    told = keys("revoke", "-", input=keys("revocation", SERVER).stdout)
    assert (told.exit_code, revoked_keys(home)) == (1, frozenset())
    own = f"your own key for {SERVER}, {fingerprint(known)}"
    assert told.stderr.startswith(f"truc: this gives up {own}; nothing was done")


@pytest.mark.parametrize("words", [("show",), ("forget", SERVER), ("revocation", SERVER)])
def test_store_that_cannot_be_read_is_one_line(keys, known, home, words) -> None:
    home.state.write_bytes(bytes(4096))
    told = keys(*words)
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert told.stderr.startswith(f"truc: cannot use {home.state}: ")


@each_row("server", [SERVER, "truc.test"])
def test_revocation_gives_up_the_own_key_for_that_server_at_the_usual_port(keys, known, server) -> None:
    assert read_revocation(keys("revocation", server).stdout) == known


def test_revocation_in_a_file_is_its_owners_alone_and_writes_over_none(keys, known, tmp_path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    told = keys("revocation", SERVER, "--out", str(tmp_path / "mine.txt"))
    assert (told.exit_code, (tmp_path / "mine.txt").read_text()) == (1, "mine")
    keys("revocation", SERVER, "--out", str(tmp_path / "kept.txt"))
    assert read_revocation((tmp_path / "kept.txt").read_text()) == known
    assert stat.S_IMODE((tmp_path / "kept.txt").stat().st_mode) == 0o600


def test_revocation_for_an_unknown_server_is_one_line_and_status_1(keys, known) -> None:
    told = keys("revocation", "other.test")
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr == "truc: other.test is not known; you have a key there after the first contact\n"


def test_revoked_key_is_said_to_be_whose_it_is(keys, known) -> None:
    told, key = keys("revoke", "-", input=given_up(PRESENT)).stdout, fingerprint(PRESENT.public)
    assert told == f"{key} was given up; it is no longer trusted (known as {SERVER})\n"
    assert "No server known here has that key" in keys("revoke", "-", input=given_up(STRANGER)).stderr


def test_revoked_key_is_heeded_and_shown_once(keys, known, home, tmp_path) -> None:
    (tmp_path / "stolen.txt").write_text(given_up(STRANGER))
    for _ in range(2):
        assert keys("revoke", str(tmp_path / "stolen.txt")).exit_code == 0
    assert (revoked_keys(home), len(list(home.revoked.iterdir()))) == ({STRANGER.public}, 1)
    assert f"given up  {fingerprint(STRANGER.public)}\n" in keys("show").stdout


FORGED = revocation_text(revoke(FIRST)._replace(sig=STRANGER.sign(revoke(FIRST).body)))


@each_row(
    "text, told",
    [
        ("hello\n", "expected a revocation: line 1: expected 'truc revocation 1'\n"),
        (b"\xff\xfe", "expected a revocation: expec"),
        (FORGED, ""),  # another has signed it
    ],
)
def test_what_is_no_revocation_is_told_without_a_check_and_not_heeded(keys, home, text, told):
    shown = keys("revoke", "-", input=text)
    assert (shown.exit_code, revoked_keys(home)) == (1, frozenset())
    assert (shown.stderr.startswith(f"truc: {told}"), "C40" in shown.stderr) == (True, False)


def test_revocation_killed_while_written_stops_nothing(keys, home) -> None:
    keys("revoke", "-", input=given_up(STRANGER))
    (home.revoked / ".half.txt.new").write_text("truc rev")
    assert revoked_keys(home) == {STRANGER.public}
