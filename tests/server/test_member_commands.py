"""`truc-server members` and `truc-server invite`: what they print, keep and refuse."""

import re

import pytest
from click.testing import CliRunner, Result

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.lobby.members import hash_of
from truc_server.main import main
from truc_server.storage import Member, open_store
from truc_server.timing.clock import now_ms

PUBLIC = signing_key_from_seed(b"p" * 32).public
OWN = fingerprint(PUBLIC)
DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A closed server, which takes invites."""
    monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "invite")


@pytest.fixture
def call(data):
    """Call a command on the data folder of the test."""

    def called(*arguments: str) -> Result:
        command = 2 if arguments[0] == "members" else 1
        line = [*arguments[:command], "--data", str(data.root), *arguments[command:]]
        return CliRunner().invoke(main, line)

    return called


@pytest.fixture
def store(data):
    opened = open_store(f"sqlite:///{data.database}")
    yield opened
    opened.close()


class TestCheck:
    def test_closed_server_with_guests_is_noted(self, call):
        assert (
            'note   access.members: no guest may log in where it is "invite", although guests = true\n'
            in (call("check").stdout)
        )

    def test_closed_server_without_guests_is_not(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_GUESTS", "false")
        assert "note   access" not in call("check").stdout

    def test_server_that_has_moved_is_noted(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_MOVED_TO", "truc.example:7373")
        assert "note   access.moved_to: everybody is sent to truc.example:7373, and no table" in (
            call("check").stdout
        )


class TestMembers:
    def test_fingerprint_is_admitted(self, call, store):
        assert call("members", "add", OWN).stdout == f"{OWN} is a member now\n"
        assert store.is_member(OWN)

    def test_key_is_admitted_by_its_fingerprint(self, call, store):
        call("members", "add", PUBLIC.hex())
        assert store.is_member(OWN)

    def test_fingerprint_in_small_letters_is_admitted(self, call, store):
        call("members", "add", OWN.lower())
        assert store.is_member(OWN)

    def test_admitting_again_says_so(self, call):
        call("members", "add", OWN)
        assert call("members", "add", OWN).stdout == f"{OWN} is a member already\n"

    @pytest.mark.parametrize("key", ["", "Ana", OWN[1:], PUBLIC.hex()[1:], "1" * 26])
    def test_what_is_no_key_is_refused(self, call, key):
        result = call("members", "add", key)
        assert result.exit_code == 2
        assert "expected a fingerprint of 26 characters or a key of 64 hexadecimal digits" in result.stderr

    def test_list_says_since_when(self, call, store):
        store.admit(Member(OWN, 86_400_000))
        assert call("members", "list").stdout == f"{OWN}  since 1970-01-02\n"

    def test_removed_member_is_gone(self, call, store):
        store.admit(Member(OWN, 1))
        assert call("members", "remove", OWN).stdout == f"{OWN} is no member any more\n"
        assert not store.is_member(OWN)

    def test_removing_nobody_is_a_failure(self, call):
        result = call("members", "remove", OWN)
        assert (result.exit_code, result.stderr) == (1, f"truc-server: {OWN} is no member\n")

    def test_open_server_says_that_everybody_may_come(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "anyone")
        assert "everybody may log in" in call("members", "add", OWN).stderr

    def test_folder_without_a_server_is_refused(self, tmp_path):
        result = CliRunner().invoke(main, ["members", "list", "--data", str(tmp_path / "none")])
        assert (result.exit_code, "no server has run in" in result.stderr) == (1, True)


class TestInvite:
    def _code(self, result: Result) -> str:
        found = re.fullmatch(r"truc://[^/]+:7373\?invite=([A-Z2-7]{24})#[A-Z2-7]{26}\n", result.stdout)
        assert found
        return found[1]

    def test_address_has_a_good_invite_in_it(self, call, store):
        code = self._code(call("invite"))
        assert store.use_invite(hash_of(code), Member(OWN, now_ms()))

    def test_every_call_makes_another(self, call):
        assert self._code(call("invite")) != self._code(call("invite"))

    def test_invite_is_good_once_unless_told_otherwise(self, call, store):
        code = hash_of(self._code(call("invite")))
        assert [store.use_invite(code, Member(name * 26, now_ms())) for name in "XY"] == [True, False]

    def test_uses_are_as_many_as_asked_for(self, call, store):
        code = hash_of(self._code(call("invite", "--uses", "2")))
        used = [store.use_invite(code, Member(name * 26, now_ms())) for name in "XYZ"]
        assert used == [True, True, False]

    @pytest.mark.parametrize(
        ("days", "after", "good"), [(2, 1, True), (2, 3, False), (None, 6, True), (None, 8, False)]
    )
    def test_invite_is_good_for_its_days(self, call, store, days, after, good):
        flags = [] if days is None else ["--days", str(days)]
        code = hash_of(self._code(call("invite", *flags)))
        assert store.use_invite(code, Member(OWN, now_ms() + after * DAY_MS)) is good

    @pytest.mark.parametrize("flags", [("--uses", "0"), ("--days", "0"), ("--uses", "x")])
    def test_numbers_out_of_range_are_refused(self, call, flags):
        assert call("invite", *flags).exit_code == 2

    @pytest.mark.parametrize("mode", ["anyone", "keys"])
    def test_server_that_takes_no_invites_prints_its_plain_address(self, call, monkeypatch, mode):
        monkeypatch.setenv("TRUC_ACCESS_MEMBERS", mode)
        assert "invite" not in call("invite").stdout

    def test_invite_of_a_server_that_takes_none_is_refused(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "keys")
        result = call("invite", "--uses", "2")
        assert (result.exit_code, result.stderr) == (
            2,
            'truc-server: an invite needs access.members = "invite"; here access.members = "keys", and nobody is'
            " asked for one\n",
        )
