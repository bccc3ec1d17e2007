"""`truc-server ban`, `unban`, `mute`, `unmute`, `sanctions` and `invites`: what they print, keep and refuse."""

import pytest
from click.testing import CliRunner, Result

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.lobby.members import hash_of, issue
from truc_server.main import main
from truc_server.storage import Invite, Sanction, SanctionKind, open_store
from truc_server.timing.clock import now_ms

PUBLIC = signing_key_from_seed(b"p" * 32).public
OWN = fingerprint(PUBLIC)
GUEST = "guest-" + "A" * 20
HOUR_MS = 3_600_000
BAN, MUTE = SanctionKind.BAN, SanctionKind.MUTE


@pytest.fixture
def call(data):
    """Call a command on the data folder of the test."""

    def called(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, env={"TRUC_DATA": str(data.root)})

    return called


@pytest.fixture
def store(data):
    opened = open_store(f"sqlite:///{data.database}")
    yield opened
    opened.close()


@pytest.fixture
def noon(monkeypatch) -> int:
    """Stop the clock at the noon of a day in 2026."""
    at_ms = 1_780_315_200_000
    monkeypatch.setattr("time.time_ns", lambda: at_ms * 1_000_000)
    return at_ms


class TestImposing:
    def test_ban_is_kept_and_said(self, call, store, noon):
        assert call("ban", OWN).stdout == f"{OWN} is shut out\n"
        assert store.sanctions() == (Sanction(OWN, BAN, noon, None),)

    def test_mute_is_kept_and_said(self, call, store, noon):
        assert call("mute", GUEST).stdout == f"{GUEST} is muted\n"
        assert store.sanctions() == (Sanction(GUEST, MUTE, noon, None),)

    @pytest.mark.parametrize(
        ("line", "hours"),
        [("ban --days 2", 48), ("ban --hours 3", 3), ("mute --days 2", 48), ("mute --hours 3", 3)],
    )
    def test_end_is_as_many_days_or_hours_away_as_asked_for(self, call, store, noon, line, hours):
        call(*line.split(), OWN)
        assert store.sanctions()[0].until_ms == noon + hours * HOUR_MS

    def test_end_is_said(self, call, noon):
        assert call("ban", OWN, "--days", "2").stdout == f"{OWN} is shut out until 2026-06-03 12:00 UTC\n"

    def test_days_and_hours_together_are_refused(self, call):
        result = call("ban", OWN, "--days", "1", "--hours", "1")
        assert (result.exit_code, "expected --days or --hours, got both" in result.stderr) == (2, True)

    @pytest.mark.parametrize("flags", [("--days", "0"), ("--hours", "-1"), ("--days", "x")])
    def test_spans_out_of_range_are_refused(self, call, flags):
        assert call("ban", OWN, *flags).exit_code == 2

    @pytest.mark.parametrize(
        ("written", "kept"),
        [
            (OWN.lower(), OWN),
            (PUBLIC.hex(), OWN),
            (GUEST.lower(), GUEST),
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7/24", "192.0.2.0/24"),
            ("192.0.2.7/32", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:DB8:0::1", "2001:db8::1"),
            ("2001:db8::1/64", "2001:db8::/64"),
        ],
    )
    def test_subject_is_kept_in_its_one_form(self, call, store, written, kept):
        call("ban", written)
        assert [sanction.subject for sanction in store.sanctions()] == [kept]

    @pytest.mark.parametrize("command", ["ban", "unban", "mute", "unmute"])
    @pytest.mark.parametrize("written", ["", "Ana", OWN[1:], GUEST[:-1], "192.0.2", "192.0.2.1/33", "*"])
    def test_what_is_no_subject_is_refused(self, call, command, written):
        result = call(command, written)
        assert (result.exit_code, "expected a fingerprint, a key, the tag of a guest" in result.stderr) == (
            2,
            True,
        )

    def test_ban_again_has_the_newer_end(self, call, store, noon):
        call("ban", OWN, "--days", "9")
        call("ban", OWN, "--hours", "1")
        assert store.sanctions() == (Sanction(OWN, BAN, noon, noon + HOUR_MS),)

    def test_folder_without_a_server_is_refused(self, tmp_path):
        result = CliRunner().invoke(main, ["ban", OWN, "--data", str(tmp_path / "none")])
        assert (result.exit_code, "no server has run in" in result.stderr) == (1, True)


class TestLifting:
    def test_lifted_ban_is_gone(self, call, store):
        store.impose(Sanction(OWN, BAN, 1, None))
        assert call("unban", OWN.lower()).stdout == f"{OWN} is not shut out any more\n"
        assert store.sanctions() == ()

    def test_lifted_mute_is_gone(self, call, store):
        store.impose(Sanction(OWN, MUTE, 1, None))
        assert call("unmute", OWN).stdout == f"{OWN} is not muted any more\n"
        assert store.sanctions() == ()

    @pytest.mark.parametrize(("command", "kept"), [("unban", MUTE), ("unmute", BAN)])
    def test_the_other_kind_stays(self, call, store, command, kept):
        for kind in SanctionKind:
            store.impose(Sanction(OWN, kind, 1, None))
        call(command, OWN)
        assert [sanction.kind for sanction in store.sanctions()] == [kept]

    @pytest.mark.parametrize(("command", "what"), [("unban", "shut out"), ("unmute", "muted")])
    def test_lifting_what_was_not_imposed_is_a_failure(self, call, command, what):
        result = call(command, OWN)
        assert (result.exit_code, result.stderr) == (1, f"truc-server: {OWN} is not {what} by command\n")

    @pytest.mark.parametrize(("command", "name"), [("unban", "banned"), ("unmute", "muted")])
    def test_host_is_told_that_it_stands_in_the_settings(self, call, monkeypatch, command, name):
        monkeypatch.setenv(f"TRUC_ACCESS_{name.upper()}", "192.0.2.7/24")
        assert call(command, "192.0.2.0/24").stderr.endswith(f"by command: it stands in access.{name}\n")


class TestList:
    def test_kinds_subjects_and_times_are_listed(self, call, store, noon):
        store.impose(Sanction(OWN, BAN, noon, None))
        store.impose(Sanction("192.0.2.0/24", MUTE, noon + 1, noon + HOUR_MS))
        assert call("sanctions").stdout == (
            f"ban   {OWN}  since 2026-06-01 12:00 UTC\n"
            "mute  192.0.2.0/24                since 2026-06-01 12:00 UTC, until 2026-06-01 13:00 UTC\n"
        )

    def test_what_is_over_is_not_listed(self, call, store, noon):
        store.impose(Sanction(OWN, BAN, 1, noon))
        assert call("sanctions").stdout == ""

    def test_what_stands_in_the_settings_is_marked(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_BANNED", "192.0.2.1")
        monkeypatch.setenv("TRUC_ACCESS_MUTED", GUEST)
        assert call("sanctions").stdout == (
            f"ban   192.0.2.1                   in access.banned\nmute  {GUEST}  in access.muted\n"
        )


class TestInvites:
    @pytest.fixture
    def code(self, store) -> str:
        return issue(store, uses=3, days=1)

    @pytest.fixture
    def mark(self, code) -> str:
        return hash_of(code).hex()[:8]

    def test_list_has_mark_uses_and_end(self, call, store, noon):
        store.issue(Invite(b"\xab" * 32, 3, noon + HOUR_MS))
        assert call("invites", "list").stdout == "abababab  for 3  until 2026-06-01 13:00 UTC\n"

    def test_list_does_not_have_the_code(self, call, code):
        assert code not in call("invites", "list").output

    def test_invite_that_is_too_old_is_not_listed(self, call, store):
        store.issue(Invite(b"\xab" * 32, 3, now_ms() - 1))
        assert call("invites", "list").stdout == ""

    def test_withdrawn_invite_is_gone(self, call, store, mark):
        assert call("invites", "withdraw", mark).stdout == f"{mark} is withdrawn\n"
        assert store.invites() == ()

    def test_first_characters_of_a_mark_are_enough_where_one_invite_has_them(self, call, store):
        for digest in (b"\xab", b"\xac"):
            store.issue(Invite(digest * 32, 1, now_ms() + HOUR_MS))
        call("invites", "withdraw", "AC")
        assert [kept.code_hash for kept in store.invites()] == [b"\xab" * 32]

    @pytest.mark.parametrize(
        ("mark", "said"),
        [("a", "more than one invite has the mark 'a'"), ("bb", "no good invite has the mark 'bb'")],
    )
    def test_mark_that_is_not_that_of_one_invite_withdraws_none(self, call, store, mark, said):
        for digest in (b"\xab", b"\xac"):
            store.issue(Invite(digest * 32, 1, now_ms() + HOUR_MS))
        result = call("invites", "withdraw", mark)
        assert (result.exit_code, result.stderr, len(store.invites())) == (1, f"truc-server: {said}\n", 2)

    def test_empty_mark_withdraws_none(self, call, mark):
        assert call("invites", "withdraw", "").exit_code == 1

    def test_mark_is_told_when_an_invite_is_made(self, call, store, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "invite")
        told = call("invite").stderr
        (kept,) = store.invites()
        assert f"to withdraw it: truc-server invites withdraw {kept.code_hash.hex()[:8]}\n" in told
