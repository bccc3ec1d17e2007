"""Our own server passes every case of the kit, as its host sets it and as it greases; and what the kit cannot judge it says."""

import re

import pytest
import trio
from rows import each_row
from server.browsers import door
from server.conftest import QUICK, changed, running

from truc_conform import server_cases
from truc_conform.result import CaseVerdict
from truc_conform.server_cases import watch
from truc_conform.server_visit import ServerAddress, read_address
from truc_conform.websocket import Origin
from truc_protocol.codec import enc
from truc_server.settings.settings import LimitSettings

PATIENCE_S = 8.0
CASES = {group: [each.case for each in cases] for group, cases in server_cases.GROUPS.items()}
PRESSURE_NAMES = ("S3.flood", "S3.retry", "S3.acts-free", "S3.slow-reader")
PRESSURE = [case for case in CASES["limits"] if case.name in PRESSURE_NAMES]
LIMITS = [case for case in CASES.pop("limits") if case not in PRESSURE]  # they need other settings
LOW = {
    "connections_per_address": 8,
    "failed_logins_per_min": 60,
    "tables_per_min": 20,
    "idle_s": 1,
    "login_s": 1,
}
UNJUDGED = {
    "S0.keep-alive",
    "S0.late-login",
    "S1.fingerprint",
    "S1.guests-refused",
    "S1.invite",
    "S2.unannounced",
    "S3.uncalled",
    "S3.unwanted",
}
"""What a run this short, against an open server that has everything, only tells."""

UNFRAMED = {"S0.http", "S0.ssh", "S0.tls"}
"""What cannot be sent in a WebSocket."""
CALLING = {"access": {"bots": ("A" * 26,)}, "tables": {"company_s": 1}}
ORDINARY = changed(
    QUICK, limits={"requests_per_s": LimitSettings().requests_per_s, "burst": LimitSettings().burst}
)


async def judged(path, cases, settings=QUICK, *, hands=20) -> dict[str, CaseVerdict]:
    """Return the cases that did not pass, with what came."""
    async with running(path / "data", settings) as server:
        return {
            case.name: outcome
            for case in cases
            if (outcome := await _judge(case, server.port, hands)).verdict is not CaseVerdict.PASS
        }


async def _judge(case, port, hands):
    return await server_cases.judge(case, f"127.0.0.1:{port}", patience_s=PATIENCE_S, hands=hands)


def verdicts(outcomes) -> dict[str, CaseVerdict]:
    return {name: outcome.verdict for name, outcome in outcomes.items()}


@pytest.mark.slow
@pytest.mark.parametrize("group", CASES)
async def test_our_server_passes_every_case_of(tmp_path, group):
    outcomes = await judged(tmp_path, CASES[group])
    assert {name: told for name, told in outcomes.items() if name not in UNJUDGED} == {}
    assert set(verdicts(outcomes).values()) <= {CaseVerdict.INFO}


@pytest.mark.slow
@pytest.mark.parametrize("group", [*CASES, "limits"])
async def test_our_server_passes_every_case_through_its_door_for_browsers(tmp_path, group):
    settings = changed(QUICK, limits=LOW, **CALLING) if group == "limits" else QUICK
    async with door(tmp_path / "data", settings) as web:
        address = web.origin.replace("http", "ws", 1)
        for case in CASES.get(group, LIMITS):
            outcome = await server_cases.judge(case, address, patience_s=PATIENCE_S, hands=20)
            allowed = {CaseVerdict.PASS} | ({CaseVerdict.INFO} if case.name in UNJUDGED | UNFRAMED else set())
            assert outcome.verdict in allowed, (case.name, outcome)


@pytest.mark.slow
async def test_server_that_offers_no_table_whose_host_sees_no_card_is_not_judged_there(tmp_path):
    cases = [*CASES["blind"], *CASES["blind_hands"]]
    outcomes = await judged(tmp_path, cases, changed(QUICK, tables={"blind": False}))
    assert set(verdicts(outcomes).values()) == {CaseVerdict.UNIMPLEMENTED}
    assert all("'blind'" in outcome.came for outcome in outcomes.values())
    assert len(outcomes) == len(cases)


@pytest.mark.slow
async def test_our_server_with_its_ordinary_limits_passes_the_cases_of_pressure(tmp_path):
    cases = [case for case in PRESSURE if case.name != "S3.slow-reader"]
    assert await judged(tmp_path, cases, ORDINARY) == {}


@pytest.mark.slow
async def test_our_server_with_low_limits_passes_the_cases_of_limits(tmp_path):
    settings = changed(QUICK, limits=LOW, **CALLING)
    calls = [case for case in server_cases.CASES if case.name in ("S3.uncalled", "S3.unwanted")]
    async with running(tmp_path / "data", settings) as server:
        address = f"127.0.0.1:{server.port}"
        judged = [await server_cases.judge(case, address, patience_s=3) for case in (*LIMITS, *calls)]
    assert [outcome for outcome in judged if outcome.verdict is not CaseVerdict.PASS] == []


@pytest.mark.slow
async def test_our_server_cuts_off_who_does_not_read(tmp_path):
    cases = [case for case in PRESSURE if case.name == "S3.slow-reader"]
    settings = changed(QUICK, limits={"outbox_bytes": 65_536})
    assert await judged(tmp_path, cases, settings) == {}


@pytest.mark.slow
@pytest.mark.parametrize("group", ["session", "coming_back", "company", "play"])
async def test_our_server_that_greases_passes_every_case_of(tmp_path, group):
    outcomes = await judged(tmp_path, CASES[group], changed(QUICK, grease=True))
    assert set(outcomes) <= UNJUDGED, outcomes


@pytest.mark.slow
async def test_our_server_pings_and_dismisses_who_stays_silent(tmp_path):
    cases = [case for case in server_cases.CASES if case.name in ("S0.keep-alive", "S0.late-login")]
    settings = changed(QUICK, limits={"idle_s": 5, "login_s": 1})
    async with running(tmp_path / "data", settings) as server:
        address = f"127.0.0.1:{server.port}"
        outcomes = [await server_cases.judge(case, address, patience_s=6) for case in cases]
    assert [outcome.verdict for outcome in outcomes] == [CaseVerdict.PASS, CaseVerdict.INFO]
    told = {f"without a login the connection ends after {seconds} s" for seconds in (1, 2)}
    assert outcomes[1].came in told  # deadlines are looked at once a second


async def test_server_without_guests_is_not_judged_by_what_guests_do(tmp_path):
    cases = [case for case in server_cases.CASES if case.name in ("S1.guest", "S1.token", "S3.guest-act")]
    outcomes = await judged(tmp_path, cases, changed(QUICK, guests=False))
    assert set(verdicts(outcomes).values()) == {CaseVerdict.UNIMPLEMENTED}
    assert all("guests_not_allowed" in outcome.came for outcome in outcomes.values())


async def test_server_without_guests_is_judged_by_how_it_refuses_them(tmp_path):
    cases = [case for case in server_cases.CASES if case.name == "S1.guests-refused"]
    assert await judged(tmp_path, cases, changed(QUICK, guests=False)) == {}


async def test_closed_server_is_not_judged_by_what_its_members_do(tmp_path):
    cases = [case for case in server_cases.CASES if case.name in ("S2.create", "S3.act", "S0.ping")]
    outcomes = await judged(tmp_path, cases, changed(QUICK, access={"members": "keys"}))
    assert verdicts(outcomes) == {case.name: CaseVerdict.UNIMPLEMENTED for case in cases}


async def test_closed_server_is_judged_by_invites_that_were_never_given(tmp_path):
    cases = [case for case in server_cases.CASES if case.name == "S1.invite"]
    assert await judged(tmp_path, cases, changed(QUICK, access={"members": "invite"})) == {}


async def test_server_without_chat_is_judged_by_how_it_refuses_it(tmp_path):
    cases = [case for case in server_cases.CASES if case.name in ("S2.unannounced", "S2.chat", "S2.ignore")]
    settings = changed(QUICK, chat={"tables": False, "lobby": False})
    outcomes = await judged(tmp_path, cases, settings)
    assert verdicts(outcomes) == {
        "S2.chat": CaseVerdict.UNIMPLEMENTED,
        "S2.ignore": CaseVerdict.UNIMPLEMENTED,
    }


async def test_server_with_another_fingerprint_fails(tmp_path):
    (case,) = [case for case in server_cases.CASES if case.name == "S1.fingerprint"]
    async with running(tmp_path / "data") as server:
        outcome = await server_cases.judge(case, f"truc://127.0.0.1:{server.port}#{'A' * 26}")
    assert outcome.verdict is CaseVerdict.FAIL


async def test_address_where_nobody_listens_is_an_error_of_the_system(unused_port):
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        await server_cases.judge(server_cases.CASES[0], f"127.0.0.1:{unused_port}")


@pytest.fixture
async def unused_port():
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        return listener.socket.getsockname()[1]


def test_fact_that_is_sent_to_test_clients_is_none_that_watchers_see():
    facts = [{"what": "dealt"}, {"what": "grease_ccdb"}]
    assert watch._shape({"body": enc(["truc/1/deal"]), "means": facts})[0] == ("deal", "dealt")


def test_names_of_cases_are_distinct():
    names = [case.name for case in server_cases.CASES]
    assert len(names) == len(set(names))


@each_row("case", server_cases.CASES)
def test_case_has_a_level_a_clause_and_an_expectation(case):
    assert re.fullmatch(r"S[0-3]\.[a-z0-9-]+", case.name)
    assert re.fullmatch(r"[a-z./-]+\.md#[a-z0-9_-]+", case.clause)
    assert case.expected


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("example.org:7000", ServerAddress("example.org", 7000)),
        ("example.org", ServerAddress("example.org", 7373)),
        ("[::1]:7000", ServerAddress("::1", 7000)),
        ("[::1]", ServerAddress("::1", 7373)),
        ("truc://example.org:7000/K7PQ?invite=ABCDEFGH#FINGER", ServerAddress("example.org", 7000, "FINGER")),
        (
            "ws://[::1]:7374#FINGER",
            ServerAddress("::1", 7374, "FINGER", Origin("::1", 7374, is_secure=False)),
        ),
        (
            "wss://example.org",
            ServerAddress("example.org", 443, None, Origin("example.org", 443, is_secure=True)),
        ),
    ],
)
def test_address_is_read(text, address):
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["", ":7000", "example.org:x", "truc://", "ws://:x"])
def test_text_that_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match="HOST:PORT"):
        read_address(text)
