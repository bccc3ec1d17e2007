"""The server's key changes: one truth at every moment, the keys before are kept, and what was given up is not used."""

import base64
import os
import stat
import sys
from functools import partial
from pathlib import Path

import pytest
from server.conftest import in_hand, running
from server.killed import killed
from server.visitors import guest

from truc_protocol.crypto.keys import KeyFileError, fingerprint, signing_key_from_seed, to_pem
from truc_protocol.key_files import revocation_text
from truc_protocol.wire.handshake import (
    Greeting,
    KnownServer,
    Pin,
    Trust,
    check_server_hello,
    revoke,
    server_hello,
)
from truc_server.identity.identity import (
    Identity,
    accept_revocation,
    check_in_force,
    load_identity,
    read_identity,
    read_public,
    revoked_keys,
    roll,
)
from truc_server.identity.key_files import IdentityError
from truc_server.operation import logs
from truc_server.settings.folder import Folder, FolderError, open_folder
from truc_server.settings.settings import LogSettings

NOW = 1_790_000_000
STRANGER = signing_key_from_seed(b"s" * 32)


@pytest.fixture
def folder(path) -> Folder:
    return open_folder(path)


@pytest.fixture
def first(folder) -> Identity:
    return load_identity(folder)


def rolled(folder: Folder, times: int = 1) -> Identity:
    for _ in range(times):
        identity = roll(folder, NOW)
    return identity


def revoked(folder: Folder, key) -> None:
    accept_revocation(folder, revocation_text(revoke(key)))


# The rotation


def test_roll_leads_from_the_key_before_to_the_present_one(folder, first):
    identity = rolled(folder)
    (rotation,) = identity.rotations
    assert (rotation.change.old, rotation.change.new) == (first.key.public, identity.key.public)
    assert (first.key.public != identity.key.public, identity.at_rest) == (True, first.at_rest)
    assert rotation.change.not_before == NOW - 86_400  # for players whose clock is late


def test_matches_find_the_key_they_were_begun_under(folder, first):
    second = rolled(folder)
    third = rolled(folder)
    keys = [third.key_of(identity.key.public) for identity in (first, second, third)]
    assert [key.seed() for key in keys] == [identity.key.seed() for identity in (first, second, third)]


def test_key_of_another_server_or_one_that_was_deleted_is_not_found(folder, first):
    with pytest.raises(IdentityError, match=f"{fingerprint(STRANGER.public)} is not among the keys"):
        rolled(folder).key_of(STRANGER.public)
    next(folder.earlier.iterdir()).unlink()
    with pytest.raises(IdentityError, match="not among the keys"):
        load_identity(folder).key_of(first.key.public)


def test_hello_carries_the_newest_eight_rolls_and_who_missed_them_follows(folder, first):
    second = rolled(folder)
    identity = rolled(folder, 8)
    assert [rotation.change.serial for rotation in identity.rotations] == [*range(1, 10)]
    assert identity.rolls == tuple(rotation.roll for rotation in identity.rotations[1:])
    assert trusted(second.key.public, identity) is Trust.ROLLED


def trusted(pinned: bytes, identity: Identity) -> Trust:
    greeting = Greeting(identity.key, bytes(32), 1, b"\x80", rolls=identity.rolls)
    hello = server_hello(greeting, 1, b"frame")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truc_protocol.wire.handshake.decode_info", lambda info: info)
        return check_server_hello(hello, KnownServer(b"frame", (1,), Pin(pinned, pinned, 0), NOW)).trust


def test_roll_leaves_no_unfinished_file_and_every_key_is_its_owners_alone(folder, first):
    rolled(folder)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.root.rglob("*")}
    keys = dict.fromkeys((f"{first.fingerprint}.pem", "identity.pem", "secrets.key"), 0o600)
    assert modes == {"earlier": 0o700, "rolls.txt": 0o600, **keys}


def test_repr_of_rolled_keys_shows_no_secret(folder, first):
    identity = rolled(folder)
    assert repr(identity) == f"Identity({identity.fingerprint}, serial 1)"


# Killed in between


def killed_everywhere(tmp_path: Path):
    """Yield a folder for every place at which a roll can be killed, with the keys it had before."""
    for steps in range(100):
        folder = open_folder(tmp_path / f"killed{steps}")
        before = load_identity(folder)
        if killed(partial(roll, folder, NOW), steps, (os, "open"), (os, "fsync")):
            assert steps > 15
            return
        yield folder, before
    raise AssertionError("a roll does not come to its end")


def test_killed_roll_has_happened_or_not(tmp_path):
    outcomes = set()
    for folder, before in killed_everywhere(tmp_path):
        read = read_identity(folder)
        identity = load_identity(folder)
        assert (identity.serial == 0) == (identity.key.public == before.key.public)
        assert identity.key.public == read.key.public  # what only reads sees the key of the next start
        assert identity.key_of(before.key.public).seed() == before.key.seed()
        assert [path.name for path in folder.root.glob("identity*")] == ["identity.pem"]
        outcomes.add(identity.serial)
    assert outcomes == {0, 1}


def test_killed_roll_is_repeated(tmp_path):
    for folder, before in killed_everywhere(tmp_path):
        identity = roll(folder, NOW)
        assert identity.rotations[0].change.old == before.key.public
        assert load_identity(folder).key.public == identity.rotations[-1].change.new


# Files that do not belong together


def test_identity_of_before_the_roll_is_refused_with_both_keys(folder, first):
    old = folder.identity.read_bytes()
    identity = rolled(folder)
    folder.identity.write_bytes(old)
    with pytest.raises(
        IdentityError, match=rf"expected the key {identity.fingerprint}.*got {first.fingerprint}"
    ):
        load_identity(folder)


def test_unfinished_key_that_the_rolls_do_not_lead_to_is_not_taken(folder, first):
    old = folder.identity.read_bytes()
    rolled(folder)
    folder.identity.write_bytes(old)
    folder.next_identity.write_bytes(to_pem(STRANGER))
    folder.next_identity.chmod(0o600)
    with pytest.raises(IdentityError, match="restore both from the same backup"):
        load_identity(folder)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda folder: folder.rolls.unlink(), r"no rotation in .*rolls\.txt leads from this key"),
        (lambda folder: folder.identity.unlink(), r"identity\.pem is missing, but .*rolls\.txt is there"),
        (lambda folder: folder.rolls.write_text(folder.rolls.read_text()[:-9]), r"rolls\.txt: line 2: "),
        (lambda folder: next(folder.earlier.iterdir()).chmod(0o644), "is open to other users"),
    ],
    ids=["lost", "without an identity", "damaged", "open to others"],
)
def test_rolls_and_earlier_keys_that_came_to_harm_are_refused(folder, first, harm, told):
    rolled(folder)
    harm(folder)
    with pytest.raises(IdentityError, match=told):
        load_identity(folder)


def test_strangers_key_among_the_earlier_ones_is_refused(folder, first):
    rolled(folder)
    path = folder.earlier / "other.pem"
    path.write_bytes(to_pem(STRANGER))
    path.chmod(0o600)
    with pytest.raises(IdentityError, match=r"other\.pem: no rotation"):
        load_identity(folder)


# Keys that were given up


def test_accepted_revocation_is_heeded_by_the_next_start(folder, first):
    assert revoked_keys(folder) == frozenset()
    for _ in range(2):
        revoked(folder, STRANGER)
    assert [path.name for path in folder.revoked.iterdir()] == [f"{fingerprint(STRANGER.public)}.txt"]
    assert load_identity(folder).revoked == {STRANGER.public}


def test_revocation_put_there_by_hand_is_heeded_and_one_killed_while_written_stops_nothing(folder):
    folder.revoked.mkdir()
    (folder.revoked / "stolen").write_text(revocation_text(revoke(STRANGER)))
    (folder.revoked / ".half.txt.new").write_text("truc rev")
    assert revoked_keys(folder) == {STRANGER.public}


def test_what_is_no_revocation_is_not_accepted(folder):
    with pytest.raises(KeyFileError, match="line 1: expected 'truc revocation 1'"):
        accept_revocation(folder, "something else")
    assert not folder.revoked.exists()


@pytest.mark.parametrize("content", [b"something else", b"\xff\xfe"])
def test_file_that_is_no_revocation_is_not_passed_over(folder, content):
    folder.revoked.mkdir()
    (folder.revoked / "stolen.txt").write_bytes(content)
    with pytest.raises(FolderError, match=r"stolen\.txt: expected a revocation"):
        revoked_keys(folder)


def test_server_does_not_start_with_a_key_given_up(folder, first):
    revoked(folder, first.key)
    with pytest.raises(IdentityError, match=f"the key {first.fingerprint} of this server was revoked"):
        load_identity(folder)


def test_key_given_up_is_not_rolled(folder, first):
    revoked(folder, first.key)
    with pytest.raises(IdentityError, match="was revoked"):
        roll(folder, NOW)
    assert not folder.rolls.exists()


def test_server_starts_with_an_earlier_key_given_up_and_signs_nothing_with_it(folder, first):
    rolled(folder)
    revoked(folder, first.key)
    check_in_force(read_public(folder))
    with pytest.raises(IdentityError, match=f"{first.fingerprint} was revoked"):
        load_identity(folder).key_of(first.key.public)


# What a running server says


async def test_log_of_a_server_with_changed_keys_shows_no_secret(folder, first, capsys):
    identity = rolled(folder)
    revoked(folder, STRANGER)
    logs.configure(LogSettings(level="debug"), sys.stderr)
    async with running(folder.root) as server:
        await server.match(2)
    logged = capsys.readouterr().err
    assert identity.fingerprint in logged
    assert not [key for key in secrets_of(folder, first) if appears(key, logged)]


def secrets_of(folder: Folder, first: Identity) -> list[bytes]:
    identity = load_identity(folder)
    return [first.key.seed(), identity.key.seed(), identity.at_rest]


def appears(secret: bytes, text: str) -> bool:
    """Tell whether a secret stands in a text in any of the usual forms."""
    forms = (secret.hex(), base64.b64encode(secret).decode().rstrip("="), repr(secret)[2:-1])
    return any(form in text for form in forms)


async def test_matches_begun_under_a_key_given_up_do_not_go_on(folder, first):
    async with running(folder.root) as server:
        await in_hand(server)
        await server.seats(2, seed=2)
    rolled(folder)
    revoked(folder, first.key)
    async with running(folder.root) as server:
        client = await guest(server)
        tables = (await client.ask({"t": "tables"}))["tables"]
    assert [table["state"] for table in tables] == ["open"]


# Run by the administrator on the folder of the server's user


@pytest.fixture
def handed_over(monkeypatch) -> list[tuple[int, int]]:
    """Let somebody else than the folder's owner run; returns to whom files and folders were given."""
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "geteuid", lambda: -1)
    monkeypatch.setattr(os, "fchown", lambda descriptor, user, group: given.append((user, group)))
    return given


def test_whatever_a_roll_or_a_revocation_makes_is_the_folder_owners(folder, first, handed_over):
    owner = folder.root.stat()
    rolled(folder)
    assert handed_over == [(owner.st_uid, owner.st_gid)] * 4  # folder, key before, new key, rotations
    revoked(folder, STRANGER)
    assert handed_over == [(owner.st_uid, owner.st_gid)] * 6


def test_own_files_are_given_to_nobody(folder, monkeypatch):
    monkeypatch.setattr(os, "fchown", None)
    rolled_before = load_identity(folder)
    assert rolled(folder).rotations[0].change.old == rolled_before.key.public


@pytest.mark.parametrize("what", ["earlier", "revoked"])
@pytest.mark.parametrize("present", [Path.touch, lambda place: place.symlink_to("unmounted")])
def test_keys_that_cannot_be_listed_are_not_taken_for_none(folder, first, tmp_path, what, present):
    rolled(folder)
    revoked(folder, STRANGER)
    (folder.root / what).rename(tmp_path / "kept")
    present(folder.root / what)
    with pytest.raises(FolderError, match=rf"cannot read .*{what}: No"):
        load_identity(folder)
