"""`truc-server members` and `truc-server invite`: what they print, keep and refuse."""

import re

import pytest
from click.testing import CliRunner, Result
from rows import each_row

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.lobby.members import hash_of
from truc_server.main import main
from truc_server.storage import Member
from truc_server.storage.sql import open_store
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
    def test_closed_server_without_guests_is_not(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_GUESTS", "false")
        assert "note   access" not in call("check").stdout


class TestMembers:
    @pytest.mark.parametrize("written", [OWN, OWN.lower(), PUBLIC.hex()])
    def test_key_is_admitted_by_its_fingerprint(self, call, store, written):
        assert call("members", "add", written).stdout == f"{OWN} is a member now\n"
        assert store.is_member(OWN)
        assert call("members", "add", OWN).stdout == f"{OWN} is a member already\n"

    @each_row("key", ["", "Ana", OWN[1:], PUBLIC.hex()[1:], "1" * 26])
    def test_what_is_no_key_is_refused(self, call, key):
        result = call("members", "add", key)
        assert result.exit_code == 2
        assert "expected a fingerprint of 26 characters or a key of 64 hexadecimal digits" in result.stderr

    def test_list_says_since_when(self, call, store):
        store.admit(Member(OWN, 86_400_000))
        assert call("members", "list").stdout == f"{OWN}  since 1970-01-02\n"

    def test_removed_member_is_gone_and_cannot_be_removed_again(self, call, store):
        store.admit(Member(OWN, 1))
        assert call("members", "remove", OWN).stdout == f"{OWN} is no member any more\n"
        assert not store.is_member(OWN)
        again = call("members", "remove", OWN)
        assert (again.exit_code, again.stderr) == (1, f"truc-server: {OWN} is no member\n")

    def test_open_server_says_that_everybody_may_come(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "anyone")
        assert "everybody may log in" in call("members", "add", OWN).stderr


class TestInvite:
    def _code(self, result: Result) -> str:
        found = re.fullmatch(r"truc://[^/]+:7373\?invite=([A-Z2-7]{24})#[A-Z2-7]{26}\n", result.stdout)
        assert found
        return found[1]

    @pytest.mark.parametrize(("flags", "uses"), [((), 1), (("--uses", "2"), 2)])
    def test_uses_are_as_many_as_asked_for_or_one(self, call, store, flags, uses):
        codes = [hash_of(self._code(call("invite", *flags))) for _ in range(2)]  # each call makes another
        used = [store.use_invite(codes[1], Member(name * 26, now_ms())) for name in "XYZ"]
        assert (used, codes[0] != codes[1]) == ([n < uses for n in range(3)], True)

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
