"""Requests of a seat in a match: what it signs, what a guest chooses, what it says and signs to others, and claims.

Synchronous. Invariant: the answer to an act comes after the record, and the match goes on after the answer.
"""

from typing import assert_never

from msgspec.structs import replace

from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSign, ClaimMatch, GuestAct, OpenSign, Say, SignedAct, WantRekey
from truc_protocol.records import Record
from truc_server.connections.peer import Peer, Player, RefusedError
from truc_server.lobby.lobby import Lobby
from truc_server.matches.game import Game
from truc_server.matches.proxies import accept_choice
from truc_server.matches.signed import Accepted, accept
from truc_server.store import PlayerKind
from truc_server.tables.table import Table


def act(lobby: Lobby, peer: Peer, player: Player, message: SignedAct | GuestAct) -> bool:
    """Take what a seat signs, or a guest chooses; tell whether it was new.

    Raises:
        RefusedError: It is not taken.
    """
    table = lobby.table(message.table)
    match message:
        case SignedAct(match=bytes() as mid) if table.standins.seat_of(peer) is not None:
            return _substitute(lobby, peer, player, message, mid)
        case SignedAct():
            return _sign(table, peer, player, message)
        case GuestAct():
            return _choose(table, peer, player, message)
        case _:
            assert_never(message)


def _substitute(lobby: Lobby, peer: Peer, player: Player, message: SignedAct, mid: bytes) -> bool:
    table = lobby.table(message.table)
    game = table.own_game(mid)
    record = Record(table.standins.own_seat(peer) + 1, message.body, message.sig)
    return _answer(peer, game, message, lobby.substitute(table, game, peer, player, record))


def _sign(table: Table, peer: Peer, player: Player, message: SignedAct) -> bool:
    seat = table.own_seat(player)
    if player.kind is not PlayerKind.KEY:
        raise RefusedError(Code.NOT_NOW, "expected a choice: a guest signs nothing", field="body")
    record = Record(seat + 1, message.body, message.sig)
    if message.match is None:
        return _sign_terms(peer, table, seat, record, message)
    game = table.own_game(message.match, player)
    return _answer(peer, game, message, accept(game, record))


def _sign_terms(peer: Peer, table: Table, seat: int, record: Record, message: SignedAct) -> bool:
    if table.gathering is None:
        raise RefusedError(Code.TERMS_REFUSED, "there are no terms to be signed now")
    fresh = table.gathering.sign(seat, record)
    peer.ok(message, dup=not fresh)
    if fresh:
        table.begin_if_signed()
    return fresh


def _choose(table: Table, peer: Peer, player: Player, message: GuestAct) -> bool:
    seat = table.own_seat(player)
    if player.kind is not PlayerKind.GUEST:
        raise RefusedError(Code.NOT_NOW, "expected a signed act from a player with a key", field="choose")
    game = table.own_game(message.match, player)
    return _answer(peer, game, message, accept_choice(game, seat, message))


def _answer(peer: Peer, game: Game, message: SignedAct | GuestAct, accepted: Accepted) -> bool:
    peer.ok(message, k=accepted.k, dup=accepted.is_repeat)
    if not accepted.is_repeat:
        game.drive()
    return not accepted.is_repeat


def speak(lobby: Lobby, peer: Peer, player: Player, message: BoxedSign | OpenSign | Say) -> None:
    """Pass on what a seat signs to its partners, or says to the table.

    Raises:
        RefusedError: It cannot be said, or not now, or the seat says too much.
    """
    table = lobby.table(message.table)
    seat, passed_on = table.own_seat(player), replace(message, table=table.code)
    match passed_on:
        case Say():
            table.talk.say(seat, player.tag, passed_on)
        case BoxedSign() | OpenSign():
            table.talk.sign(table.own_game(passed_on.match, player), seat, player.tag, passed_on)
        case _:
            assert_never(passed_on)
    peer.ok(message)


def claim(lobby: Lobby, peer: Peer, player: Player, message: ClaimMatch) -> None:
    """End a match for a seat, because the other side is away.

    Raises:
        RefusedError: It is not, or not for long enough.
    """
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    game = table.own_game(message.match, player)
    peer.ok(message, k=game.claim(seat))
    game.drive()


def wish(lobby: Lobby, peer: Peer, player: Player, message: WantRekey) -> None:
    """Note that a seat wants time for a new chain.

    Raises:
        RefusedError: It may not start one.
    """
    table = lobby.table(message.table)
    seat = table.own_seat(player)
    game = table.own_game(message.match, player)
    game.wish(seat)
    peer.ok(message)
    game.remind()
