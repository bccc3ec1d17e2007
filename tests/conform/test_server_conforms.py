"""Our own server passes every case of the kit, as its host sets it and as it greases; and what the kit cannot judge it says."""

import re
from contextlib import asynccontextmanager

import pytest
import trio
from rows import each_row
from server.browsers import door
from server.conftest import QUICK, changed, running
from structlog.testing import capture_logs

from truc_conform import server_cases
from truc_conform.result import CaseVerdict
from truc_conform.server_cases import watch
from truc_conform.server_visit import ServerAddress, read_address
from truc_conform.websocket import Origin
from truc_protocol.codec import enc
from truc_server.settings.settings import LimitSettings

PATIENCE_S = 8.0
HANDS = 8
LANES = {"away": 4, "blind_hands": 4, "audit": 2, "watch": 2}
"""At how many servers the cases of a group are judged at once: many of these wait for a clock."""


def named(*names):
    """Return cases by their names."""
    return [case for case in server_cases.CASES if case.name in names]


PRESSURE = named("S3.flood", "S3.retry", "S3.acts-free")
SLOW_READER = named("S3.slow-reader")
SILENCE = named("S0.keep-alive", "S0.late-login")
CALLS = named("S3.uncalled", "S3.unwanted")
CASES = {
    group: [each.case for each in cases if each.case not in (*PRESSURE, *SLOW_READER, *SILENCE)]
    for group, cases in server_cases.GROUPS.items()
}
DRIPS = named("S3.drip", "S3.drip-login")
LIMITS = [case for case in CASES.pop("limits") if case not in DRIPS]
"""These and those above need other settings."""
COMING_BACK = {"away": [case for case in CASES["away"] if case.clause == "session.md#coming-back"]}
GREASED = {group: CASES[group] for group in ("session", "company", "play")} | COMING_BACK
BROWSED = {group: CASES[group] for group in ("transport", "session", "talk")} | COMING_BACK
"""What a door for browsers could do otherwise; what tables and matches are like it does not see, and pages play there as well."""
LOW = {"connections_per_address": 8, "failed_logins_per_min": 60, "tables_per_min": 20}
SHORT = {"idle_s": 1, "login_s": 3}
UNJUDGED = {
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
IMPATIENT = changed(QUICK, limits={"idle_s": 3, "login_s": 3})
SLOW_REFILL = changed(QUICK, limits={"requests_per_s": 2, "burst": LimitSettings().burst})
"""So that requests one after the other are too many on a slow machine too."""


@asynccontextmanager
async def serving(path, settings):
    """Run a server, and say where."""
    async with running(path, settings) as server:
        yield f"127.0.0.1:{server.port}"


@asynccontextmanager
async def serving_browsers(path, settings):
    """Run a server, and say where its door for browsers is."""
    async with door(path, settings) as web:
        yield web.origin.replace("http", "ws", 1)


async def judged(path, cases, settings=QUICK, *, serves=serving, lanes=1):
    """Return what came of the cases that did not pass, by name; the servers break nowhere down."""
    with capture_logs() as logged:
        outcomes = await judged_in_lanes(path, cases, settings, serves=serves, lanes=lanes)
    assert errors(logged) == []
    return outcomes


def errors(logged):
    return [each for each in logged if each["log_level"] == "error"]


async def judged_in_lanes(path, cases, settings, *, serves, lanes, patience_s=PATIENCE_S):
    """Return what came of the cases that did not pass; `lanes` at once, each at a server of its own."""
    left, outcomes = iter(cases), {}

    async def judge_some(lane):
        async with serves(path / f"data{lane}", settings) as address:
            for case in left:
                outcome = await server_cases.judge(case, address, patience_s=patience_s, hands=HANDS)
                if outcome.verdict is not CaseVerdict.PASS:
                    outcomes[case.name] = outcome

    async with trio.open_nursery() as nursery:
        for lane in range(lanes):
            nursery.start_soon(judge_some, lane)
    return outcomes


def verdicts(outcomes) -> dict[str, CaseVerdict]:
    return {name: outcome.verdict for name, outcome in outcomes.items()}


def faulted(outcomes, unjudged=UNJUDGED):
    """Return what is no pass, nor told of a case that says nothing of this server."""
    return {
        name: it
        for name, it in outcomes.items()
        if name not in unjudged or it.verdict is not CaseVerdict.INFO
    }


@pytest.mark.slow
@pytest.mark.parametrize("group", CASES)
async def test_our_server_passes_every_case_of(tmp_path, group):
    assert faulted(await judged(tmp_path, CASES[group], lanes=LANES.get(group, 1))) == {}


@pytest.mark.slow
@pytest.mark.parametrize("group", BROWSED)
async def test_our_server_passes_every_case_through_its_door_for_browsers(tmp_path, group):
    outcomes = await judged(tmp_path, BROWSED[group], serves=serving_browsers, lanes=LANES.get(group, 1))
    assert faulted(outcomes, UNJUDGED | UNFRAMED) == {}


@pytest.mark.slow
async def test_server_that_offers_no_table_whose_host_sees_no_card_is_not_judged_there(tmp_path):
    cases = [*CASES["blind"], *CASES["blind_hands"]]
    outcomes = await judged(tmp_path, cases, changed(QUICK, tables={"blind": False}))
    assert set(verdicts(outcomes).values()) == {CaseVerdict.UNIMPLEMENTED}
    assert all("'blind'" in outcome.came for outcome in outcomes.values())
    assert len(outcomes) == len(cases)


SET_OTHERWISE = {
    "few requests": (PRESSURE, SLOW_REFILL, serving),
    "low limits": (LIMITS, changed(QUICK, limits=LOW), serving),
    "low limits, browsers": (LIMITS, changed(QUICK, limits=LOW), serving_browsers),
    "short silence": (DRIPS, changed(QUICK, limits=SHORT), serving),
    "short silence, browsers": (DRIPS, changed(QUICK, limits=SHORT), serving_browsers),
    "calls bots": (CALLS, changed(QUICK, **CALLING), serving),
    "small outbox": (SLOW_READER, changed(QUICK, limits={"outbox_bytes": 65_536}), serving),
    "impatient": (SILENCE, IMPATIENT, serving),
    "impatient, browsers": (SILENCE, IMPATIENT, serving_browsers),
}
"""Cases that wait for a clock most of their time, under what settings and at which door."""


@pytest.mark.slow
async def test_our_server_set_otherwise_passes_the_cases_about_that(tmp_path):
    outcomes = {}

    async def judge_one(name, cases, settings, serves):
        path = tmp_path / name
        path.mkdir()
        lanes = min(len(cases), 4)
        patience_s = 2 if cases is CALLS else PATIENCE_S  # some of it they wait in vain
        outcomes[name] = await judged_in_lanes(
            path, cases, settings, serves=serves, lanes=lanes, patience_s=patience_s
        )

    with capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            for name, row in SET_OTHERWISE.items():
                nursery.start_soon(judge_one, name, *row)
    assert errors(logged) == []
    late_logins = [outcomes[name].pop("S0.late-login") for name in ("impatient", "impatient, browsers")]
    assert {name: found for name, found in outcomes.items() if found} == {}
    # deadlines are looked at once a second, and later on a busy machine
    assert all(
        re.fullmatch(r"without a login the connection ends after \d+ s", it.came) for it in late_logins
    )


@pytest.mark.slow
@pytest.mark.parametrize("group", GREASED)
async def test_our_server_that_greases_passes_every_case_of(tmp_path, group):
    assert faulted(await judged(tmp_path, GREASED[group], changed(QUICK, grease=True))) == {}


async def test_server_without_guests_is_not_judged_by_what_guests_do(tmp_path):
    cases = named("S1.guest", "S1.token", "S3.guest-act")
    outcomes = await judged(tmp_path, cases, changed(QUICK, guests=False))
    assert set(verdicts(outcomes).values()) == {CaseVerdict.UNIMPLEMENTED}
    assert all("guests_not_allowed" in outcome.came for outcome in outcomes.values())


@pytest.mark.parametrize(
    ("judges", "leaves_out", "settings"),
    [
        (("S1.guests-refused",), (), {"guests": False}),
        ((), ("S2.create", "S3.act", "S0.ping"), {"access": {"members": "keys"}}),
        (("S1.invite",), (), {"access": {"members": "invite"}}),
        (("S2.unannounced",), ("S2.chat", "S2.ignore"), {"chat": {"tables": False, "lobby": False}}),
    ],
    ids=["without guests", "closed", "by invites", "without chat"],
)
async def test_server_that_lacks_something_is_judged_by_how_it_refuses_that_alone(
    tmp_path, judges, leaves_out, settings
):
    outcomes = await judged(tmp_path, named(*judges, *leaves_out), changed(QUICK, **settings))
    assert verdicts(outcomes) == dict.fromkeys(leaves_out, CaseVerdict.UNIMPLEMENTED)


async def test_server_with_another_fingerprint_fails(tmp_path):
    (case,) = named("S1.fingerprint")
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


@each_row("case", server_cases.CASES)
def test_case_has_a_level_and_an_expectation(case):
    assert re.fullmatch(r"S[0-3]\.[a-z0-9-]+", case.name)
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


@pytest.mark.parametrize(
    "text", ["", ":7000", "example.org:x", "truc://", "ws://:x", "example..org:7000", "ws://example..org"]
)
def test_text_that_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match="HOST:PORT"):
        read_address(text)
