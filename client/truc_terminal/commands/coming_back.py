"""Coming back to a seat: which one first, whether it can be played from here, and which seats others have taken.

Taking a seat ends the session of whoever plays it, which may be another home with the same key. Invariant: no seat is
taken before it was looked at, and none for a home that cannot play it.
"""

from typing import NamedTuple

from truc_client.connection import Connection
from truc_client.errors import ClientError
from truc_client.home.store import Joined
from truc_client.home.transcripts import path_of
from truc_client.matches.standing import NOT_HERE, PLAYED_ELSEWHERE
from truc_client.table_preview import Glance
from truc_protocol.errors import Code
from truc_protocol.messages import SeatHeld
from truc_terminal.screen.screen import Screen
from truc_words import Sentence, shown_name


class Place(NamedTuple):
    """A seat that the player holds, and what its table shows."""

    held: SeatHeld
    glance: Glance

    @property
    def is_played(self) -> bool:
        """Whether a match is on there, as far as can be seen."""
        state = self.glance.state
        return self.held.match is not None and (state is None or state.state == "playing")

    @property
    def is_online(self) -> bool:
        """Whether another connection of the player has the seat now."""
        return self.glance.is_online(self.held.seat)


async def places(connection: Connection, code: str | None) -> tuple[Place, ...]:
    """Return every seat of the player, or those at one table: running matches first, seats without a match last."""
    seats = [held for held in connection.held if code in (None, held.table)]
    found = [Place(held, await connection.glance(held.table)) for held in seats]
    return tuple(sorted(found, key=lambda place: (not place.is_played, place.held.match is None)))


def check_here(connection: Connection, place: Place) -> None:
    """Check that a match can be played from this home, as far as can be seen without taking the seat.

    Raises:
        ClientError: The secrets in force are not here.
    """
    mid = place.held.match
    if mid is None or connection.session.account.is_guest or not place.is_played:
        return
    own, store = _own_box_keys(connection, place.held), connection.session.account.store
    if not own and (place.glance.state is not None or store.playing(mid) is None):
        raise ClientError(NOT_HERE)
    in_force = place.glance.box_key(mid, place.held.seat)
    if own and in_force is not None and in_force not in own:
        raise ClientError(PLAYED_ELSEWHERE)


def _own_box_keys(connection: Connection, held: SeatHeld) -> frozenset[bytes]:
    store = connection.session.account.store
    return frozenset(
        chain.x
        for joined in store.held(connection.session.first_spk)
        if joined.code == held.table and joined.mid in (None, held.match)
        for chain in store.chains(joined.th)
    )


async def tell_lost_seats(connection: Connection, code: str | None, screen: Screen) -> None:
    """Name each seat that somebody else has taken in a match whose end this home has not seen.

    Raises:
        ClientError: The seat is at the table asked for, and the match is still on.
    """
    if connection.session.account.is_guest:
        return
    matches = {held.match for held in connection.held}
    for joined in connection.session.account.store.held(connection.session.first_spk):
        if joined.mid is None or joined.mid in matches or code not in (None, joined.code):
            continue
        glance = await connection.glance(joined.code)
        told = _lost(connection, joined, joined.mid, glance)
        if told is None:
            continue
        if code is not None and (glance.state is None or glance.state.state == "playing"):
            raise ClientError(told)
        screen.say(told, "yellow")


def _lost(connection: Connection, joined: Joined, mid: bytes, glance: Glance) -> Sentence | None:
    """Return the sentence about a seat that somebody else has; None if the table no longer shows that match."""
    state = glance.state
    if state is None and (glance.refused is None or glance.refused.code != Code.PRIVATE_TABLE):
        return None
    if state is not None and state.match != mid:
        return None
    successor = glance.successor(mid, joined.seat)
    if successor is None:
        told = Sentence("commands.seat_taken", table=joined.code)
    else:
        who = {"name": shown_name(successor.name, joined.seat), "k": successor.k}
        told = Sentence("commands.seat_taken_by", table=joined.code, **who)
    path = path_of(connection.session.account.home.transcripts, mid)
    return Sentence("commands.transcript_so_far", told=told, path=path) if path.exists() else told
