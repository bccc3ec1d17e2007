"""A table as values: what never changes about it, who sits where, and both as they are stored and shown."""

from typing import Literal, NamedTuple

from truc_protocol.messages import SeatState, TableState
from truc_server.options import Chosen, Options
from truc_server.peer import Player
from truc_server.store import PlayerKind, SaveSeat, SaveTable

State = Literal["open", "terms", "playing", "over"]


class Made(NamedTuple):
    """What never changes about a table."""

    code: str
    chosen: Chosen
    seats: int
    options: Options
    private: bool
    creator: bytes
    created_ms: int


class Seated(NamedTuple):
    """A taken seat; `x` is a guest's box key for the next match."""

    player: Player
    is_ready: bool = False
    x: bytes | None = None


def table_row(made: Made, document: bytes, state: State, match: bytes | None) -> SaveTable:
    """Return what is stored of a table."""
    return SaveTable(
        made.code,
        made.chosen.variant.name,
        made.options,
        made.seats,
        made.private,
        made.creator,
        made.created_ms,
        document,
        state,
        match,
    )


def seat_row(code: str, seat: int, seated: Seated) -> SaveSeat:
    """Return what is stored of a seat."""
    player = seated.player
    return SaveSeat(code, seat, player.kind, player.id, player.name, seated.is_ready, seated.x)


def seat_state(seat: int, seated: Seated | None, *, online: bool) -> SeatState:
    """Return a seat as everybody may see it."""
    if seated is None:
        return SeatState(seat=seat, kind="empty")
    kind: Literal["key", "guest"] = "key" if seated.player.kind is PlayerKind.KEY else "guest"
    return SeatState(seat=seat, kind=kind, name=seated.player.name, ready=seated.is_ready, online=online)


def table_state(
    made: Made,
    rules: bytes,
    seats: tuple[SeatState, ...],
    *,
    state: State,
    match: bytes | None,
    expires_ms: int | None,
) -> TableState:
    """Return the full state of a table, as it is sent."""
    return TableState(
        table=made.code,
        variant=made.chosen.variant.name,
        rules=rules,
        seats=seats,
        n=made.seats,
        state=state,
        match=match,
        private=made.private,
        options=dict(made.options),
        opts=tuple(made.chosen.opts),
        policy=made.chosen.variant.reveal,
        expires_ms=expires_ms,
    )
