"""What a sound server says is altered on the way, as a faulty one would say it: the case that is about it fails.

An alteration is given a message of the server and what the client has said (altering.py), and gives what is sent on.
"""

import pytest
from conform.altering import altered
from conform.judging import JOBS, LOW_LIMITS, SLOW_TALK, judge_server
from server.conftest import QUICK, running
from structlog.testing import capture_logs

from truc_conform.client_cases import in_order
from truc_conform.result import CaseVerdict

pytestmark = pytest.mark.slow


def silent(tag):
    """Leave messages of a kind out."""
    return lambda message, asked: [] if message["t"] == tag else [message]


def without(field):
    """Leave a field out of every message."""
    return lambda message, asked: [{name: value for name, value in message.items() if name != field}]


def other(tag, **fields):
    """Give fields of messages of a kind other values; a function is given the message."""

    def alter(message, asked):
        if message["t"] != tag:
            return [message]
        return [message | {name: it(message) if callable(it) else it for name, it in fields.items()}]

    return alter


def changes_nothing(message, asked):
    return [message]


def changes_what_watchers_see(message, asked):
    alters = message["t"] == "record" and "watch" in asked
    return [message | {"sig": message["sig"][::-1]}] if alters else [message]


def shows_cards_to_watchers(message, asked):
    if message["t"] != "record" or "watch" not in asked:
        return [message]
    place = {name: message[name] for name in ("table", "match", "k")}
    return [message, {"t": "cards", **place, "j": 1, "d": 0, "cards": ["7e", "3b", "1o"]}]


def leaves_a_record_out_when_it_repeats(message, asked):
    skips = message["t"] == "record" and "resume" in asked and message["k"] == 3
    return [] if skips else [message]


def answers_twice(message, asked):
    return [message, message] if message["t"] == "ok" else [message]


def alters_a_record(message, asked):
    if message["t"] != "record" or message["k"] != 4:
        return [message]
    return [message | {"body": message["body"][:-1] + bytes([message["body"][-1] ^ 1])}]


def forgets_what_was_meant(message, asked):
    past = message.get("past", [])
    return [message | {"past": [each | {"means": []} for each in past]}] if past else [message]


def brings_a_setup_with_every_page(message, asked):
    return [message | {"setup": []} if "past" in message else message]


def tells_the_seats_of_who_was_there_before(message, asked):
    return [] if message["t"] == "away" and "resume" in asked else [message]


def agrees_to_everything(message, asked):
    refused = message["t"] == "error" and {"claim_match", "say"} & set(asked)
    return [{"t": "ok", "re": message["re"]}] if refused else [message]


def offers_moves_to_who_waits(message, asked):
    if message["t"] != "waiting":
        return [message]
    fields = {name: message[name] for name in ("table", "match", "at")}
    return [message, {"t": "options", **fields, "offer": 0, "must": False, "list": CLEAR}]


def calls_everybody(message, asked):
    if message["t"] != "table" or not any(seat.get("vacant") for seat in message["seats"]):
        return [message]
    place = {"table": message["table"], "match": message["match"], "seat": 1, "variant": message["variant"]}
    return [message, {"t": "bot_wanted", **place}]


def calls_everybody_to_tables(message, asked):
    if message["t"] != "ok" or not message.get("tables"):
        return [message]
    (table, *_) = message["tables"]
    place = {"table": table["table"], "seat": 1, "variant": table["variant"]}
    return [message, {"t": "players_wanted", **place}]


def hides_vacant_seats(message, asked):
    if message["t"] != "table":
        return [message]
    seats = [{name: value for name, value in seat.items() if name != "vacant"} for seat in message["seats"]]
    return [message | {"seats": seats}]


def knows_nobody_who_was_there(message, asked):
    return [message | {"code": "not_seated"} if message.get("code") == "seat_gone" else message]


CLEAR = [{"key": "stand", "kind": "stand", "hints": {}}]
AT_ONCE = (
    ("answers pings with other numbers", other("pong", n=lambda message: message["n"] + 1), "S0.ping"),
    ("changes what watchers see", changes_what_watchers_see, "S2.watch"),
    ("shows cards to watchers", shows_cards_to_watchers, "S2.watch-hidden"),
    ("leaves a record out when it repeats", leaves_a_record_out_when_it_repeats, "S3.resume"),
    ("answers twice", answers_twice, "S0.id-in-use"),
    ("hides who deals", without("mode"), "S3.blind-shown"),
    ("shows options in clear", other("options", list=CLEAR), "S3.boxed-key"),
    ("flatters its errors", other("error", retryable=True), "S0.unknown-request"),
    ("cuts texts out", other("error", msg=""), "S0.not-msgpack"),
    ("forgets what was meant", forgets_what_was_meant, "S2.history"),
    ("brings a setup with every page", brings_a_setup_with_every_page, "S2.history"),
    ("alters a record", alters_a_record, "S3.audit"),
    ("offers moves to who waits", offers_moves_to_who_waits, "S3.own-options"),
    ("sends fields of another type", other("table", n=lambda message: str(message["n"])), "S2.create"),
)
NEVER_SAYS_WHEN = ("never says when to come again", without("retry_after_ms"))
UNDER_LOW_LIMITS = (
    ("says nothing of who is away", silent("away"), "S3.away"),
    ("tells the seats of who was there before", tells_the_seats_of_who_was_there_before, "S3.away-comer"),
    ("tells the time of one decision for all of them", other("away", claim_in_ms=60_000), "S3.away"),
    ("counts no missed decision", other("away", missed=0), "S3.away-missed"),
    ("never says that a seat is gone", other("away", claim_in_ms=1_000), "S3.claim"),
    (*NEVER_SAYS_WHEN, "S3.claim-early"),
    (*NEVER_SAYS_WHEN, "S3.failed-logins"),
    (*NEVER_SAYS_WHEN, "S3.tables-rate"),
    (*NEVER_SAYS_WHEN, "S3.say-flood"),
    ("hides who may claim", without("claim"), "S3.claim-shown"),
    ("agrees to everything", agrees_to_everything, "S3.claim-stranger"),
    ("agrees to everything", agrees_to_everything, "S3.say-unknown"),
    ("agrees to everything", agrees_to_everything, "S3.say-outsider"),
    ("calls everybody", calls_everybody, "S3.uncalled"),
    ("calls everybody to tables", calls_everybody_to_tables, "S3.unwanted"),
    ("hides vacant seats", hides_vacant_seats, "S3.substitute"),
    ("takes a seat without a word", silent("seat_taken_over"), "S3.substitute"),
    ("knows nobody who was there", knows_nobody_who_was_there, "S3.seat-gone"),
    ("keeps phrases to itself", silent("said"), "S3.say"),
)
GOES_WITHOUT_GOODBYE = ("goes without goodbye", silent("bye"), "S3.drip-login")
JUDGED = [
    *((*row, QUICK, 0.5) for row in AT_ONCE),
    (*NEVER_SAYS_WHEN, "S3.flood", SLOW_TALK, 0.5),
    *((*row, LOW_LIMITS, 2.0) for row in UNDER_LOW_LIMITS),
    (*GOES_WITHOUT_GOODBYE, LOW_LIMITS, 5.0),  # the server may wait for login_s, and a second for its sweep
]


async def test_each_server_that_is_altered_on_the_way_fails_the_case_that_is_about_it(tmp_path):
    async def work(row):
        number, (_, alter, case, settings, patience_s) = row
        async with running(tmp_path / str(number), settings) as server, altered(server.port, alter) as port:
            return await judge_server(port, case, patience_s=patience_s)

    with capture_logs() as logged:
        outcomes = await in_order(list(enumerate(JUDGED)), work, JOBS)
    assert {
        (what, case): it.came
        for (what, _, case, *_), it in zip(JUDGED, outcomes, strict=True)
        if it.verdict is not CaseVerdict.FAIL
    } == {}
    assert [each for each in logged if each["log_level"] == "error"] == []


async def test_proxy_that_alters_nothing_fails_no_case(tmp_path):
    async with running(tmp_path / "data") as server, altered(server.port, changes_nothing) as port:
        outcomes = {case: await judge_server(port, case, patience_s=20) for _, _, case in AT_ONCE}
    assert {case: it.came for case, it in outcomes.items() if it.verdict is not CaseVerdict.PASS} == {}
