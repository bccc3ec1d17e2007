"""Mode blind beside the play: who watches, signs from seat to seat, new chains, seats that change hands, what a host sees."""

import json

import pytest
from click.testing import CliRunner
from server.blind_seats import BlindSeat, blind_match, blind_seat, choose_again, is_due, rest_in_hand
from server.calls import rulings
from server.clocks import leave, pass_time
from server.conftest import PATIENT, QUICK, changed, in_hand, living, play_on, running
from server.late import eye_at
from server.substituting import follow, step_in
from server.watching import Eye

from truc_protocol import boxes
from truc_protocol.audit import Auditor, Result
from truc_protocol.bodies import Ack, Close, End, Mask, Rekey, Sub
from truc_protocol.ledger import steps_due
from truc_protocol.records import BLIND, DEALT, Phase, parse
from truc_server.main import main
from truc_server.matches.game import Game
from truc_server.tables.talk import SEALED_SIGN
from truc_terminal.main import main as client

SETTINGS = PATIENT
SHORT = {"target": 3, "match": 1}
NONCE = bytes(12)


async def resting(server, count=2, variant="truc-valencia", **options) -> list[BlindSeat]:
    """Return players in a hand who move no more."""
    seats = await blind_match(server, count, variant, options={**SHORT, **options})
    await rest_in_hand(seats)
    return seats


async def go_on(seats) -> None:
    await choose_again(seats)
    await play_on(seats)


def audited(seat: BlindSeat, eye: Eye) -> Auditor:
    """Return who has audited the setup of a seat's match, and what somebody who watches has seen of it."""
    auditor = Auditor(seat.document)
    for record in (*seat.ledger.setup.records, *(each for _, each in sorted(eye.seen[eye.match].items()))):
        auditor.feed(record)
    return auditor


@pytest.mark.parametrize("want", [(), ("snapshot",)])
async def test_watcher_sees_every_record_and_proves_the_match(server, want):
    seats = await resting(server)
    eye = await eye_at(server, seats[0].table, *want)
    await go_on(seats)
    await eye.settle()
    records = [record for _, record in sorted(eye.seen[eye.match].items())]
    assert records == [tuple(record) for record in seats[0].records[-len(records) :]]
    if not want:
        assert audited(seats[0], eye).verdict().result is Result.PROVEN


@pytest.mark.parametrize("mode", [BLIND, DEALT])
async def test_host_has_of_a_hand_what_a_watcher_has_and_in_mode_dealt_more(server, monkeypatch, mode):
    games = living(monkeypatch, Game)
    seats = await resting(server) if mode == BLIND else await in_hand(server)
    eye = await eye_at(server, seats[0].table)
    await eye.settle()
    auditor = audited(seats[0], eye)
    assert auditor.ledger.hand is not None
    assert [game.ledger == auditor.ledger for game in games] == [mode == BLIND]


async def test_watcher_who_comes_is_told_for_whose_step_the_match_waits(server):
    seats = await blind_match(server, options=SHORT)
    seats[1].withheld = frozenset({"mask"})
    await play_on(seats, is_due("mask", 1))
    eye = await eye_at(server, seats[0].table)
    await eye.settle()
    assert [(note["what"], note["seats"]) for note in eye.notes if note["t"] == "waiting"] == [("mask", [1])]


async def test_table_shown_hand_by_hand_shows_nothing_of_a_blind_hand_before_its_close(server):
    seats = await resting(server, spectators=2)
    eye = await eye_at(server, seats[0].table)
    setup = len(seats[0].ledger.setup.records)
    called = next(k for k, record in enumerate(seats[0].records[setup:]) if isinstance(parse(record), Mask))
    assert eye.next < called
    await go_on(seats)
    await eye.until(lambda eye: eye.next > called)
    await eye.settle()
    bodies = [parse(record) for _, record in sorted(eye.seen[eye.match].items())]
    assert isinstance(bodies[-1], Close | End | Ack)


def sign_of(seat: BlindSeat, receiver: BlindSeat, **fields) -> dict:
    ledger = seat.ledger
    shared = seat.x.exchange(ledger.contributors[receiver.seat + 1].x)
    key = boxes.seat_sign_key(shared, ledger.setup.mid, sender=seat.seat, receiver=receiver.seat)
    box = boxes.seal_sign_of_seat(
        key,
        ledger.setup.mid,
        sender=seat.seat,
        at=seat.next,
        receiver=receiver.seat,
        nonce=NONCE,
        word=ledger.setup.terms.variant.signals.vocabulary[0],
    )
    here = {"t": "sign", "table": seat.table, "match": ledger.setup.mid, "at": seat.next}
    return {**here, "to": receiver.seat, "box": box, **fields}


async def test_sign_goes_from_seat_to_seat_as_it_was_sealed_and_to_nobody_else_and_otherwise_not_at_all(
    server,
):
    seats = await resting(server, 4)
    sign = sign_of(seats[0], seats[2])
    assert len(sign["box"]) == SEALED_SIGN
    assert (await seats[0].client.ask(sign))["t"] == "ok"
    seen = await seats[2].client.until("sign")
    assert (seen["from"], seen["box"]) == (0, sign["box"])
    for other in (seats[1], seats[3]):
        await other.client.ask({"t": "tables"})
        assert not any(message["t"] == "sign" for message in other.client.log)
    for changes, code in (
        ({"box": bytes(SEALED_SIGN - 1)}, "bad_message"),
        ({"to": 1}, "illegal_action"),
        ({"at": 0}, "stale_position"),
    ):
        assert (await seats[0].client.ask(sign_of(seats[0], seats[2], **changes)))["code"] == code
    sign = sign_of(seats[0], seats[2], word="three")
    del sign["box"], sign["to"]
    assert (await seats[0].client.ask(sign))["code"] == "not_now"


async def test_seats_and_server_begin_new_chains_between_hands(path):
    async with running(path, changed(QUICK, match={"links": 2})) as server:
        seats = await blind_match(server, 2, "truc-catalan", options={"target": 5, "match": 1})
        seats[0].resigns_at = 45  # in the second hand
        await play_on(seats)
    kinds = [type(parse(record)) for record in seats[0].records]
    assert Mask in kinds[kinds.index(Rekey) :]
    assert all(seat.auditor.verdict().result is Result.PROVEN for seat in seats)


async def test_seat_named_by_a_void_is_taken_over_and_the_newcomer_deals(server, mock_clock):
    terms = {"gone": 1, "release_ms": 5000, "decision_ms": 0}
    seats = await blind_match(server, options={**SHORT, **terms})
    seats[1].withheld = frozenset({"mask"})
    await play_on(seats, is_due("mask", 1))
    mock_clock.jump(5.1)
    await play_on(seats, is_due("sub", 1))
    plain = await server.seat(seed=8)  # whose client does not deal
    assert (await plain.join(seats[0].table, 1))["code"] == "not_now"
    newcomer = await blind_seat(server, seed=7)
    assert (await newcomer.join(seats[0].table, 1))["t"] == "ok"
    assert (await follow(newcomer, seats))["t"] == "ok"
    assert (await step_in(newcomer))["t"] == "ok"
    await play_on([seats[0], newcomer])
    assert seats[0].auditor.verdict().result is Result.PROVEN
    assert any(isinstance(parse(record), Sub) for record in seats[0].records)
    assert seats[0].auditor.verdict().reason == "won"


async def test_player_cannot_return_by_a_client_that_does_not_deal(server):
    seats = await resting(server)
    other = await server.connect()
    await other.login_key(seats[0].key, seats[0].name)
    refused = await other.ask(
        {"t": "resume", "table": seats[0].table, "match": seats[0].ledger.setup.mid, "next": 0}
    )
    assert refused["code"] == "not_now"


async def test_side_whose_opponents_are_gone_claims_the_match(server, mock_clock):
    seats = await resting(server, decision_ms=0)
    holder = seats[0].waiting["seats"][0]
    other = seats[1 - holder]
    await leave(seats[holder])
    mock_clock.jump(QUICK.tables.expiry_s + 1)
    claim = {"t": "claim_match", "table": other.table, "match": other.ledger.setup.mid}
    assert (await other.ask(claim))["t"] == "ok"
    await other.play(lambda seat: seat.ledger.phase is Phase.OVER and seat.ledger.blind_hand is not None)
    assert rulings(other) == [("abandon", None, "server")]
    assert steps_due(other.ledger).what == "opening"


async def test_match_that_everybody_has_left_is_abandoned_and_nobody_blamed_for_keys(server, mock_clock):
    seats = await blind_match(server, options=SHORT)
    seats[1].withheld = frozenset({"keys"})
    await play_on(seats, is_due("keys", 0, 1))
    await seats[0].ask({"t": "tables"})  # answered when its keys are held
    for seat in seats:
        await leave(seat)
    await pass_time(mock_clock, QUICK.tables.expiry_s + 1)
    assert (await seats[0].come_back(await server.connect()))["t"] == "ok"
    assert rulings(seats[0]) == [("abandon", None, "server")]


async def test_match_is_exported_by_the_host_and_proven_by_the_player(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    async with running(tmp_path / "data") as server:
        seats = await blind_match(server, options=SHORT)
        seats[0].resigns_at = 15
        await play_on(seats)
    out = tmp_path / "out"
    exported = CliRunner().invoke(main, ["export", str(out), "--data", str(tmp_path / "data")])
    assert exported.exit_code == 0, exported.stderr
    (file,) = out.iterdir()
    verified = CliRunner().invoke(client, ["verify", str(file), "--json"])
    assert verified.exit_code == 0, verified.output
    told = json.loads(verified.stdout)
    assert (told["result"], told["mode"]) == ("proven", "blind")
