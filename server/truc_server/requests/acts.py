"""What a seat asks of a match: its signed acts, a guest's choices, its words and signs to others, claims and wishes.

Only a signed act waits, while what it signs is checked: it is looked at before, and again afterwards. Invariant: the answer to
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
    Verified,
    accept,
    accept_choice,
    judged,
    judged_together,
    precheck,
    verified,
)
from truc_server.matches.blind_hands import SentStep
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, RepeatedActError
from truc_server.operation.worker import Worker
from truc_server.requests.services import RequestServices
from truc_server.storage import PlayerKind
from truc_server.tables.table import Table

Taken = tuple[float, bool]
"""The moment of Trio's clock at which something was taken, and whether it is what mode blind asks for with the pack of a hand."""


class ActPlace(Struct, frozen=True):
    """An act, and where it belongs, found once; `stands_by` if the player does not have the seat yet."""

    lobby: Lobby
    peer: Peer
    player: LoggedInPlayer
    message: SignedAct | GuestAct
    table: Table
    game: Game
    seat: int
    stands_by: bool

    def again(self) -> "ActPlace":
        """Return where the act belongs after a wait: mostly here, as nothing has changed.

        Raises:
            RefusedError: The player does not have the seat any more.
        """
        if self.table.game is self.game:
            if self.stands_by and self.table.standby.seats.get(self.peer) == self.seat:
                return self
            seated = self.table.board.seats[self.seat]
            if not self.stands_by and seated is not None and seated.player.id == self.player.id:
                return self
        place = place_of(self.lobby, self.peer, self.player, self.message)
        if place.seat != self.seat:
            expected = f"expected a player who still has their seat at table {place.table.code}"
            raise RefusedRequestError(Code.NOT_SEATED, expected)
        return place


def place_of(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct | GuestAct) -> ActPlace:
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
    game = table.own_game(message.match, None if stands_by else player)
    return ActPlace(lobby, peer, player, message, table, game, seat, stands_by)


_ACTORS: Final = {SignedAct: PlayerKind.KEY, GuestAct: PlayerKind.GUEST}
# What a seat signs of a hand that is no step with its pack: steps have a budget of their own
# (`usage_limits.STEPS`).
_DECISIONS: Final = (Act, Resign)


def wrong_way_to_act(message: SignedAct | GuestAct) -> RefusedRequestError:
    """Return the refusal of an act that is not made in the way of its player's kind."""
    if isinstance(message, SignedAct):
        return RefusedRequestError(Code.NOT_NOW, "expected a choice: a guest signs nothing", field="body")
    return RefusedRequestError(Code.NOT_NOW, "expected a signed act from a player with a key", field="choose")


async def sign(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct
) -> Taken | None:
    """Take what a seat signs; return None if it was taken before, or nobody is left to be answered.

    Raises:
        RepeatedActError: It stands in the match already.
        RefusedError: It is not taken.
    """
    if message.match is None:
        return _sign_terms(lobby, peer, player, message)
    place = place_of(lobby, peer, player, message)
    # Decision 17: after a restore nothing is taken before every player is back; the answer comes then.
    if place.game.hold.unheard:
        place.game.hold.put_off(peer, message, partial(_sign_late, lobby, peer, player, message))
        return trio.current_time(), False
    # All that can be compared for nothing, so that nobody makes the server check signatures in vain
    # (test_cheap_checks.py).
    record = Record(place.seat + 1, message.body, message.sig)
    prechecked = precheck(place.game, record, player if place.stands_by else None)
    if prechecked.ledger.blind_hand is not None:
        return await _sign_step(services.steps, place, prechecked, came=trio.current_time())
    # In a thread of its own: a check takes 113 µs, and on the main thread a signed act would cost 25 to 30 %
    # more. Meanwhile the loop serves others, and the match may go on without this record.
    signed = await services.signatures.run(verified, player.id, prechecked)
    # Only what can have changed meanwhile is looked at again; `accept` does so for the position.
    if not peer.is_open:  # lost or told to go meanwhile: nobody is left to be answered
        return None
    return _take_signed(place.again(), signed), False


async def _sign_step(
    steps: Worker, place: ActPlace, prechecked: PlacedRecord, *, came: float
) -> Taken | None:
    """Take what a seat signs of a hand in mode blind, which `came` at that moment."""
    checking = place.game.blind_steps
    if isinstance(prechecked.body, Release) and not checking.has_link(place.seat):
        return await _open(steps, place, prechecked, came=came)
    # One at a time: to check a mask takes 3 ms, a link 8 to 20, and what is found is good for one position
    # alone. Any other order would check the later ones again.
    async with checking.mutex:
        return await _sign_alone(steps, place, prechecked, came=came)


async def _sign_alone(
    steps: Worker, place: ActPlace, prechecked: PlacedRecord, *, came: float
) -> Taken | None:
    """Take one record alone, in its turn."""
    while True:
        if place.game.ledger is not prechecked.ledger:
            prechecked = precheck(place.game, prechecked.record)
        signed = await steps.run(judged, place.player.id, prechecked, place.game.keys.bodies())
        if not place.peer.is_open:
            return None
        place = place.again()
        if place.game.ledger is prechecked.ledger:
            # play.md, "Who is there, and time": what the check has taken costs the seat nothing
            _take_signed(place, signed, came=came)
            return trio.current_time(), not isinstance(prechecked.body, _DECISIONS)


async def _open(steps: Worker, place: ActPlace, prechecked: PlacedRecord, *, came: float) -> Taken | None:
    """Take a seat's link, with those of the others if they come within a moment."""
    table, game, checking = place.table, place.game, place.game.blind_steps
    link = SentStep(prechecked, place.peer, place.player, place.message)
    # A hand that is over is opened by all seats at once. Judged together their links take half the time, so
    # that each waits a moment (`blind_hands.GATHER_S`), but only for seats that are connected.
    with checking.keep_waiting(place.seat, link):
        await checking.gather({*seats_unopened(game.ledger)}.intersection(table.audience.online))
        async with checking.mutex:
            # Else whoever had the turn before has judged this one with their own.
            if link.answer is None:
                await _take_together(steps, table, game, checking.links(game.ledger))
            if link.answer is None:  # something has changed meanwhile
                return await _sign_alone(steps, place, prechecked, came=came)
    return link.answer.unwrap(), True


async def _take_together(steps: Worker, table: Table, game: Game, links: Sequence[SentStep]) -> None:
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


def _turn_of(table: Table, game: Game, link: SentStep, signed: Verified | RefusedBodyError) -> Turn | None:
    """Take one of the links that were judged together; return None if it is refused, or has to be looked at again."""
    if not link.peer.is_open or table.board.seat_of(link.player) != link.placed.record.signer - 1:
        return None
    try:
        if isinstance(signed, RefusedBodyError):
            raise signed
        turn = accept(game, signed)
    except RefusedBodyError as error:
        link.answer = outcome.Error(error)
        return None
    except RepeatedActError:
        return None  # answered as one, by the same check for it alone
    table.commit(game, turn)
    link.answer = outcome.Value(turn.taken_at)
    return turn


def _take_signed(place: ActPlace, signed: Verified, *, came: float | None = None) -> float:
    """Take a record whose signature is good into the match as it stands now; it `came` now, or at that moment."""
    table, game, peer = place.table, place.game, place.peer
    if place.stands_by:
        turn = place.lobby.substitute(table, game, peer, place.player, signed)
        peer.ok(place.message, k=turn.k, dup=False)
        table.go_on(turn)
        return turn.taken_at
    turn = accept(game, signed, came=came)
    match turn.body:
        case Keys():
            # All keys of a place open its card: none are told while a seat could still keep its own back.
            # What follows is found again when all have come; the answer comes then.
            table.hold_keys(game, place.seat, SentStep(signed.placed, peer, place.player, place.message))
        case _:
            table.take(game, turn, peer, place.message)
    return turn.taken_at


def _sign_late(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct) -> None:
    """Take what a seat has signed and was put off; it is rare enough to be checked on the main thread.

    Raises:
        RepeatedActError: It stands in the match already.
        RefusedError: It is not taken.
    """
    place = place_of(lobby, peer, player, message)
    record = Record(place.seat + 1, message.body, message.sig)
    prechecked = precheck(place.game, record, player if place.stands_by else None)
    _take_signed(place, verified(player.id, prechecked))


def _sign_terms(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: SignedAct) -> Taken | None:
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    if player.kind is not PlayerKind.KEY:
        raise wrong_way_to_act(message)
    if table.pending_terms is None:
        raise RefusedRequestError(
            Code.TERMS_REFUSED, "there are no terms to be signed now; any record but `seat` needs `match`"
        )
    fresh = table.sign_terms(table.pending_terms, seat, Record(seat + 1, message.body, message.sig))
    peer.ok(message, dup=not fresh)
    if fresh:
        table.begin_if_signed()
    return (trio.current_time(), False) if fresh else None


def choose(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: GuestAct) -> Taken:
    """Take what a guest chooses.

    Raises:
        RepeatedActError: It was taken before.
        RefusedError: It is not taken.
    """
    place = place_of(lobby, peer, player, message)
    table, game, seat = place.table, place.game, place.seat
    if game.hold.unheard:
        game.hold.put_off(peer, message, partial(choose, lobby, peer, player, message))
        return trio.current_time(), False
    turn = accept_choice(game, seat, message)
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
    table.wish(game, seat)
    peer.ok(message)
    if game.ledger.phase is Phase.BETWEEN:
        table.go_on()  # everybody is told again for whom the call is held back: perhaps for one seat more
