"""The server's keys: made once, readable by their owner alone, never silently replaced."""

import stat

import pytest
from rows import each_row

from truc_protocol.crypto.keys import fingerprint, from_pem
from truc_server.identity.identity import Identity, load_identity, read_identity
from truc_server.identity.key_files import IdentityError
from truc_server.settings.folder import Folder, open_folder


@pytest.fixture
def folder(path) -> Folder:
    return open_folder(path)


@pytest.fixture
def identity(folder) -> Identity:
    return load_identity(folder)


def test_keys_stay_the_same(folder, identity):
    again = load_identity(folder)
    assert (again.key.public, again.at_rest) == (identity.key.public, identity.at_rest)


def test_keys_are_made_in_two_files_of_their_owner_alone(folder, identity):
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.root.iterdir()}
    assert modes == {"identity.pem": 0o600, "secrets.key": 0o600}
    assert from_pem(folder.identity.read_bytes()).public == identity.key.public
    assert identity.fingerprint == fingerprint(identity.key.public)


def test_repr_shows_no_secret(identity):
    assert repr(identity) == f"Identity({identity.fingerprint}, serial 0)"


def test_start_killed_while_making_keys_is_repeated(folder):
    folder.secrets_key.write_bytes(bytes(32))
    folder.secrets_key.chmod(0o600)
    (folder.root / ".identity.pem.new").write_bytes(b"half of")
    assert load_identity(folder).at_rest == bytes(32)


@pytest.mark.parametrize("name", ["identity.pem", "secrets.key"])
def test_key_open_to_others_is_refused(folder, identity, name):
    (folder.root / name).chmod(0o640)
    with pytest.raises(IdentityError, match=rf"{name} is open to other users \(mode 0640\): run chmod 600"):
        load_identity(folder)


@each_row("content, told", [(None, r"secrets\.key is missing"), (bytes(31), "expected 32 bytes, got 31")])
def test_secrets_key_that_is_missing_or_of_another_length_is_refused(folder, identity, content, told):
    folder.secrets_key.unlink(missing_ok=True)
    if content is not None:
        folder.secrets_key.write_bytes(content)
        folder.secrets_key.chmod(0o600)
    with pytest.raises(IdentityError, match=told):
        load_identity(folder)


def test_damaged_identity_names_the_file(folder, identity):
    folder.identity.write_bytes(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    with pytest.raises(IdentityError, match=r"identity\.pem: "):
        load_identity(folder)


@each_row("trace", ["database", "rolls", "certificate", "admin_log", "settings"])
def test_used_folder_without_its_key_gets_no_new_one(folder, identity, trace):
    folder.identity.unlink(missing_ok=True)
    getattr(folder, trace).touch()
    with pytest.raises(IdentityError, match=r"identity\.pem is missing, but .* is there: restore the key"):
        load_identity(folder)
    getattr(folder, trace).unlink()


def test_settings_put_into_a_new_folder_by_hand_are_no_trace(folder):
    folder.settings.touch()
    assert load_identity(folder).serial == 0


def test_reading_makes_no_keys(folder):
    with pytest.raises(IdentityError, match="is missing"):
        read_identity(folder)
    assert list(folder.root.iterdir()) == []
