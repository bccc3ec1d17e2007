"""What a seat signs of a hand in mode blind: points and links take milliseconds to check, in a thread of their own.

What was found is good for the position in which it was looked at; if the match goes on meanwhile, it is looked at again. So
what is signed in a match is checked one after the other, but for the links that open a hand: all seats send theirs at once, and
they are judged together.
"""

from collections.abc import Sequence
from typing import Final

import outcome

from truc_protocol.bodies import Act, Release, Resign
from truc_protocol.ledger import unopened
from truc_server.matches.acceptance import (
    RefusedBodyError,
    Repeated,
    Verified,
    accept,
    judged,
    judged_together,
    look,
)
from truc_server.matches.game import Game, Turn
from truc_server.matches.steps_in_turn import Link, StepsInTurn
from truc_server.operation.worker import Worker
from truc_server.requests.acts import Sent, Taken, answer_again, place_again, take_signed
from truc_server.tables.table import Table

_DECISIONS: Final = (Act, Resign)
"""What a seat signs of a hand that is no step with its pack."""


async def sign_step(steps: Worker, sent: Sent) -> Taken | None:
    """Take what a seat signs of a hand; return None if it was not new.

    Raises:
        RefusedError: It is not taken.
    """
    checking = sent.place.game.checking
    if checking is None:
        raise ValueError("no hand is sealed at a table whose server deals")
    match sent.looked.body:
        case Release(seat=seat) if not checking.has_link(seat):
            return await _open(steps, checking, sent, seat)
        case _:
            pass
    async with checking.turn:
        return await _sign(steps, sent)


async def _sign(steps: Worker, sent: Sent) -> Taken | None:
    """Take one record alone, in its turn."""
    peer, player, message, place, looked = sent.peer, sent.player, sent.message, sent.place, sent.looked
    while True:
        if place.game.ledger is not looked.ledger:
            again = look(place.game, looked.record)
            if isinstance(again, Repeated):
                answer_again(peer, message, again)
                return None
            looked = again
        held = () if place.game.keys is None else place.game.keys.bodies()
        signed = await steps.run(judged, player.id, looked, held)
        if not peer.is_open:
            return None
        if not place.is_kept_by(peer, player):
            place = place_again(sent.lobby, peer, player, message, mid=sent.mid, signed=signed)
        if place.game.ledger is looked.ledger:
            taken_at = take_signed(sent.lobby, peer, player, message, place=place, signed=signed)
            return None if taken_at is None else (taken_at, not isinstance(looked.body, _DECISIONS))


async def _open(steps: Worker, checking: StepsInTurn, sent: Sent, seat: int) -> Taken | None:
    """Take a seat's link, with those of the others if they come within a moment."""
    table, game = sent.place.table, sent.place.game
    link = Link(sent.looked, sent.peer, sent.player, sent.message)
    with checking.waits(seat, link):
        await checking.gather({*unopened(game.ledger)}.intersection(table.audience.online))
        async with checking.turn:
            if link.answer is None:
                await _take_together(steps, table, game, checking.links(game.ledger))
            if link.answer is None:  # something has changed meanwhile
                return await _sign(steps, sent)
    return link.answer.unwrap(), True


async def _take_together(steps: Worker, table: Table, game: Game, links: Sequence[Link]) -> None:
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
    for link, turn in turns:
        link.peer.ok(link.request, k=turn.k, dup=False)
    if turns:
        table.go_on(turns[-1][1])


def _turn_of(table: Table, game: Game, link: Link, signed: Verified | RefusedBodyError) -> Turn | None:
    """Take one of the links that were judged together; return None if it is refused, or has to be looked at again."""
    if not link.peer.is_open or table.board.seat_of(link.player) != link.placed.record.signer - 1:
        return None
    try:
        turn = _accepted(game, signed)
    except RefusedBodyError as error:
        link.answer = outcome.Error(error)
        return None
    if isinstance(turn, Repeated):
        return None
    table.commit(game, turn)
    link.answer = outcome.Value(turn.taken_at)
    return turn


def _accepted(game: Game, signed: Verified | RefusedBodyError) -> Turn | Repeated:
    if isinstance(signed, RefusedBodyError):
        raise signed
    return accept(game, signed)
