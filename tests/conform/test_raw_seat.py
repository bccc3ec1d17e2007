"""The kit's own seat at a table: what it takes, and what it calls a fault."""

import pytest
from rows import each_row

from truc_conform.expectations import UnexpectedError
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_conform.server_cases.play import unoffered
from truc_conform.server_cases.session import auth
from truc_protocol.crypto.keys import generate_signing_key
from truc_rules import KINDS

IN_CLEAR = {"t": "options", "at": 5, "offer": 5, "must": True, "list": [{"key": "accept", "kind": "accept"}]}


def test_whoever_has_a_key_or_x_takes_no_options_in_clear_and_any_other_guest_does():
    for kind in ({"keyed": True}, {"keyed": False, "boxed": True}):
        with pytest.raises(UnexpectedError, match="in a box"):
            RawSeat(None, **kind).open(IN_CLEAR)
    assert RawSeat(None, keyed=False, boxed=False).open(IN_CLEAR) == IN_CLEAR["list"]


def test_answer_that_may_end_the_hand_is_not_harmless():
    seat = RawSeat(None)
    seat.offered = [{"kind": "decline"}, {"kind": "play"}]
    assert seat.harmless()["kind"] == "play"


def test_move_that_nobody_has_offered_is_one_of_the_games():
    seat = RawSeat(None)
    seat.offered = [{"kind": "accept"}]
    assert unoffered(seat)["kind"] in set(map(str, KINDS))


@each_row("logs_in", [RawClient.auth, auth])
def test_client_that_was_turned_away_says_what_came_instead_of_hello(logs_in):
    client = RawClient(None)
    client.log.append(
        {"t": "error", "re": None, "code": "server_full", "msg": "expected at most 20 connections"}
    )
    with pytest.raises(UnexpectedError, match=r"server_full.*at most 20 connections"):
        logs_in(client, generate_signing_key())
