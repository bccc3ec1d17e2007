"""A table looked at for a moment, without taking anything there: how it stands, and who has its seats by what was shown.

Nothing is checked here and nothing kept: it is for deciding whether to take a seat, and whoever takes one checks every
record then. What a table does not show to those who watch is missing.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from truc_protocol.bodies import AnyBody, Rekey, SeatTaken, Sub
from truc_protocol.checks import CheckError
from truc_protocol.messages import MatchRecord, ServerMessage, Setup, TableState
from truc_protocol.records import Record, parse

if TYPE_CHECKING:
    from truc_client.errors import RefusedError


class Successor(NamedTuple):
    """Who took a seat over, and by which record."""

    name: str
    k: int


class Glance:
    """What was seen of a table; `refused` if nothing of its match may be."""

    def __init__(self) -> None:
        self.state: TableState | None = None
        self.refused: RefusedError | None = None
        self._setup: Setup | None = None
        self._records: list[MatchRecord] = []

    def handle(self, message: ServerMessage) -> None:
        """Take a message about the table."""
        match message:
            case TableState():
                self.state = message
            case Setup():
                self._setup, self._records = message, []
            case MatchRecord():
                self._records.append(message)
            case _:
                pass

    def is_online(self, seat: int) -> bool:
        """Tell whether somebody follows the table from a seat now."""
        return self.state is not None and any(each.seat == seat and each.online for each in self.state.seats)

    def box_key(self, mid: bytes, seat: int) -> bytes | None:
        """Return the X25519 key of a seat that is in force in a match; None if that was not shown."""
        if self._setup is None or self._setup.match != mid:
            return None
        in_force: bytes | None = None
        for _, body in self._bodies():
            match body:
                case SeatTaken() | Sub() if body.seat == seat:
                    in_force = body.x
                case Rekey() if body.role == seat + 1:
                    in_force = body.x
                case _:
                    pass
        return in_force

    def successor(self, mid: bytes, seat: int) -> Successor | None:
        """Return who took a seat over in a match, the last of them; None if nobody was shown to."""
        if self._setup is None or self._setup.match != mid:
            return None
        found = None
        for k, body in self._bodies():
            if isinstance(body, Sub) and body.seat == seat:
                found = Successor(body.name.decode(errors="replace"), k)
        return found

    def _bodies(self) -> Iterator[tuple[int, AnyBody]]:
        """Yield what can be read of the setup and of every record, with its place; the setup's are below 0."""
        shown = () if self._setup is None else self._setup.records
        records = [(k - len(shown), Record(*record)) for k, record in enumerate(shown)]
        records += [(each.k, Record(each.signer, each.body, each.sig)) for each in self._records]
        for k, record in records:
            try:
                yield k, parse(record)
            except CheckError:
                continue
