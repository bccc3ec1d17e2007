"""Cases S3: single acts, as they are taken, repeated or refused; in the order in which a body is judged."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from truc_conform.raw_client import Map
from truc_conform.raw_seat import Seat
from truc_conform.server_visit import (
    ServerCase,
    UnofferedError,
    Visit,
    check_ended,
    check_refusal,
    expect,
    expect_ok,
    play_on,
    refused,
    server_case,
    server_row,
)
from truc_protocol.bodies import Act, Body, Refuse, Release
from truc_protocol.codec import sha256
from truc_protocol.crypto.keys import generate_signing_key, verify
from truc_protocol.errors import Code
from truc_protocol.records import encode

NOTHING: Final = bytes(32)
_BODIES: Final = (b"", b"\xc1", b"\x91\xa5hello", b"\x93\x01\x02\x03")
_LEADS: Final = ("stand", "no_hand", "pass")


async def in_hand(
    visit: Visit,
    *,
    guests: Sequence[int] = (),
    boxed: bool = True,
    game: str | None = None,
    private: bool = True,
    **options: int | str,
) -> tuple[Seat, Seat]:
    """Return two players in a hand that has been dealt, who no longer move by themselves; the first is to move."""
    seats = await visit.match(guests=guests, boxed=boxed, game=game, private=private, **options)
    for seat in seats:
        seat.chooses = _only_cut
    await play_on(seats, is_asked)
    first, second = seats
    return (first, second) if first.options and first.options["must"] else (second, first)


def _only_cut(message: Map, options: list[Map]) -> Map | None:
    """Choose nothing but a cut."""
    del message
    return next((option for option in options if option["kind"] == "cut"), None)


def is_asked(seat: Seat) -> bool:
    """Tell whether the first decision of a hand has come to this seat."""
    told = (seat.options, seat.waiting)
    return any(each is not None and each["at"] == seat.next and seat.ledger.hand for each in told)


def act(player: Seat, option: Map, **changed: object) -> Act:
    """Return the act that chooses an option now, with some of its fields replaced."""
    ledger = player.ledger
    sound: dict[str, Any] = {
        "mid": ledger.setup.mid,
        "k": ledger.k,
        "head": ledger.head,
        "j": ledger.deal_index,
        "seat": player.seat,
        "kind": option["kind"],
        "args": tuple(option.get("args", ())),
    }
    return Act(**{**sound, **changed})


def quiet(player: Seat) -> Map:
    """Return an option of the player that ends nothing; if there is one that leads on to the cards, that one."""
    ordered = sorted(player.offered, key=lambda option: option["kind"] not in _LEADS)
    harmless = [option for option in ordered if option["kind"] not in ("concede", "refuse", "raise")]
    return (harmless or ordered)[0]


def unoffered(player: Seat) -> Map:
    """Return a kind of move that is none of the player's options."""
    kinds = {option["kind"] for option in player.offered}
    return {"kind": next(kind for kind in ("accept", "refuse", "stand") if kind not in kinds)}


async def hand_in(seat: Seat, body: Body, **fields: object) -> Map:
    """Hand a body in and return the reply."""
    return await seat.ask(seat.sign(body) | fields)


async def choose(seat: Seat, line: str, **fields: object) -> Map:
    """Choose as a guest and return the reply."""
    here = {"table": seat.table, "match": seat.ledger.setup.mid, "at": seat.next}
    return await seat.ask({"t": "act", **here, "choose": line, **fields})


def check_evidence(seat: Seat, body: Body, error: Map) -> None:
    """Check the server's signed refusal of a body."""
    expect("refuse" in error, "the server's signed refusal", error)
    signer, refusal, sig = error["refuse"]
    due = encode(Refuse(seat.ledger.setup.mid, sha256(encode(body)), error["code"]))
    expect((signer, refusal) == (0, due), "a refusal of this body in this match with this code", refusal)
    expect(verify(seat.ledger.setup.terms.table.spk, refusal, sig), "a refusal signed by the server", sig)


async def _act(visit: Visit) -> None:
    """An act gets ok, after its record."""
    mover, _ = await in_hand(visit)
    at = mover.next
    reply = await hand_in(mover, act(mover, quiet(mover)))
    expect((reply["t"], reply.get("k")) == ("ok", at), f"ok with k {at}", reply)
    expect(mover.next > at, "the record before the reply that confirms it", reply)


async def _act_again(visit: Visit) -> None:
    """The same act again gets ok with dup."""
    mover, _ = await in_hand(visit)
    at, body = mover.next, act(mover, quiet(mover))
    await hand_in(mover, body)
    reply = await hand_in(mover, body)
    expect(
        (reply["t"], reply.get("k"), reply.get("dup")) == ("ok", at, True), f"ok with k {at} and dup", reply
    )


async def _release_again(visit: Visit) -> None:
    """The same release again gets ok with dup."""
    mover, _ = await in_hand(visit)
    (stored, *_) = [message for (what, _), message in mover.stored.items() if what == "release"]
    reply = await mover.ask(stored)
    expect((reply["t"], reply.get("dup")) == ("ok", True), "ok with dup", reply)


async def _stale(visit: Visit) -> None:
    """Another act at a taken position gets stale_position."""
    mover, _ = await in_hand(visit)
    other = act(mover, unoffered(mover))
    await hand_in(mover, act(mover, quiet(mover)))
    check_refusal(await hand_in(mover, other), Code.STALE_POSITION)


async def _changed(visit: Visit, *, changed: Map, code: Code) -> None:
    mover, _ = await in_hand(visit)
    body = act(mover, quiet(mover), **changed)
    error = check_refusal(await hand_in(mover, body), code)
    if "head" in changed:
        expect("refuse" not in error, "no signed refusal of an act under another head", error)
    else:
        check_evidence(mover, body, error)
    await _goes_on(mover)


async def _ahead(visit: Visit) -> None:
    """An act for a later position gets bad_position."""
    mover, _ = await in_hand(visit)
    body = act(mover, quiet(mover), k=mover.next + 1)
    check_refusal(await hand_in(mover, body), Code.BAD_POSITION)


async def _other_match(visit: Visit) -> None:
    """An act for another match gets no_such_match."""
    mover, _ = await in_hand(visit)
    reply = await hand_in(mover, act(mover, quiet(mover)), match=NOTHING)
    check_refusal(reply, Code.NO_SUCH_MATCH)


async def _other_seat(visit: Visit) -> None:
    """An act in the name of another seat gets bad_message."""
    mover, other = await in_hand(visit)
    reply = await hand_in(other, act(mover, quiet(mover)))
    check_refusal(reply, Code.BAD_MESSAGE)


async def _out_of_turn(visit: Visit) -> None:
    """An act out of turn gets not_your_turn, with evidence."""
    mover, other = await in_hand(visit)
    body = act(other, quiet(mover))
    error = check_refusal(await hand_in(other, body), Code.NOT_YOUR_TURN)
    check_evidence(other, body, error)


async def _illegal(visit: Visit) -> None:
    """An act that is not an option gets illegal_action, with evidence."""
    mover, _ = await in_hand(visit)
    body = act(mover, unoffered(mover))
    error = check_refusal(await hand_in(mover, body), Code.ILLEGAL_ACTION)
    check_evidence(mover, body, error)
    await _goes_on(mover)


async def _goes_on(mover: Seat) -> None:
    expect_ok(await hand_in(mover, act(mover, quiet(mover))), "the match to go on after a refusal")


async def _at_cards(visit: Visit) -> Seat:
    """Return a player who may play a card now."""
    seats = await in_hand(visit)
    for _ in range(6):
        mover = next((seat for seat in seats if seat.options and seat.options["at"] == seat.next), seats[0])
        if any(option["kind"] == "play" for option in mover.offered):
            return mover
        await hand_in(mover, act(mover, quiet(mover)))
        await play_on(seats, is_asked)
    raise UnofferedError("this game offers no card to play within six decisions")


async def _card(visit: Visit, *, place: int, value: object) -> None:
    mover = await _at_cards(visit)
    option = next(option for option in mover.offered if option["kind"] == "play")
    args = list(option["args"])
    args[place] = value if value is not None else (args[place] + 1) % mover.ledger.setup.terms.table.deck
    body = act(mover, option, args=tuple(args))
    error = check_refusal(await hand_in(mover, body), Code.ILLEGAL_ACTION)
    check_evidence(mover, body, error)


async def _act_signature(visit: Visit) -> None:
    """An act signed by another key gets bad_signature, and the end."""
    mover, _ = await in_hand(visit)
    message = mover.sign(act(mover, quiet(mover)))
    await mover.client.send(message | {"sig": generate_signing_key().sign(message["body"])})
    await check_ended(mover.client, Code.BAD_SIGNATURE)


async def _act_body(visit: Visit) -> None:
    """A body of the wrong shape gets bad_message."""
    mover, _ = await in_hand(visit)
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    for body in (*_BODIES, encode(act(mover, quiet(mover), kind="fly"))):
        reply = await mover.ask({**here, "body": body, "sig": mover.key.sign(body) if mover.key else b""})
        check_refusal(reply, Code.BAD_MESSAGE)


async def _release_early(visit: Visit) -> None:
    """A release that no call asks for gets not_now."""
    mover, _ = await in_hand(visit)
    ledger = mover.ledger
    body = Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, mover.seat, NOTHING)
    check_refusal(await hand_in(mover, body), Code.NOT_NOW)


async def _release_chain(visit: Visit) -> None:
    """A release off its chain gets illegal_action, with evidence."""
    seats = await visit.match()
    for seat in seats:
        seat.is_idle = True
    await play_on(seats, lambda seat: seat.next == 1)
    ledger = seats[0].ledger
    body = Release(ledger.setup.mid, *ledger.parallel, ledger.deal_index, seats[0].seat, NOTHING)
    error = check_refusal(await hand_in(seats[0], body), Code.ILLEGAL_ACTION)
    check_evidence(seats[0], body, error)


async def _stranger(visit: Visit) -> None:
    """An act from somebody without a seat gets not_seated."""
    mover, _ = await in_hand(visit)
    stranger = await visit.player()
    await refused(stranger, mover.sign(act(mover, quiet(mover))), Code.NOT_SEATED)


async def level(*seats: Seat) -> None:
    """Let players read on until all have the same records."""
    newest = max(seat.next for seat in seats)
    await play_on(seats, lambda seat: seat.next >= newest)


_case: Final = partial(server_case, "S3")
_row: Final = partial(server_row, "S3")
_PLAY: Final = "play.md#decisions"
_CHANGED: Final[tuple[tuple[str, str, Map, Code], ...]] = (
    ("other-head", "An act under another head gets bad_position", {"head": NOTHING}, Code.BAD_POSITION),
    (
        "other-deal",
        "An act with another deal index gets bad_position, with evidence",
        {"j": 999},
        Code.BAD_POSITION,
    ),
)
_CARDS: Final[tuple[tuple[str, str, int, object], ...]] = (
    ("card-other", "A card that is not in its slot gets illegal_action, with evidence", 1, None),
    ("card-salt", "A card with another salt gets illegal_action, with evidence", 2, bytes(16)),
)
CASES: Final[tuple[ServerCase, ...]] = (
    _case(_act, "session.md#requests-and-replies"),
    _case(_act_again, "session.md#coming-back"),
    _case(_release_again, "session.md#coming-back"),
    _case(_stale, _PLAY),
    _case(_ahead, _PLAY),
    *(
        _row(name, _PLAY, text, partial(_changed, changed=changed, code=code))
        for name, text, changed, code in _CHANGED
    ),
    _case(_other_match, _PLAY),
    _case(_other_seat, _PLAY),
    _case(_out_of_turn, _PLAY),
    _case(_illegal, _PLAY),
    *(
        _row(name, _PLAY, text, partial(_card, place=place, value=value))
        for name, text, place, value in _CARDS
    ),
    _case(_act_signature, _PLAY),
    _case(_act_body, _PLAY),
    _case(_release_early, _PLAY),
    _case(_release_chain, _PLAY),
    _case(_stranger, "errors.md#not_seated"),
)
