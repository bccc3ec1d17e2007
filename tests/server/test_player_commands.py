"""What a host does about players by command: bans, mutes, members, invites, ratings; what is printed, kept and refused."""

import json
import re
import stat

import pytest
from click.testing import CliRunner, Result
from rows import each_row
from server.stored import MATCH, TABLE

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.lobby.members import invite_hash, issue_invite
from truc_server.main import main
from truc_server.storage import Invite, Member, RatedPlayer, RateMatch, Sanction, SanctionKind
from truc_server.storage.sql import open_store
from truc_server.timing.clock import now_ms

PUBLIC = signing_key_from_seed(b"p" * 32).public
OWN = fingerprint(PUBLIC)
GUEST = "guest-" + "A" * 20
HOUR_MS = 3_600_000
BAN, MUTE = SanctionKind.BAN, SanctionKind.MUTE


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


@pytest.fixture
def closed(monkeypatch):
    """A closed server, which takes invites."""
    monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "invite")


class TestImposing:
    @pytest.mark.parametrize(
        ("line", "hours", "said"),
        [
            ("ban", None, "is shut out"),
            ("mute", None, "is muted"),
            ("ban --days 2", 48, "is shut out until 2026-06-03 12:00 UTC"),
            ("ban --hours 3", 3, "is shut out until 2026-06-01 15:00 UTC"),
            ("mute --days 2", 48, "is muted until 2026-06-03 12:00 UTC"),
            ("mute --hours 3", 3, "is muted until 2026-06-01 15:00 UTC"),
        ],
    )
    def test_sanction_is_kept_and_said_with_its_end(self, call, store, noon, *, line, hours, said):
        assert call(*line.split(), GUEST).stdout == f"{GUEST} {said}\n"
        kind = BAN if line.startswith("ban") else MUTE
        until = None if hours is None else noon + hours * HOUR_MS
        assert store.sanctions() == (Sanction(GUEST, kind, noon, until),)

    @each_row("flags", ["--days 0", "--hours -1", "--days x", "--days 1 --hours 1"])
    def test_spans_out_of_range_or_given_twice_are_refused(self, call, flags):
        assert call("ban", OWN, *flags.split()).exit_code == 2

    def test_subject_is_kept_in_its_one_form(self, call, store):
        for written in (PUBLIC.hex(), OWN.lower(), GUEST.lower(), "192.0.2.7/24", "192.0.2.0/24"):
            call("ban", written)
        assert {sanction.subject for sanction in store.sanctions()} == {OWN, GUEST, "192.0.2.0/24"}

    @each_row("command", ["ban", "unban", "mute", "unmute"])
    def test_what_is_no_subject_is_refused(self, call, command):
        for written in ("", "Ana", OWN[1:], GUEST[:-1], "192.0.2", "192.0.2.1/33", "*"):
            result = call(command, written)
            told = "expected a fingerprint, a key, the tag of a guest" in result.stderr
            assert (result.exit_code, told) == (2, True)

    def test_ban_again_has_the_newer_end(self, call, store, noon):
        call("ban", OWN, "--days", "9")
        call("ban", OWN, "--hours", "1")
        assert store.sanctions() == (Sanction(OWN, BAN, noon, noon + HOUR_MS),)

    def test_folder_without_a_server_is_refused(self, tmp_path):
        result = CliRunner().invoke(main, ["ban", OWN, "--data", str(tmp_path / "none")])
        assert (result.exit_code, "no server has run in" in result.stderr) == (1, True)


class TestLifting:
    @pytest.mark.parametrize(
        ("command", "kept", "said"), [("unban", MUTE, "shut out"), ("unmute", BAN, "muted")]
    )
    def test_lifted_sanction_is_gone_and_the_other_kind_stays(self, call, store, command, kept, said):
        for kind in SanctionKind:
            store.impose(Sanction(OWN, kind, 1, None))
        assert call(command, OWN.lower()).stdout == f"{OWN} is not {said} any more\n"
        assert [sanction.kind for sanction in store.sanctions()] == [kept]

    @each_row("command, what", [("unban", "shut out"), ("unmute", "muted")])
    def test_lifting_what_was_not_imposed_is_a_failure(self, call, command, what):
        result = call(command, OWN)
        assert (result.exit_code, result.stderr) == (1, f"truc-server: {OWN} is not {what} by command\n")

    @each_row("command, name", [("unban", "banned"), ("unmute", "muted")])
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
        return issue_invite(store, uses=3, days=1)

    @pytest.fixture
    def mark(self, code) -> str:
        return invite_hash(code).hex()[:8]

    def test_list_has_mark_uses_and_end_of_those_that_are_good(self, call, store, noon):
        store.issue(Invite(b"\xab" * 32, 3, noon + HOUR_MS))
        store.issue(Invite(b"\xac" * 32, 3, noon - 1))
        assert call("invites list").stdout == "abababab  for 3  until 2026-06-01 13:00 UTC\n"

    def test_list_does_not_have_the_code(self, call, code):
        assert code not in call("invites list").output

    def test_withdrawn_invite_is_gone(self, call, store, mark):
        assert call("invites withdraw", mark).stdout == f"{mark} is withdrawn\n"
        assert store.invites() == ()

    def test_first_characters_of_a_mark_are_enough_where_one_invite_has_them(self, call, store):
        for digest in (b"\xab", b"\xac"):
            store.issue(Invite(digest * 32, 1, now_ms() + HOUR_MS))
        call("invites withdraw", "AC")
        assert [kept.code_hash for kept in store.invites()] == [b"\xab" * 32]

    @pytest.mark.parametrize(
        ("mark", "said"),
        [
            ("a", "more than one invite has the mark 'a'"),
            ("bb", "no good invite has the mark 'bb'"),
            ("", ""),
        ],
    )
    def test_mark_that_is_not_that_of_one_invite_withdraws_none(self, call, store, mark, said):
        for digest in (b"\xab", b"\xac"):
            store.issue(Invite(digest * 32, 1, now_ms() + HOUR_MS))
        result = call("invites withdraw", mark)
        assert (result.exit_code, said in result.stderr, len(store.invites())) == (1, True, 2)

    def test_mark_is_told_when_an_invite_is_made(self, call, store, closed):
        told = call("invite").stderr
        (kept,) = store.invites()
        assert f"to withdraw it: truc-server invites withdraw {kept.code_hash.hex()[:8]}\n" in told


@pytest.mark.usefixtures("closed")
class TestMembers:
    @pytest.mark.parametrize("written", [OWN, OWN.lower(), PUBLIC.hex()])
    def test_key_is_admitted_by_its_fingerprint(self, call, store, written):
        assert call("members add", written).stdout == f"{OWN} is a member now\n"
        assert store.is_member(OWN)
        assert call("members add", OWN).stdout == f"{OWN} is a member already\n"

    @each_row("key", ["", "Ana", OWN[1:], PUBLIC.hex()[1:], "1" * 26])
    def test_what_is_no_key_is_refused(self, call, key):
        result = call("members add", key)
        assert result.exit_code == 2
        assert "expected a fingerprint of 26 characters or a key of 64 hexadecimal digits" in result.stderr

    def test_list_says_since_when(self, call, store):
        store.admit(Member(OWN, 24 * HOUR_MS))
        assert call("members list").stdout == f"{OWN}  since 1970-01-02\n"

    def test_removed_member_is_gone_and_cannot_be_removed_again(self, call, store):
        store.admit(Member(OWN, 1))
        assert call("members remove", OWN).stdout == f"{OWN} is no member any more\n"
        assert not store.is_member(OWN)
        again = call("members remove", OWN)
        assert (again.exit_code, again.stderr) == (1, f"truc-server: {OWN} is no member\n")

    def test_open_server_says_that_everybody_may_come(self, call, monkeypatch):
        monkeypatch.setenv("TRUC_ACCESS_MEMBERS", "anyone")
        assert "everybody may log in" in call("members add", OWN).stderr


@pytest.mark.usefixtures("closed")
class TestInviting:
    def _code(self, result: Result) -> str:
        found = re.fullmatch(r"truc://[^/]+:7373\?invite=([A-Z2-7]{24})#[A-Z2-7]{26}\n", result.stdout)
        assert found
        return found[1]

    @pytest.mark.parametrize(("flags", "uses"), [((), 1), (("--uses", "2"), 2)])
    def test_uses_are_as_many_as_asked_for_or_one(self, call, store, flags, uses):
        codes = [invite_hash(self._code(call("invite", *flags))) for _ in range(2)]  # each call makes another
        used = [store.use_invite(codes[1], Member(name * 26, now_ms())) for name in "XYZ"]
        assert (used, codes[0] != codes[1]) == ([n < uses for n in range(3)], True)

    @pytest.mark.parametrize(
        ("days", "after", "good"), [(2, 1, True), (2, 3, False), (None, 6, True), (None, 8, False)]
    )
    def test_invite_is_good_for_its_days(self, call, store, days, after, good):
        flags = [] if days is None else ["--days", str(days)]
        code = invite_hash(self._code(call("invite", *flags)))
        assert store.use_invite(code, Member(OWN, now_ms() + after * 24 * HOUR_MS)) is good

    @each_row("flags", [("--uses", "0"), ("--days", "0"), ("--uses", "x")])
    def test_numbers_out_of_range_are_refused(self, call, flags):
        assert call("invite", *flags).exit_code == 2

    @each_row("mode", ["anyone", "keys"])
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


OTHER = RatedPlayer(b"o" * 32, "TAG-OTHER", "Other")


@each_row(
    "stored",
    [Invite(b"i" * 32, 1, 9 * 10**15), Member(OWN, 9 * 10**15), Sanction(OWN, BAN, 9 * 10**15, None)],
)
def test_time_that_no_calendar_has_costs_no_list(call, store, stored):
    write, command = {Invite: (store.issue, "invites list"), Member: (store.admit, "members list")}.get(
        type(stored), (store.impose, "sanctions")
    )
    write(stored)
    result = call(command)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)
    assert re.search("(until|since) -$", result.stdout.strip())


class TestUnrating:
    @pytest.fixture
    def rated(self, store):
        """The store of a server that runs, with one match that was rated."""
        store.claim("the server")
        won = RateMatch(MATCH.mid, "truc-french", 2, (RatedPlayer(PUBLIC, OWN, "Pau"),), (OTHER,))
        store.commit([TABLE, MATCH, won])
        return store

    @pytest.mark.parametrize("named", [OWN, OWN.lower(), PUBLIC.hex()])
    def test_player_is_gone_from_the_board_and_the_match_stays(self, call, rated, named):
        told = call("unrate", named)
        board = rated.leaderboard("truc-french", 2, first=0, limit=9)
        assert told.stdout == f"{OWN} stands on no leaderboard any more: 1 rating is gone\n"
        assert [standing.rating.tag for standing in board] == ["TAG-OTHER"]
        assert rated.match(MATCH.mid) is not None

    def test_it_is_noted_for_the_owner_alone_and_who_is_not_rated_any_more_is_an_error_and_not_noted(
        self, call, rated, data
    ):
        call("unrate", OWN)
        again = call("unrate", OWN)
        assert (again.exit_code, again.stderr) == (1, f"truc-server: {OWN} is not rated\n")
        (line,) = data.admin_log.read_text().splitlines()
        entry = json.loads(line)
        assert (entry["command"], entry["arguments"]) == ("unrate", {"subject": OWN, "ratings": 1})
        assert stat.S_IMODE(data.admin_log.stat().st_mode) == 0o600

    def test_what_is_no_key_is_an_error(self, call, rated):
        assert "expected a fingerprint of 26 characters" in call("unrate", "Pau").stderr
