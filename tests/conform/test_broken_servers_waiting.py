"""Servers with one fault each about who is away, claims, calls, phrases and limits: the case that is about it fails."""

import pytest
from conform.altering import altered
from conform.test_broken_servers import judge, never_says_when_to_come_again
from msgspec.structs import replace
from server.conftest import QUICK, changed, running

from truc_conform.result import CaseVerdict
from truc_server.matches import auto_rulings as consequences
from truc_server.matches import deadlines, game
from truc_server.net import peer
from truc_server.net.admission import Admission
from truc_server.table_data import options
from truc_server.tables import talk
from truc_server.timing.rate_limits import Meter

pytestmark = pytest.mark.slow
PATIENCE_S = 2.0
SETTINGS = changed(
    QUICK,
    limits={
        "connections_per_address": 8,
        "failed_logins_per_min": 60,
        "tables_per_min": 4,
        "idle_s": 1,
        "login_s": 1,
    },
    access={"bots": ("A" * 26,)},
)


# --- the real server with one function replaced -----------------------------------------------------------------------


def lets_time_run_while_nobody_is_there(patch):
    patch.setattr(deadlines.Waits, "halt", lambda self: None)


def takes_any_word(patch):
    patch.setattr(options, "_word", lambda options, option, words, default: default)


def grants_a_claim_to_every_side(patch):
    patch.setattr(consequences, "_of_other_side", lambda seat, seats: tuple(seats))


def grants_every_claim(patch):
    patch.setattr(game, "claimed", lambda dealer, ledger, *rest: dealer.abandon(ledger, "server"))


def grants_no_claim(patch):
    patch.setattr(game, "claimed", lambda *arguments: None)


def waits_for_no_claim(patch):
    rule = consequences._for_absence
    patch.setattr(
        consequences,
        "_for_absence",
        lambda dealer, ledger, beside: rule(dealer, ledger, replace(beside, is_claimed=False)),
    )


def rules_on_for_ever(patch):
    patch.setattr(consequences, "_for_absence", lambda *arguments: None)


def lets_seats_talk_on(patch):
    patch.setattr(talk, "_pay", lambda *arguments: None)


def counts_nothing(patch):
    patch.setattr(Meter, "owes", lambda self, subject, now: 0)
    patch.setattr(Meter, "pay", lambda self, subject, now: 0)


def leaves_its_door_open(patch):
    def enter(self, address, network):
        self._networks[network] += 1
        self._inside += 1

    patch.setattr(Admission, "enter", enter)


def waits_for_the_silent(patch):
    patch.setattr(peer, "pulse", lambda *arguments, **named: peer.Pulse.REST)


PATCHED = [
    (lets_time_run_while_nobody_is_there, "S3.time-stands"),
    (takes_any_word, "S3.claim-word"),
    (grants_a_claim_to_every_side, "S3.claim-partner"),
    (grants_every_claim, "S3.claim-early"),
    (grants_every_claim, "S3.claim-present"),
    (grants_no_claim, "S3.claim"),
    (waits_for_no_claim, "S3.claim"),
    (rules_on_for_ever, "S3.claim-server"),
    (lets_seats_talk_on, "S3.say-flood"),
    (counts_nothing, "S3.failed-logins"),
    (counts_nothing, "S3.tables-rate"),
    (leaves_its_door_open, "S3.connections"),
    (waits_for_the_silent, "S3.drip"),
]


@pytest.mark.parametrize(
    ("fault", "name"), PATCHED, ids=[f"{fault.__name__}-{name}" for fault, name in PATCHED]
)
async def test_server_with_a_fault_fails_the_case_that_is_about_it(tmp_path, monkeypatch, fault, name):
    fault(monkeypatch)
    async with running(tmp_path / "data", SETTINGS) as server:
        outcome = await judge(server.port, name, patience_s=PATIENCE_S)
    assert outcome.verdict is CaseVerdict.FAIL, outcome


# --- a proxy that alters what the server says -------------------------------------------------------------------------


def says_nothing_of_who_is_away(message, spoken):
    return [] if message["t"] == "away" else [message]


def counts_no_missed_decision(message, spoken):
    return [message | {"missed": 0}] if message["t"] == "away" else [message]


def tells_the_seats_of_who_was_there_before(message, spoken):
    return [] if message["t"] == "away" and "resume" in spoken.asked else [message]


def never_says_that_a_seat_is_gone(message, spoken):
    return [message | {"claim_in_ms": 1_000}] if message["t"] == "away" else [message]


def hides_who_may_claim(message, spoken):
    return [{name: value for name, value in message.items() if name != "claim"}]


def agrees_to_everything(message, spoken):
    refused = message["t"] == "error" and {"claim_match", "say"} & set(spoken.asked)
    return [{"t": "ok", "re": message["re"]}] if refused else [message]


def calls_everybody(message, spoken):
    if message["t"] != "table" or not any(seat.get("vacant") for seat in message["seats"]):
        return [message]
    place = {"table": message["table"], "match": message["match"], "seat": 1, "variant": message["variant"]}
    return [message, {"t": "bot_wanted", **place}]


def calls_everybody_to_tables(message, spoken):
    if message["t"] != "ok" or not message.get("tables"):
        return [message]
    (table, *_) = message["tables"]
    place = {"table": table["table"], "seat": 1, "variant": table["variant"]}
    return [message, {"t": "players_wanted", **place}]


def hides_vacant_seats(message, spoken):
    if message["t"] != "table":
        return [message]
    seats = [{name: value for name, value in seat.items() if name != "vacant"} for seat in message["seats"]]
    return [message | {"seats": seats}]


def takes_a_seat_without_a_word(message, spoken):
    return [] if message["t"] == "seat_taken_over" else [message]


def knows_nobody_who_was_there(message, spoken):
    return [message | {"code": "not_seated"} if message.get("code") == "seat_gone" else message]


def keeps_phrases_to_itself(message, spoken):
    return [] if message["t"] == "said" else [message]


def goes_without_goodbye(message, spoken):
    return [] if message["t"] == "bye" else [message]


ALTERED = [
    (says_nothing_of_who_is_away, "S3.away"),
    (tells_the_seats_of_who_was_there_before, "S3.away-comer"),
    (counts_no_missed_decision, "S3.away-missed"),
    (never_says_that_a_seat_is_gone, "S3.claim"),
    (never_says_when_to_come_again, "S3.claim-early"),
    (never_says_when_to_come_again, "S3.failed-logins"),
    (never_says_when_to_come_again, "S3.tables-rate"),
    (never_says_when_to_come_again, "S3.say-flood"),
    (hides_who_may_claim, "S3.claim-shown"),
    (agrees_to_everything, "S3.claim-stranger"),
    (agrees_to_everything, "S3.say-unknown"),
    (agrees_to_everything, "S3.say-outsider"),
    (calls_everybody, "S3.uncalled"),
    (calls_everybody_to_tables, "S3.unwanted"),
    (hides_vacant_seats, "S3.substitute"),
    (takes_a_seat_without_a_word, "S3.substitute"),
    (knows_nobody_who_was_there, "S3.seat-gone"),
    (keeps_phrases_to_itself, "S3.say"),
    (goes_without_goodbye, "S3.drip-login"),
]


@pytest.mark.parametrize(
    ("alter", "name"), ALTERED, ids=[f"{alter.__name__}-{name}" for alter, name in ALTERED]
)
async def test_server_that_is_altered_on_the_way_fails_the_case_that_is_about_it(tmp_path, alter, name):
    async with running(tmp_path / "data", SETTINGS) as server, altered(server.port, alter) as port:
        outcome = await judge(port, name, patience_s=PATIENCE_S)
    assert outcome.verdict is CaseVerdict.FAIL, outcome
