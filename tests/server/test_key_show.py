"""`truc-server key show`: the key, its changes, and which keys before it are still needed."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from server.conftest import in_hand, running, together
from server.stored import older

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.key_files import revocation_text
from truc_protocol.wire.handshake import revoke
from truc_server.identity.identity import Identity, accept_revocation, load_identity, read_identity, roll
from truc_server.main import main
from truc_server.settings.folder import Folder, open_folder

NOW = int(datetime(2026, 11, 1, 23, 30, tzinfo=UTC).timestamp())
UNREADABLE = "the database cannot be read as it is, truc-server check says why"
STRANGER = signing_key_from_seed(b"s" * 32)


@pytest.fixture
def folder(tmp_path) -> Folder:
    return open_folder(tmp_path / "data")


@pytest.fixture
def first(folder) -> Identity:
    return load_identity(folder)


def shown(folder: Folder) -> list[str]:
    result = CliRunner().invoke(main, ["key", "show", "--data", str(folder.root)])
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_key_is_shown_in_both_forms(folder, first):
    assert shown(folder) == [
        f"fingerprint  {first.fingerprint}",
        f"public key   {first.key.public.hex()}",
        "serial       0",
        "passphrase   none for identity.pem, secrets.key",
    ]


def test_change_is_shown_with_the_day_it_was_made(folder, first):
    new = roll(folder, NOW)
    assert f"change 1     2026-11-01  {first.fingerprint} -> {new.fingerprint}" in shown(folder)


async def test_earlier_key_that_a_running_match_needs_is_named_with_their_number(folder, first):
    async with running(folder.root) as server:
        await in_hand(server)
    roll(folder, NOW)
    assert f"earlier key  {first.fingerprint}  1 running match needs it" in shown(folder)


async def test_deleted_key_that_a_running_match_needs_is_missed(folder, first):
    async with running(folder.root) as server:
        await in_hand(server)
    roll(folder, NOW)
    next(folder.earlier.iterdir()).unlink()
    line = f"earlier key  {first.fingerprint}  not in the folder, 1 running match needs it"
    assert line in shown(folder)


async def test_match_that_is_over_needs_no_key(folder, first):
    async with running(folder.root) as server:
        seats = await server.match(2)
        await together(*(seat.play for seat in seats))
        assert all(seat.done for seat in seats)
    roll(folder, NOW)
    assert f"earlier key  {first.fingerprint}  no running match needs it: its file may be deleted" in shown(
        folder
    )


def test_keys_of_a_database_of_an_older_version_are_not_called_needless(folder, first):
    older(folder.root, "0001")
    before = folder.database.read_bytes()
    roll(folder, NOW)
    (line,) = [line for line in shown(folder) if line.startswith("earlier")]
    assert line.endswith(f"not known whether a match needs it: {UNREADABLE}")
    assert folder.database.read_bytes() == before


@pytest.mark.parametrize("why", ["damaged", "no answer"])
def test_database_that_cannot_be_read_calls_no_key_needless(folder, first, monkeypatch, why):
    roll(folder, NOW)
    if why == "damaged":
        folder.database.write_bytes(b"no database " * 100)
    else:
        monkeypatch.setenv("TRUC_STORE_URL", "postgresql://truc@127.0.0.1:1/truc")
    line = f"earlier key  {first.fingerprint}  not known whether a match needs it: {UNREADABLE}"
    assert line in shown(folder)


def test_keys_given_up_are_shown_with_whose_they_are(folder, first):
    second = roll(folder, NOW)
    for key in (STRANGER, first.key, second.key):
        accept_revocation(folder, revocation_text(revoke(key)))
    assert sorted(line for line in shown(folder) if line.startswith("given up")) == sorted(
        (
            f"given up     {fingerprint(STRANGER.public)}  somebody else's",
            f"given up     {first.fingerprint}  an earlier key of this server",
            f"given up     {second.fingerprint}  this server's present key: it does not start",
        )
    )


def test_folder_without_keys_is_status_1_and_not_made(tmp_path):
    result = CliRunner().invoke(main, ["key", "show", "--data", str(tmp_path / "none")])
    assert (result.exit_code, (tmp_path / "none").exists()) == (1, False)
    assert result.stderr == f"truc-server: no server has run in {tmp_path}/none yet\n"


def test_no_secret_is_shown(folder, first):
    second = roll(folder, NOW)
    text = "\n".join(shown(folder))
    secrets = (first.key.seed(), second.key.seed(), read_identity(folder).at_rest)
    assert not [secret for secret in secrets if secret.hex() in text]
