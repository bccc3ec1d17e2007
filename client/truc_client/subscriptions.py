"""Everything that one connection follows, and which part of it a message is for.

The loss of the connection is passed to all of it, and all of it goes on once the line is open again. The lobby shows
everything again then: a table that it does not show has closed meanwhile. A fault at one table ends that table alone.
Invariant: a table has one `TableSession`, whoever asks for it.

A preview is a table looked at for a moment, without joining it. Nothing is checked or kept of it: it helps to decide whether
to take a seat, and whoever takes one checks every record then. What a table does not show to watchers is missing.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from truc_client.errors import ClientError, RefusedError
from truc_client.happenings import BotCalled
from truc_client.line.login import LoggedIn
from truc_client.lobby import LobbyFeed
from truc_client.paging import HistoryRecord, HistoryRecords
from truc_client.reports import Reports, called
from truc_client.session import Session
from truc_client.table_session import TableSession
from truc_protocol.bodies import AnyBody, Rekey, SeatTaken, Sub
from truc_protocol.checks import CheckError
from truc_protocol.messages import (
    BotWanted,
    Capabilities,
    Draining,
    HostSays,
    MatchRecord,
    PlayersWanted,
    ServerMessage,
    Setup,
    Snapshot,
    TableState,
    Unwatch,
    Watch,
)
from truc_protocol.records import Record, parse

if TYPE_CHECKING:
    from truc_client.line.line import ServerLine

_MAX_UNCLAIMED: Final = 64


class Subscriptions:
    """The tables and the lobby that one connection follows, and the calls it brings to a bot that wants them."""

    def __init__(self, session: Session, *, is_called: bool) -> None:
        self._session = session
        self.calls = Reports[BotCalled]() if is_called else None
        self.tables: dict[str, TableSession] = {}
        self.previews: dict[str, TablePreview] = {}
        self._lobby: LobbyFeed | None = None
        self._seeking = 0
        self._unclaimed: dict[str, TableState] = {}
        self._is_closed = False

    @property
    def lobby(self) -> LobbyFeed | None:
        """The lobby, while it is followed."""
        return None if self._lobby is None or self._lobby.is_closed else self._lobby

    def follow_lobby(self) -> LobbyFeed:
        """Follow the lobby."""
        self._lobby = LobbyFeed()
        return self._lobby

    def begin_seeking(self) -> None:
        """Keep what is shown of tables that are not followed yet: the reply that names one of them comes later."""
        self._seeking += 1

    def end_seeking(self) -> None:
        """Note that a reply has come, or will not."""
        self._seeking -= 1
        if not self._seeking:
            self._unclaimed.clear()

    def follow(self, code: str, seat: int | None) -> TableSession:
        """Follow a table from scratch; whoever has followed it before hears that this is over."""
        earlier = self.tables.pop(code, None)
        if earlier is not None:
            earlier.close()
        table = self.tables[code] = TableSession(self._session, self.tables, code, seat)
        return table

    def return_to(self, code: str, seat: int | None) -> TableSession:
        """Follow a table, or keep following it; a player who holds a seat there goes on with it."""
        table = self.tables.get(code)
        if table is None:
            table = self.follow(code, seat)
            if any(held.table == code for held in self._session.held):
                table.agreement.agree_on_return()
        return table

    def claim(self, code: str, seat: int | None) -> TableSession:
        """Follow a table that a reply has named, beginning with what was shown of it before."""
        earlier = self.tables.get(code)
        state = self._unclaimed.pop(code, None) if earlier is None else earlier.state
        table = self.follow(code, seat)
        if state is not None:
            table.handle(state)
        return table

    def handle(self, message: ServerMessage) -> None:
        """Give a message to whom it is for; after the close it is for nobody."""
        if isinstance(message, Capabilities):
            self._session.renew(message)
        # a record that is still on its way would open a transcript again
        if self._is_closed:
            return
        if self.lobby is not None:
            self.lobby.handle(message)
        match message:
            case BotWanted() | PlayersWanted():
                self._hear_call(message)
            case Draining() | HostSays():
                for table in tuple(self.tables.values()):
                    table.handle(message)
            case _:
                self._give(message)

    def _give(self, message: ServerMessage) -> None:
        """Give a message to its table, if it has one."""
        code: str | None = getattr(message, "table", None)
        if code is None:
            return
        table, preview = self.tables.get(code), self.previews.get(code)
        if table is not None:
            table.handle(message)
        elif preview is not None:
            preview.handle(message)
        elif self._seeking and isinstance(message, TableState):
            self._keep_unclaimed(message)

    def _hear_call(self, message: BotWanted | PlayersWanted) -> None:
        if self.calls is not None:
            self.calls.say(called(message))

    def _keep_unclaimed(self, state: TableState) -> None:
        self._unclaimed.pop(state.table, None)
        self._unclaimed[state.table] = state
        # a server may show as many as it likes before it answers
        if len(self._unclaimed) > _MAX_UNCLAIMED:
            del self._unclaimed[next(iter(self._unclaimed))]

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        if self.lobby is not None:
            self.lobby.interrupted(reason)
        # a copy: a table that ends meanwhile takes itself out
        for table in tuple(self.tables.values()):
            table.interrupted(reason)

    def ask_again(self) -> None:
        """Ask at each table for what may be lost."""
        for table in tuple(self.tables.values()):
            table.ask_again()

    def returned(self, entered: LoggedIn) -> None:
        """Note that the connection is back; everything followed goes on."""
        self._session.adopt(entered)
        if self.lobby is not None:
            self.lobby.reconnected(self._session)
        for table in tuple(self.tables.values()):
            table.reconnected(self._session.held)

    def fail(self, error: ClientError) -> None:
        """Note that the connection is gone for good."""
        if self.lobby is not None:
            self.lobby.fail(error)
        if self.calls is not None:
            self.calls.fail(error)
        for table in tuple(self.tables.values()):
            table.fail(error)

    def close(self) -> None:
        """Close every transcript."""
        self._is_closed = True
        for table in tuple(self.tables.values()):
            table.close()


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
        self._records: list[MatchRecord | HistoryRecord] = []

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

    def recall(self, records: list[HistoryRecord]) -> None:
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


async def watch_for_a_moment(line: "ServerLine", code: str, preview: TablePreview) -> None:
    """Let a preview take all that a watcher of a table may see, then stop watching."""
    try:
        await line.request(lambda n: Watch(id=n, table=code))
        await line.request(lambda n: Unwatch(id=n, table=code))
        if preview.missing is not None:
            await _recall(line, preview, preview.missing)
    except RefusedError as error:
        preview.refused = error


async def _recall(line: "ServerLine", preview: TablePreview, snapshot: Snapshot) -> None:
    records: list[HistoryRecord] = []
    async for record in HistoryRecords(line, snapshot.match):
        if record.k >= snapshot.k:
            break
        records.append(record)
    preview.recall(records)
