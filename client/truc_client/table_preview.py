"""A table looked at for a moment, without joining it: how it stands, and who has its seats, by what it shows.

Nothing is checked or kept here: it helps to decide whether to take a seat, and whoever takes one checks every record
then. What a table does not show to watchers is missing.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from truc_client.errors import RefusedError
from truc_client.paging import Past, PastRecord
from truc_protocol.bodies import AnyBody, Rekey, SeatTaken, Sub
from truc_protocol.checks import CheckError
from truc_protocol.messages import MatchRecord, ServerMessage, Setup, Snapshot, TableState, Unwatch, Watch
from truc_protocol.records import Record, parse

if TYPE_CHECKING:
    from truc_client.line.line import ServerLine


class Successor(NamedTuple):
    """Who took a seat over, and the position of the record."""

    name: str
    k: int


class TablePreview:
    """What was seen of a table; `refused` is why its match may not be seen, if it may not."""

    def __init__(self) -> None:
        self.state: TableState | None = None
        self.refused: RefusedError | None = None
        self._setup: Setup | Snapshot | None = None
        self._records: list[MatchRecord | PastRecord] = []

    def handle(self, message: ServerMessage) -> None:
        """Take a message about the table."""
        match message:
            case TableState():
                self.state = message
            case Setup() | Snapshot():
                self._setup, self._records = message, []
            case MatchRecord():
                self._records.append(message)
            case _:
                pass

    @property
    def missing(self) -> Snapshot | None:
        """The snapshot before which the records were not shown, if there is one."""
        return self._setup if isinstance(self._setup, Snapshot) else None

    def recall(self, records: list[PastRecord]) -> None:
        """Take the records that stand before all those shown."""
        self._records[:0] = records

    def is_online(self, seat: int) -> bool:
        """Tell whether somebody follows the table from a seat now."""
        return self.state is not None and any(each.seat == seat and each.online for each in self.state.seats)

    def box_key(self, mid: bytes, seat: int) -> bytes | None:
        """Return the X25519 key in force for a seat in a match; None if it was not shown."""
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
        """Return who last took a seat over in a match; None if no such record was shown."""
        if self._setup is None or self._setup.match != mid:
            return None
        found = None
        for k, body in self._bodies():
            if isinstance(body, Sub) and body.seat == seat:
                found = Successor(body.name.decode(errors="replace"), k)
        return found

    def _bodies(self) -> Iterator[tuple[int, AnyBody]]:
        """Yield every readable body of the setup and the records, with its position; those of the setup are below 0."""
        shown = () if self._setup is None else self._setup.records
        records = [(k - len(shown), Record(*record)) for k, record in enumerate(shown)]
        records += [(each.k, Record(each.signer, each.body, each.sig)) for each in self._records]
        for k, record in records:
            try:
                yield k, parse(record)
            except CheckError:
                continue


async def look(line: "ServerLine", code: str, preview: TablePreview) -> None:
    """Let a preview take all that a watcher of a table may see, then stop watching."""
    try:
        await line.request(lambda n: Watch(id=n, table=code))
        await line.request(lambda n: Unwatch(id=n, table=code))
        if preview.missing is not None:
            await _recall(line, preview, preview.missing)
    except RefusedError as error:
        preview.refused = error


async def _recall(line: "ServerLine", preview: TablePreview, snapshot: Snapshot) -> None:
    records: list[PastRecord] = []
    async for record in Past(line, snapshot.match):
        if record.k >= snapshot.k:
            break
        records.append(record)
    preview.recall(records)
