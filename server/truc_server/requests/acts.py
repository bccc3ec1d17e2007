"""What a seat asks of a match: its signed acts, a guest's choices, its words and signs to others, claims and wishes.

Only a signed act waits, while what it signs is checked: it is prechecked at before, and again afterwards. Invariant: the answer to
an act comes after its record, and the match goes on after the answer.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, assert_never

import outcome
import trio
from msgspec import Struct
from msgspec.structs import replace

from truc_protocol.bodies import Act, Keys, Release, Resign
from truc_protocol.errors import Code
from truc_protocol.ledger import PlacedRecord, seats_unopened
from truc_protocol.messages import BoxedSign, ClaimMatch, GuestAct, OpenSign, Say, SignedAct, WantRekey
from truc_protocol.records import Phase, Record
from truc_server.lobby.lobby import Lobby
from truc_server.matches.acceptance import (
    RefusedBodyError,
    RepeatedBody,
    Verified,
    accept,
    accept_choice,
    accept_keys,
    judged,
    judged_together,
    precheck,
    precheck_sub,
    verified,
)
from truc_server.matches.blind_hands import KeysHeldBack, SentLink, StepsInTurn
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.operation.worker import Worker
from truc_server.requests.services import Checks
from truc_server.storage import PlayerKind
from truc_server.tables.table import Table

Taken = tuple[float, bool]
"""The moment of Trio's clock at which something was taken, and whether it is what mode blind asks for with the pack of a hand."""


class ActPlace(Struct, frozen=True):
    """Where an act belongs, found once; `stands_by` if the player does not have the seat yet."""

    table: Table
    game: Game
    seat: int
    stands_by: bool

    def is_kept_by(self, peer: Peer, player: LoggedInPlayer) -> bool:
        """Tell whether it still belongs there after a wait."""
        if self.table.game is not self.game:
            return False
        if self.stands_by:
            return self.table.standby.seats.get(peer) == self.seat
        seated = self.table.board.seats[self.seat]
        return seated is not None and seated.player.id == player.id


def place_of(
    lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct | GuestAct, mid: bytes
) -> ActPlace:
    """Find the table, the seat and the match of an act.

    Raises:
        RefusedError: There is no such match for this player, or they act in the other way than their kind does.
    """
    table, seat = lobby.table_and_seat(message.table, player)
    stands_by = peer in table.standby.seats
    if stands_by:
        seat = table.standby.seats[peer]
    elif seat is None:
        seat = table.own_seat(player)  # which tells why there is none
    if player.kind is not _ACTORS[type(message)]:
        raise wrong_way_to_act(message)
    # Whoever stands by has had no seat in the match yet; others act only in one that they are in.
    game = table.own_game(mid, None if stands_by else player)
    return ActPlace(table, game, seat, stands_by)


_ACTORS: Final = {SignedAct: PlayerKind.KEY, GuestAct: PlayerKind.GUEST}
# What a seat signs of a hand that is no step with its pack: steps have a budget of their own
# (`usage_limits.STEPS`).
_DECISIONS: Final = (Act, Resign)


def wrong_way_to_act(message: SignedAct | GuestAct) -> RefusedRequestError:
    """Return the refusal of an act that is not made in the way of its player's kind."""
    if isinstance(message, SignedAct):
        return RefusedRequestError(Code.NOT_NOW, "expected a choice: a guest signs nothing", field="body")
    return RefusedRequestError(Code.NOT_NOW, "expected a signed act from a player with a key", field="choose")


class _SentStep(Struct, frozen=True):
    """What a seat has sent of a hand in mode blind, when it came, and where it belongs; `prechecked` is how it stands there."""

    lobby: Lobby
    peer: Peer
    player: LoggedInPlayer
    message: SignedAct
    mid: bytes
    place: ActPlace
    prechecked: PlacedRecord
    came: float


async def sign(
    lobby: Lobby, checks: Checks, peer: Peer, player: LoggedInPlayer, message: SignedAct
) -> Taken | None:
    """Take what a seat signs; return None if it was taken before.

    Raises:
        RefusedError: It is not taken.
    """
    mid = message.match
    if mid is None:
        return _sign_terms(lobby, peer, player, message)
    place = place_of(lobby, peer, player, message, mid)
    # Decision 17: after a restore nothing is taken before every player is back; the answer comes then.
    if place.game.hold.unheard:
        place.game.hold.put_off(peer, message, partial(_sign_late, lobby, peer, player, message, mid))
        return trio.current_time(), False
    record = Record(place.seat + 1, message.body, message.sig)
    # All that can be compared for nothing, so that nobody makes the server check signatures in vain
    # (test_cheap_checks.py).
    prechecked = precheck_sub(place.game, record, player) if place.stands_by else precheck(place.game, record)
    match prechecked:  # a pattern, as `isinstance` is a call
        # session.md: to send the same bytes again is always safe.
        case RepeatedBody():
            _answer_again(peer, message, prechecked)
            return None
        case _:
            pass
    if prechecked.ledger.sealed is not None:
        sent = _SentStep(lobby, peer, player, message, mid, place, prechecked, trio.current_time())
        return await _sign_step(checks.steps, sent)
    # In a thread of its own: a check takes 113 µs, and on the main thread a signed act would cost 25 to 30 %
    # more. Meanwhile the loop serves others, and the match may go on without this record.
    signed = await checks.signatures.run(verified, player.id, prechecked)
    # Only what can have changed meanwhile is prechecked at again; `accept` does so for the position.
    if not peer.is_open:  # lost or told to go meanwhile: nobody is left to be answered
        return None
    if not place.is_kept_by(peer, player):
        place = _place_again(lobby, peer, player, message, mid=mid, signed=signed)
    taken_at = _take_signed(lobby, peer, player, message, place=place, signed=signed)
    return None if taken_at is None else (taken_at, False)


async def _sign_step(steps: Worker, sent: _SentStep) -> Taken | None:
    """Take what a seat signs of a hand in mode blind; return None if it was taken before."""
    checking = sent.place.game.blind_steps
    if checking is None:
        raise ValueError("no hand is sealed at a table whose server deals")
    match sent.prechecked.body:
        case Release(seat=seat) if not checking.has_link(seat):
            return await _open(steps, checking, sent, seat)
        case _:
            pass
    # One at a time: to check a mask takes 3 ms, a link 8 to 20, and what is found is good for one position
    # alone. Any other order would check the later ones again.
    async with checking.mutex:
        return await _sign_alone(steps, sent)


async def _sign_alone(steps: Worker, sent: _SentStep) -> Taken | None:
    """Take one record alone, in its turn."""
    peer, player, message, place, prechecked = (
        sent.peer,
        sent.player,
        sent.message,
        sent.place,
        sent.prechecked,
    )
    while True:
        if place.game.ledger is not prechecked.ledger:
            again = precheck(place.game, prechecked.record)
            if isinstance(again, RepeatedBody):
                _answer_again(peer, message, again)
                return None
            prechecked = again
        held = () if place.game.keys is None else place.game.keys.bodies()
        signed = await steps.run(judged, player.id, prechecked, held)
        if not peer.is_open:
            return None
        if not place.is_kept_by(peer, player):
            place = _place_again(sent.lobby, peer, player, message, mid=sent.mid, signed=signed)
        if place.game.ledger is prechecked.ledger:
            # play.md, "Who is there, and time": what the check has taken costs the seat nothing
            taken_at = _take_signed(
                sent.lobby, peer, player, message, place=place, signed=signed, came=sent.came
            )
            is_step = not isinstance(prechecked.body, _DECISIONS)
            return None if taken_at is None else (trio.current_time(), is_step)


async def _open(steps: Worker, checking: StepsInTurn, sent: _SentStep, seat: int) -> Taken | None:
    """Take a seat's link, with those of the others if they come within a moment."""
    table, game = sent.place.table, sent.place.game
    link = SentLink(sent.prechecked, sent.peer, sent.player, sent.message)
    # A hand that is over is opened by all seats at once. Judged together their links take half the time, so
    # that each waits a moment (`blind_hands.GATHER_S`), but only for seats that are connected.
    with checking.keep_waiting(seat, link):
        await checking.gather({*seats_unopened(game.ledger)}.intersection(table.audience.online))
        async with checking.mutex:
            # Else whoever had the turn before has judged this one with their own.
            if link.answer is None:
                await _take_together(steps, table, game, checking.links(game.ledger))
            if link.answer is None:  # something has changed meanwhile
                return await _sign_alone(steps, sent)
    return link.answer.unwrap(), True


async def _take_together(steps: Worker, table: Table, game: Game, links: Sequence[SentLink]) -> None:
    """Judge links and take them in one go; what cannot be taken so, as something has changed meanwhile, is not answered."""
    ledger = game.ledger
    here = [link for link in links if link.placed.ledger is ledger]
    if not here:
        return
    found = await steps.run(judged_together, [(link.player.id, link.placed) for link in here])
    if table.game is not game or game.ledger is not ledger:
        return
    turns = [
        (link, turn)
        for link, signed in zip(here, found, strict=True)
        if (turn := _turn_of(table, game, link, signed)) is not None
    ]
    # All are committed by now; the match goes on once, behind every answer.
    for link, turn in turns:
        link.peer.ok(link.request, k=turn.k, dup=False)
    if turns:
        table.go_on(turns[-1][1])


def _turn_of(table: Table, game: Game, link: SentLink, signed: Verified | RefusedBodyError) -> Turn | None:
    """Take one of the links that were judged together; return None if it is refused, or has to be prechecked at again."""
    if not link.peer.is_open or table.board.seat_of(link.player) != link.placed.record.signer - 1:
        return None
    try:
        turn = _accepted(game, signed)
    except RefusedBodyError as error:
        link.answer = outcome.Error(error)
        return None
    if isinstance(turn, RepeatedBody):
        return None  # answered as one, by the same check for it alone
    table.commit(game, turn)
    link.answer = outcome.Value(turn.taken_at)
    return turn


def _accepted(game: Game, signed: Verified | RefusedBodyError) -> Turn | RepeatedBody:
    if isinstance(signed, RefusedBodyError):
        raise signed
    return accept(game, signed)


def _place_again(
    lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct, *, mid: bytes, signed: Verified
) -> ActPlace:
    """Find the place of an act again, as something changed while it was checked.

    Raises:
        RefusedError: The player does not have the seat any more.
    """
    place = place_of(lobby, peer, player, message, mid)
    if place.seat != signed.placed.record.signer - 1:
        expected = f"expected a player who still has their seat at table {place.table.code}"
        raise RefusedRequestError(Code.NOT_SEATED, expected)
    return place


def _take_signed(
    lobby: Lobby,
    peer: Peer,
    player: LoggedInPlayer,
    message: SignedAct,
    *,
    place: ActPlace,
    signed: Verified,
    came: float | None = None,
) -> float | None:
    """Take a record whose signature is good into the match as it stands now; it `came` now, or at that moment."""
    table, game = place.table, place.game
    match signed.placed.body:
        case Keys():
            # All keys of a place open its card: none are told while a seat could still keep its own back.
            return _hold(peer, table, game, message, signed)
        case _:
            pass
    if place.stands_by:
        turn = lobby.substitute(table, game, peer, player, signed)
        peer.ok(message, k=turn.k, dup=False)
        table.go_on(turn)
        return turn.taken_at
    taken = accept(game, signed, came=came)
    match taken:
        case RepeatedBody():
            _answer_again(peer, message, taken)
            return None
        case _:
            table.take(game, taken, peer, message)
    return taken.taken_at


def _hold(peer: Peer, table: Table, game: Game, message: SignedAct, signed: Verified) -> float | None:
    """Hold keys of mode blind until every seat that owes some has sent its own; the answer comes when they are written."""
    placed = accept_keys(game, signed)
    if isinstance(placed, RepeatedBody):
        _answer_again(peer, message, placed)
        return None
    table.hold_keys(game, placed.record.signer - 1, KeysHeldBack(placed, peer, message))
    return trio.current_time()


def _answer_again(peer: Peer, message: SignedAct | GuestAct, repeated: RepeatedBody) -> None:
    """Answer an act that was taken before."""
    peer.ok(message, k=repeated.k, dup=True)


def _sign_late(
    lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct, mid: bytes
) -> float | None:
    """Take what a seat has signed and was put off; it is rare enough to be checked on the main thread.

    Raises:
        RefusedError: It is not taken.
    """
    place = place_of(lobby, peer, player, message, mid)
    record = Record(place.seat + 1, message.body, message.sig)
    prechecked = precheck_sub(place.game, record, player) if place.stands_by else precheck(place.game, record)
    if isinstance(prechecked, RepeatedBody):
        _answer_again(peer, message, prechecked)
        return None
    return _take_signed(lobby, peer, player, message, place=place, signed=verified(player.id, prechecked))


def _sign_terms(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct) -> Taken | None:
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    if player.kind is not PlayerKind.KEY:
        raise wrong_way_to_act(message)
    if table.pending_terms is None:
        raise RefusedRequestError(Code.TERMS_REFUSED, "there are no terms to be signed now")
    fresh = table.sign_terms(table.pending_terms, seat, Record(seat + 1, message.body, message.sig))
    peer.ok(message, dup=not fresh)
    if fresh:
        table.begin_if_signed()
    return (trio.current_time(), False) if fresh else None


def choose(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: GuestAct) -> Taken | None:
    """Take what a guest chooses; return None if it was taken before.

    Raises:
        RefusedError: It is not taken.
    """
    place = place_of(lobby, peer, player, message, message.match)
    table, game, seat = place.table, place.game, place.seat
    if game.hold.unheard:
        game.hold.put_off(peer, message, partial(choose, lobby, peer, player, message))
        return trio.current_time(), False
    turn = accept_choice(game, seat, message)
    match turn:
        case RepeatedBody():
            _answer_again(peer, message, turn)
            return None
        case _:
            table.take(game, turn, peer, message)
    game.guest_choices[seat] = message.at, message.choose, message.p
    return turn.taken_at, False


def _in_match(
    lobby: Lobby, player: LoggedInPlayer, message: ClaimMatch | WantRekey
) -> tuple[Table, int, Game]:
    """Return the table, the player's seat and the match that a request is about, if the match takes anything now.

    Raises:
        RefusedError: There is none for this player, or it is held.
    """
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    game = table.own_game(message.match, player)
    game.hold.check_not_held()
    return table, seat, game


def speak(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: BoxedSign | OpenSign | Say) -> None:
    """Pass on a seat's sign to its partners, or its words to the table.

    Raises:
        RefusedError: It cannot be said, or not now, or the seat says too much.
    """
    table = lobby.table(message.table)
    seat, passed_on = table.own_seat(player), replace(message, table=table.code)
    match passed_on:
        case Say():
            table.talk.say(seat, player.tag, passed_on)
        case BoxedSign() | OpenSign():
            game = table.own_game(passed_on.match, player)
            game.hold.check_not_held()
            table.talk.sign(game, seat, player.tag, passed_on)
        case _:
            assert_never(passed_on)
    peer.ok(message)


def claim(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: ClaimMatch) -> None:
    """End a match at a seat's request, because the other side is away.

    Raises:
        RefusedError: It is not away, or not for long enough, or the match is over.
    """
    table, seat, game = _in_match(lobby, player, message)
    # Said first: whoever claims too late would else be told to wait for a player who need not come back.
    if game.ledger.phase in (Phase.OVER, Phase.ENDED):
        raise RefusedRequestError(Code.NOT_NOW, "expected a match that goes on")
    turn = game.claim(seat, table.audience.online)
    table.commit(game, turn)
    peer.ok(message, k=turn.k)
    table.go_on()


def want_rekey(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: WantRekey) -> None:
    """Note that a seat wants time to start a new chain.

    Raises:
        RefusedError: It may not start one.
    """
    table, seat, game = _in_match(lobby, player, message)
    game.clock.wish(seat)
    peer.ok(message)
    if game.ledger.phase is Phase.BETWEEN:
        table.go_on()  # everybody is told again for whom the call is held back: perhaps for one seat more
