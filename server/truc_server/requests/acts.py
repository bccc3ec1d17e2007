"""What a seat asks of a match: its signed acts, a guest's choices, its words and signs to others, claims and wishes.

Only a signed act waits, while its signature is checked: it is looked at before, and again afterwards. Invariant: the
answer to an act comes after its record, and the match goes on after the answer.
"""

from functools import partial
from typing import assert_never

import structlog
from msgspec.structs import replace

from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSign, ClaimMatch, GuestAct, OpenSign, Say, SignedAct, WantRekey
from truc_protocol.records import Phase, Record
from truc_server.lobby.lobby import Lobby
from truc_server.matches.acceptance import (
    Accepted,
    Looked,
    Signed,
    accept,
    accept_choice,
    look,
    look_at_newcomer,
    signed,
    signed_at_once,
)
from truc_server.matches.game import Game
from truc_server.matches.restore_hold import Hold
from truc_server.net.peer import Peer, Player, RefusedError
from truc_server.net.verifying import Verifier
from truc_server.storage import PlayerKind
from truc_server.table_data.codes import label
from truc_server.tables.table import Table

log = structlog.get_logger()


async def sign(verifier: Verifier, lobby: Lobby, peer: Peer, player: Player, message: SignedAct) -> bool:
    """Take what a seat signs; tell whether it was new.

    Raises:
        RefusedError: It is not taken.
    """
    mid = message.match
    if mid is None:
        return _sign_terms(lobby, peer, player, message)
    table = lobby.table(message.table)
    if hold := _hold(table, player, message):
        hold.put_off(peer, partial(_sign_late, lobby, peer, player, message, mid))
        return True
    looked = _look(table, peer, player, message, mid)
    if isinstance(looked, Accepted):
        return _answer(peer, table.own_game(mid), message, looked)
    record = looked.record
    is_sound = await verifier.is_sound(player.id, record.body, record.sig)
    if not peer.is_open:  # lost or told to go meanwhile: nobody is left to be answered
        return False
    found = signed(player.id, looked, is_sound=is_sound)
    return _take(lobby, peer, player, message, mid=mid, found=found)


def _sign_late(lobby: Lobby, peer: Peer, player: Player, message: SignedAct, mid: bytes) -> None:
    """Take what was put off, and give it the answer it would have had."""
    try:
        table = lobby.table(message.table)
        looked = _look(table, peer, player, message, mid)
        if isinstance(looked, Looked):
            _take(lobby, peer, player, message, mid=mid, found=signed_at_once(player.id, looked))
        else:
            _answer(peer, table.own_game(mid), message, looked)
    except RefusedError as error:
        peer.refuse(error.refusal(message.id))


def _hold(table: Table, player: Player, message: SignedAct | GuestAct) -> Hold | None:
    """Return the hold that puts off an act of a seat's player, if the match is held."""
    game = table.game
    if game is None or not game.hold.is_on or message.match != game.mid:
        return None
    table.own_seat(player)
    return game.hold


def _look(table: Table, peer: Peer, player: Player, message: SignedAct, mid: bytes) -> Looked | Accepted:
    """Make the cheap comparisons, or tell where the record already stands."""
    standing_by = table.standins.seat_of(peer)
    record = _record(table.own_seat(player) if standing_by is None else standing_by, player, message)
    if standing_by is None:
        return look(_game(table, mid, player), record)
    return look_at_newcomer(_game(table, mid), record, player)


def _record(seat: int, player: Player, message: SignedAct) -> Record:
    if player.kind is not PlayerKind.KEY:
        raise RefusedError(Code.NOT_NOW, "expected a choice: a guest signs nothing", field="body")
    return Record(seat + 1, message.body, message.sig)


def _take(lobby: Lobby, peer: Peer, player: Player, message: SignedAct, *, mid: bytes, found: Signed) -> bool:
    """Take a record whose signature is good into the match as it stands now."""
    table = lobby.table(message.table)
    standing_by = table.standins.seat_of(peer)
    seat = table.own_seat(player) if standing_by is None else standing_by
    if found.record.signer != seat + 1:
        raise RefusedError(
            Code.NOT_SEATED, f"expected a player who still has their seat at table {table.code}"
        )
    if standing_by is None:
        game = _game(table, mid, player)
        return _answer(peer, game, message, accept(game, found))
    game = _game(table, mid)
    return _answer(peer, game, message, lobby.substitute(table, game, peer, player, found))


def _sign_terms(lobby: Lobby, peer: Peer, player: Player, message: SignedAct) -> bool:
    table = lobby.table(message.table)
    record = _record(table.own_seat(player), player, message)
    if table.gathering is None:
        raise RefusedError(Code.TERMS_REFUSED, "there are no terms to be signed now")
    fresh = table.gathering.sign(record.signer - 1, record)
    peer.ok(message, dup=not fresh)
    if fresh:
        table.begin_if_signed()
    return fresh


def choose(lobby: Lobby, peer: Peer, player: Player, message: GuestAct) -> bool:
    """Take what a guest chooses; tell whether it was new.

    Raises:
        RefusedError: It is not taken.
    """
    table = lobby.table(message.table)
    if hold := _hold(table, player, message):
        hold.put_off(peer, partial(_choose_late, lobby, peer, player, message))
        return True
    seat = table.own_seat(player)
    if player.kind is not PlayerKind.GUEST:
        raise RefusedError(Code.NOT_NOW, "expected a signed act from a player with a key", field="choose")
    game = _game(table, message.match, player)
    return _answer(peer, game, message, accept_choice(game, seat, message))


def _choose_late(lobby: Lobby, peer: Peer, player: Player, message: GuestAct) -> None:
    """Take what was put off, and give it the answer it would have had."""
    try:
        choose(lobby, peer, player, message)
    except RefusedError as error:
        peer.refuse(error.refusal(message.id))


def _game(table: Table, mid: bytes, player: Player | None = None) -> Game:
    """Return the match of this id at a table, if it takes anything now.

    Raises:
        RefusedError: There is none for this player, or it is held.
    """
    game = table.own_game(mid, player)
    game.hold.check()
    return game


def _answer(peer: Peer, game: Game, message: SignedAct | GuestAct, accepted: Accepted) -> bool:
    peer.ok(message, k=accepted.k, dup=accepted.is_repeat)
    if not accepted.is_repeat:
        if peer.is_traced:
            log.debug("act", table=label(message.table.upper()), k=accepted.k)
        game.drive()
    return not accepted.is_repeat


def speak(lobby: Lobby, peer: Peer, player: Player, message: BoxedSign | OpenSign | Say) -> None:
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
            table.talk.sign(_game(table, passed_on.match, player), seat, player.tag, passed_on)
        case _:
            assert_never(passed_on)
    peer.ok(message)


def claim(lobby: Lobby, peer: Peer, player: Player, message: ClaimMatch) -> None:
    """End a match at a seat's request, because the other side is away.

    Raises:
        RefusedError: It is not away, or not for long enough, or the match is over.
    """
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    game = _game(table, message.match, player)
    if game.ledger.phase in (Phase.OVER, Phase.ENDED):
        raise RefusedError(Code.NOT_NOW, "expected a match that goes on")
    peer.ok(message, k=game.claim(seat))
    game.drive()


def wish(lobby: Lobby, peer: Peer, player: Player, message: WantRekey) -> None:
    """Note that a seat wants time for a new chain.

    Raises:
        RefusedError: It may not start one.
    """
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    game = _game(table, message.match, player)
    game.wish(seat)
    peer.ok(message)
    game.remind()
