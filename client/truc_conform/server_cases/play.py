"""Cases S3: single acts, of keys and of guests, as they are taken, repeated or refused; pauses, and asks that come too late."""

from typing import Final

from truc_conform.expectations import Map, UnofferedError, check_refusal, expect, expect_ok
from truc_conform.raw_seat import RawSeat
from truc_conform.server_visit import ServerVisit, case, case_rows, catch_up, is_asked, play_on
from truc_protocol.bodies import Body, Refuse, Release
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import generate_signing_key, verify
from truc_protocol.errors import Code
from truc_protocol.records import encode
from truc_protocol.wire.capabilities import OWN_OPTIONS

NOTHING: Final = bytes(32)
_BODIES: Final = (b"", b"\xc1", b"\x91\xa5hello", b"\x93\x01\x02\x03")
_PLAY: Final = "play.md#decisions"
_LATE_ASK: Final = "truc-catalan"


def unoffered(player: RawSeat) -> Map:
    """Return a kind of move that is none of the player's options."""
    kinds = {option["kind"] for option in player.offered}
    # Answers to what nobody has asked: well-formed, so that only the rules can refuse them (C20).
    return {"kind": next(kind for kind in ("accept", "decline", "stand") if kind not in kinds)}


async def refused_with_evidence(seat: RawSeat, body: Body, code: Code) -> None:
    """Hand a body in that is refused, by a refusal that the server has signed."""
    error = check_refusal(await seat.hand_in(body), code)
    expect("refuse" in error, "the server's signed refusal", error)
    signer, refusal, sig = error["refuse"]
    # specification.md, "Evidence": it names the body by its SHA-256, and counts against the server (C35).
    due = encode(Refuse(seat.ledger.setup.mid, sha256(encode(body)), error["code"]))
    expect((signer, refusal) == (0, due), "a refusal of this body in this match with this code", refusal)
    expect(verify(seat.ledger.setup.terms.table.spk, refusal, sig), "a refusal signed by the server", sig)


@case("S3.act", "session.md#requests-and-replies")
async def _act(visit: ServerVisit) -> None:
    """An act gets ok, after its record."""
    mover, _ = await visit.in_hand()
    at = mover.next
    reply = expect_ok(await mover.move(), f"ok with k {at}", k=at)
    # play.md, "Decisions": the answer is the record, to everybody, then `ok`.
    expect(mover.next > at, "the record before the reply that confirms it", reply)


@case("S3.act-again", "session.md#coming-back")
async def _act_again(visit: ServerVisit) -> None:
    """The same act again gets ok with dup."""
    mover, _ = await visit.in_hand()
    at, body = mover.next, mover.act_of(mover.harmless())
    await mover.hand_in(body)
    expect_ok(await mover.hand_in(body), f"ok with k {at} and dup", k=at, dup=True)


@case("S3.release-again", "session.md#coming-back")
async def _release_again(visit: ServerVisit) -> None:
    """The same release again gets ok with dup."""
    mover, _ = await visit.in_hand()
    (stored, *_) = [message for (what, _), message in mover.stored.items() if what == "release"]
    expect_ok(await mover.ask(stored), "ok with dup", dup=True)


@case("S3.stale", _PLAY)
async def _stale(visit: ServerVisit) -> None:
    """Another act at a taken position gets stale_position."""
    mover, _ = await visit.in_hand()
    other = mover.act_of(unoffered(mover))
    await mover.move()
    check_refusal(await mover.hand_in(other), Code.STALE_POSITION)


@case("S3.ahead", _PLAY)
async def _ahead(visit: ServerVisit) -> None:
    """An act for a later position gets bad_position."""
    mover, _ = await visit.in_hand()
    body = mover.act_of(mover.harmless(), k=mover.next + 1)
    check_refusal(await mover.hand_in(body), Code.BAD_POSITION)


@case_rows(
    _PLAY,
    "An act {what}",
    ("S3.other-head", "under another head gets bad_position", {"head": NOTHING}),
    ("S3.other-deal", "with another deal index gets bad_position, with evidence", {"j": 999}),
)
async def _changed(visit: ServerVisit, *, changed: Map) -> None:
    mover, _ = await visit.in_hand()
    body = mover.act_of(mover.harmless(), **changed)
    if "head" in changed:
        error = check_refusal(await mover.hand_in(body), Code.BAD_POSITION)
        # A body that names another head is bound to no place of
        # this match (C10): a refusal of it would show nothing.
        expect("refuse" not in error, "no signed refusal of an act under another head", error)
    else:
        await refused_with_evidence(mover, body, Code.BAD_POSITION)
    await _goes_on(mover)


@case("S3.other-match", _PLAY)
async def _other_match(visit: ServerVisit) -> None:
    """An act for another match gets no_such_match."""
    mover, _ = await visit.in_hand()
    reply = await mover.move(match=NOTHING)
    check_refusal(reply, Code.NO_SUCH_MATCH)


@case("S3.other-seat", _PLAY)
async def _other_seat(visit: ServerVisit) -> None:
    """An act in the name of another seat gets bad_message."""
    mover, other = await visit.in_hand()
    reply = await other.hand_in(mover.act_of(mover.harmless()))
    check_refusal(reply, Code.BAD_MESSAGE)


@case("S3.out-of-turn", _PLAY)
async def _out_of_turn(visit: ServerVisit) -> None:
    """An act out of turn gets not_your_turn, with evidence."""
    mover, other = await visit.in_hand()
    await refused_with_evidence(other, other.act_of(mover.harmless()), Code.NOT_YOUR_TURN)


@case("S3.illegal", _PLAY)
async def _illegal(visit: ServerVisit) -> None:
    """An act that is not an option gets illegal_action, with evidence."""
    mover, _ = await visit.in_hand()
    await refused_with_evidence(mover, mover.act_of(unoffered(mover)), Code.ILLEGAL_ACTION)
    await _goes_on(mover)


async def _goes_on(mover: RawSeat) -> None:
    expect_ok(await mover.move(), "the match to go on after a refusal")


async def _at_cards(visit: ServerVisit) -> RawSeat:
    """Return a player who may play a card now."""
    seats = await visit.in_hand()
    for _ in range(6):
        mover = next((seat for seat in seats if seat.options and seat.options["at"] == seat.next), seats[0])
        if any(option["kind"] == "play" for option in mover.offered):
            return mover
        await mover.move()
        await play_on(seats, is_asked)
    raise UnofferedError("this game offers no card to play within six decisions")


@case_rows(
    _PLAY,
    "A card {what} gets illegal_action, with evidence",
    ("S3.card-other", "that is not in its slot", 1, None),
    ("S3.card-salt", "with another salt", 2, bytes(16)),
)
async def _card(visit: ServerVisit, *, place: int, value: object) -> None:
    mover = await _at_cards(visit)
    option = next(option for option in mover.offered if option["kind"] == "play")
    args = list(option["args"])
    args[place] = value if value is not None else (args[place] + 1) % mover.ledger.setup.terms.table.deck
    await refused_with_evidence(mover, mover.act_of(option, args=tuple(args)), Code.ILLEGAL_ACTION)


@case("S3.act-signature", _PLAY)
async def _act_signature(visit: ServerVisit) -> None:
    """An act signed by another key gets bad_signature, and the end."""
    mover, _ = await visit.in_hand()
    message = mover.sign(mover.act_of(mover.harmless()))
    await mover.client.send(message | {"sig": generate_signing_key().sign(message["body"])})
    await mover.client.check_ended(Code.BAD_SIGNATURE)


@case("S3.act-body", _PLAY)
async def _act_body(visit: ServerVisit) -> None:
    """A body of the wrong shape gets bad_message."""
    mover, _ = await visit.in_hand()
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    for body in (*_BODIES, encode(mover.act_of(mover.harmless(), kind="fly"))):
        reply = await mover.ask({**here, "body": body, "sig": mover.key.sign(body) if mover.key else b""})
        check_refusal(reply, Code.BAD_MESSAGE)


@case("S3.release-early", _PLAY)
async def _release_early(visit: ServerVisit) -> None:
    """A release that no call asks for gets not_now."""
    mover, _ = await visit.in_hand()
    ledger = mover.ledger
    body = Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, mover.seat, NOTHING)
    check_refusal(await mover.hand_in(body), Code.NOT_NOW)


@case("S3.release-chain", _PLAY)
async def _release_chain(visit: ServerVisit) -> None:
    """A release off its chain gets illegal_action, with evidence."""
    seats = await visit.match()
    for seat in seats:
        # Neither releases by itself, or the deal would be over before the wrong link comes.
        seat.is_idle = True
    await play_on(seats, lambda seat: seat.next == 1)
    ledger = seats[0].ledger
    body = Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, seats[0].seat, NOTHING)
    await refused_with_evidence(seats[0], body, Code.ILLEGAL_ACTION)


@case("S3.stranger", "errors.md#not_seated")
async def _stranger(visit: ServerVisit) -> None:
    """An act from somebody without a seat gets not_seated."""
    mover, _ = await visit.in_hand()
    stranger = await visit.player()
    await stranger.refused(mover.sign(mover.act_of(mover.harmless())), Code.NOT_SEATED)


@case("S3.keyed-chooses", _PLAY)
async def _keyed_chooses(visit: ServerVisit) -> None:
    """choose from a player with a key gets not_now."""
    mover, _ = await visit.in_hand()
    check_refusal(await mover.choose_line(mover.harmless()["key"]), Code.NOT_NOW)


@case("S3.guest-signs", _PLAY)
async def _guest_signs(visit: ServerVisit) -> None:
    """A body from a guest gets not_now."""
    mover, _ = await _guests(visit)
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    check_refusal(await mover.ask({**here, "body": b"\x90", "sig": bytes(64)}), Code.NOT_NOW)


async def _guests(visit: ServerVisit) -> tuple[RawSeat, RawSeat]:
    return await visit.in_hand(await visit.seats(guests=(0, 1), boxed=False))


@case("S3.guest-act", _PLAY)
async def _guest_act(visit: ServerVisit) -> None:
    """A guest chooses by a move line; the same again gets ok with dup."""
    mover, _ = await _guests(visit)
    at, line = mover.next, mover.harmless()["key"]
    expect_ok(await mover.choose_line(line), f"ok with k {at}", k=at)
    again = await mover.choose_line(line, at=at)
    expect_ok(again, f"ok with k {at} and dup", k=at, dup=True)


@case_rows(
    _PLAY,
    "{what} gets {code}",
    ("S3.guest-stale", "A guest's choice at a taken position", -1, "", Code.STALE_POSITION),
    ("S3.guest-ahead", "A guest's choice ahead of the match", 90, "", Code.BAD_POSITION),
    ("S3.guest-illegal", "A line that is not among the options", 0, "fly away", Code.ILLEGAL_ACTION),
)
async def _guest_refused(visit: ServerVisit, *, at: int, line: str, code: Code) -> None:
    mover, _ = await _guests(visit)
    line = line or mover.harmless()["key"]
    check_refusal(await mover.choose_line(line, at=mover.next + at), code)
    expect_ok(await mover.choose_line(mover.harmless()["key"]), "the match to go on after a refusal")


@case("S3.guest-out-of-turn", _PLAY)
async def _guest_out_of_turn(visit: ServerVisit) -> None:
    """A guest's choice out of turn gets not_your_turn."""
    mover, other = await _guests(visit)
    check_refusal(await other.choose_line(mover.harmless()["key"]), Code.NOT_YOUR_TURN)


async def _paused(visit: ServerVisit) -> tuple[RawSeat, RawSeat]:
    mover, other = await visit.in_hand()
    for seat in (mover, other):
        expect_ok(await seat.hand_in(seat.act_of({"kind": "pause"})), "ok to pause")
        # An act is for the position that comes next, so the second must have read the first one's.
        await catch_up(mover, other)
    await play_on((mover, other), lambda seat: seat.ledger.pause.active)
    return mover, other


@case("S3.move-in-pause", _PLAY)
async def _move_in_pause(visit: ServerVisit) -> None:
    """A move in a pause gets paused, with evidence."""
    mover, _ = await _paused(visit)
    await refused_with_evidence(mover, mover.act_of(mover.harmless()), Code.PAUSED)


@case("S3.resume-pause", _PLAY)
async def _resume_pause(visit: ServerVisit) -> None:
    """A pause ends when every seat has asked to resume."""
    both = await _paused(visit)
    for seat in both:
        await catch_up(*both)
        expect_ok(await seat.hand_in(seat.act_of({"kind": "resume"})), "ok to resume")
    await play_on(both, lambda seat: not seat.ledger.pause.active)


@case("S3.not-paused", _PLAY)
async def _not_paused(visit: ServerVisit) -> None:
    """resume without a pause gets illegal_action."""
    mover, _ = await visit.in_hand()
    check_refusal(await mover.hand_in(mover.act_of({"kind": "resume"})), Code.ILLEGAL_ACTION)


@case("S3.paused-twice", _PLAY)
async def _paused_twice(visit: ServerVisit) -> None:
    """Asking twice for a pause gets illegal_action."""
    mover, _ = await visit.in_hand()
    await mover.hand_in(mover.act_of({"kind": "pause"}))
    check_refusal(await mover.hand_in(mover.act_of({"kind": "pause"})), Code.ILLEGAL_ACTION)


@case("S3.own-options", _PLAY)
async def _own_options(visit: ServerVisit) -> None:
    """A seat that makes its own options is sent none, and plays; the other is sent options as ever."""
    (await visit.player()).need(OWN_OPTIONS)
    _, other = seats = await visit.seats(want=(OWN_OPTIONS,))
    mover, _ = await visit.in_hand(seats)
    await refused_with_evidence(mover, mover.act_of(unoffered(mover)), Code.ILLEGAL_ACTION)
    for seat in seats:
        seat.chooses = seat.pick
    await mover.choose(mover.options or {})
    await play_on(seats)
    expect(
        bool(other.client.came("options")),
        "options for a seat that has not wanted `own-options`",
        other.client.log,
    )


@case("S3.void-bet", _PLAY)
async def _void_bet(visit: ServerVisit) -> None:
    """An ask whose window the next card has closed gets void_bet."""
    (await visit.player()).need_game(_LATE_ASK)
    first, second = await visit.in_hand(await visit.seats(game=_LATE_ASK))
    await first.hand_in(first.act_of(_play_of(first)))
    late = first.act_of({"kind": "raise", "args": (2,)})
    await second.play(lambda seat: seat.next == first.next and is_asked(seat))
    await second.hand_in(second.act_of(_play_of(second)))
    error = check_refusal(await first.hand_in(late), Code.VOID_BET)
    # specification.md, "Records": a server signs that it did not take a body, but never that it came late.
    expect("refuse" not in error, "no signed refusal of an ask that came too late", error)


def _play_of(seat: RawSeat) -> Map:
    return next(option for option in seat.offered if option["kind"] == "play")
