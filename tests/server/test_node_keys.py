"""The keys of nodes: all have the same, whoever has others does not come, and a new one comes with nothing lost."""

import re

import pytest
from server.calls import BRIEF
from server.conftest import play_on, play_out
from server.restarting import come_back

from truc_protocol.crypto.keys import fingerprint, generate_signing_key
from truc_server.identity.identity import Identity, load_identity, roll
from truc_server.identity.key_files import key_text
from truc_server.settings.folder import open_folder
from truc_server.storage import NodeKeys, NodePlace, StoreError
from truc_server.storage.sql import Store

NOW = 1_790_000_000
SECRET, OTHER = b"s" * 32, b"o" * 32
FIRST, SECOND, THIRD, STRANGE = (bytes([n]) * 32 for n in range(4))


def runs(store: Store, name: str) -> None:
    """Let a node come, whose lease goes on."""
    store.join(name, NodePlace("", "", ""), lease_ms=3_600_000)


class TestComparing:
    def test_keys_of_the_first_are_those_of_all(self, fresh):
        for name in ("one", "two", "one"):
            fresh.check_keys(name, NodeKeys(SECRET, FIRST, ()))
            runs(fresh, name)

    def test_another_key_for_secrets_is_refused(self, fresh):
        fresh.check_keys("one", NodeKeys(SECRET, FIRST, ()))
        with pytest.raises(
            StoreError, match=r"secrets\.key is another one .* copy it from the data folder of one of them"
        ):
            fresh.check_keys("two", NodeKeys(OTHER, FIRST, ()))

    @pytest.mark.parametrize("before", [(), (STRANGE,)])
    def test_identity_of_another_server_is_refused(self, fresh, before):
        fresh.check_keys("one", NodeKeys(SECRET, FIRST, ()))
        with pytest.raises(StoreError, match=re.escape(f"got {fingerprint(STRANGE)}, another server's")):
            fresh.check_keys("two", NodeKeys(SECRET, (*before, STRANGE)[0], before))

    def test_new_key_counts_when_no_other_node_runs(self, fresh):
        for before, present in (((), FIRST), ((FIRST, SECOND), THIRD)):
            fresh.check_keys("one", NodeKeys(SECRET, present, before))
            runs(fresh, "one")
        fresh.check_keys("two", NodeKeys(SECRET, THIRD, (FIRST, SECOND)))

    def test_new_key_is_refused_while_nodes_run_with_the_old_one(self, fresh):
        for name in ("one", "three", "two"):
            fresh.check_keys(name, NodeKeys(SECRET, FIRST, ()))
            runs(fresh, name)
        with pytest.raises(
            StoreError, match=r"newer than that of the nodes that run \(one, three\): give them identity"
        ):
            fresh.check_keys("two", NodeKeys(SECRET, SECOND, (FIRST,)))

    def test_old_key_is_refused_after_the_new_one_has_come(self, fresh):
        fresh.check_keys("one", NodeKeys(SECRET, SECOND, (FIRST,)))
        with pytest.raises(
            StoreError, match=rf"{fingerprint(SECOND)}, after 1 changes, got {fingerprint(FIRST)}, after 0"
        ):
            fresh.check_keys("two", NodeKeys(SECRET, FIRST, ()))


def test_nothing_in_the_database_gives_a_key_away(tmp_path):
    identity = load_identity(open_folder(tmp_path / "keys"))
    other = Identity(identity.key, OTHER)
    assert identity.at_rest_check != other.at_rest_check
    assert identity.at_rest not in identity.at_rest_check
    assert len(identity.at_rest_check) == len(identity.at_rest)


@pytest.mark.slow
async def test_node_with_another_identity_does_not_start(nodes):
    async with nodes.run("one"):
        nodes.keys.identity.write_bytes(key_text(generate_signing_key(), None))
        with pytest.RaisesGroup(
            pytest.RaisesExc(StoreError, match="another server's: copy"), flatten_subgroups=True
        ):
            async with nodes.run("two"):
                pass


@pytest.mark.slow
async def test_match_goes_on_under_its_key_after_every_node_has_come_with_the_next(nodes):
    async with nodes.run("one") as first, nodes.run("two"):
        seats = await first.match(2, options=BRIEF)
        await play_on(seats, lambda seat: seat.next >= 7)
        roll(nodes.keys, NOW)
    async with nodes.run("two") as second:
        await nodes.owned_by("two")
        await come_back(second, *seats)
        assert {seat.client.spk for seat in seats} == {load_identity(nodes.keys).key.public}
        await play_out(seats)
    assert nodes.rows("SELECT serial FROM node_keys") == [(1,)]
