"""A table as values: what never changes about it, who sits where, and both as they are stored and shown."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from truc_protocol.crypto.keys import admissible_box_public
from truc_protocol.errors import Code
from truc_protocol.messages import Setup, Terms
from truc_protocol.setup import MatchSetup, MatchTerms
from truc_server.net.peer import Player, RefusedError
from truc_server.storage import AddPlayer, DropTerms, PlayerKind, SaveMatch, SaveSeat
from truc_server.table_data.options import ChosenGame, Options
from truc_server.timing.clock import now_ms

State = Literal["open", "terms", "playing", "over"]


class Blueprint(NamedTuple):
    """What never changes about a table."""

    code: str
    chosen: ChosenGame
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


class Lineup(NamedTuple):
    """A match as it was set up, and the ids of its guests, by seat: the setup has only their names."""

    setup: MatchSetup
    guests: Mapping[int, bytes]


def free_seat(code: str, seats: Sequence[Seated | None], wanted: int | None) -> int:
    """Return the seat that a newcomer gets.

    Raises:
        RefusedError: It is taken, or every seat is, or there is none of that number.
    """
    free = [i for i, seated in enumerate(seats) if seated is None]
    if wanted is not None and wanted >= len(seats):
        message = f"seat: expected 0 to {len(seats) - 1}, got {wanted}"
        raise RefusedError(Code.BAD_MESSAGE, message, field="seat")
    if not free:
        raise RefusedError(Code.TABLE_FULL, f"every seat of table {code} is taken")
    if wanted is not None and wanted not in free:
        raise RefusedError(Code.SEAT_TAKEN, f"seat {wanted} is taken; free: {free}")
    return free[0] if wanted is None else wanted


def check_guest(seats: Sequence[Seated | None], player: Player, *, allowed: int) -> None:
    """Check that a table admits one more player of this kind.

    Raises:
        RefusedError: The player is a guest, and the table has as many as it may.
    """
    if not admits(seats, player, guests=allowed):
        message = f"guests at this table: at most {allowed}, already {_guests(seats)}"
        raise RefusedError(Code.GUESTS_NOT_ALLOWED, message)


def admits(seats: Sequence[Seated | None], player: Player, *, guests: int) -> bool:
    """Tell whether a table that admits so many guests admits one more player of this kind."""
    return player.kind is PlayerKind.KEY or _guests(seats) < guests


def _guests(seats: Sequence[Seated | None]) -> int:
    return sum(seated is not None and seated.player.kind is PlayerKind.GUEST for seated in seats)


def guest_ids(seats: Sequence[Seated | None]) -> dict[int, bytes]:
    """Return the ids of the guests, by seat."""
    return {
        seat: seated.player.id
        for seat, seated in enumerate(seats)
        if seated is not None and seated.player.kind is PlayerKind.GUEST
    }


def check_box_key(seats: Sequence[Seated | None], seat: int, x: bytes | None) -> None:
    """Check that a seat may use this box key in a match.

    Raises:
        RefusedError: It is not sound, or another seat has it.
    """
    others = [seated.x for i, seated in enumerate(seats) if seated is not None and i != seat]
    if x is not None and (x in others or not admissible_box_public(x)):
        raise RefusedError(Code.BAD_MESSAGE, "x: expected a fresh X25519 public key", field="x")


def seat_row(code: str, seat: int, seated: Seated) -> SaveSeat:
    """Return what is stored of a seat."""
    player = seated.player
    return SaveSeat(code, seat, player.kind, player.id, player.name, seated.is_ready, seated.x)


def match_rows(
    made: Blueprint, setup: MatchSetup, seats: Sequence[Seated | None]
) -> tuple[SaveMatch | DropTerms | AddPlayer, ...]:
    """Return what is stored of a match that begins, in place of its terms: the match, and who plays it."""
    terms, readers = setup.terms, made.chosen.transcript
    match = SaveMatch(setup.mid, made.code, terms.document, setup.records, terms.th, made.seats, readers)
    since_ms = now_ms()
    players = (
        AddPlayer(setup.mid, seat, seated.player.id, seated.player.kind, since_ms)
        for seat, seated in enumerate(seats)
        if seated is not None
    )
    return (match, DropTerms(made.code), *players)


def terms_message(code: str, terms: MatchTerms) -> Terms:
    """Return the terms of a match as they are sent."""
    return Terms(table=code, record=terms.record, doc=terms.document)


def setup_message(code: str, setup: MatchSetup) -> Setup:
    """Return the setup of a match as it is sent."""
    return Setup(table=code, match=setup.mid, doc=setup.terms.document, records=setup.records)
