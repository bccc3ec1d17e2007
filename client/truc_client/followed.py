"""Everything that one connection follows, and which part of it a message is for.

The loss of the connection is passed to all of it, and all of it goes on once the line is open again. The lobby shows
everything again then: a table that it does not show has closed meanwhile. A fault at one table ends that table alone.
Invariant: a table has one `TableSession`, whoever asks for it.
"""

from typing import TYPE_CHECKING, Final

from truc_client.errors import ClientError
from truc_client.happenings import Called
from truc_client.line.entering import Entered
from truc_client.lobby import LobbyFeed
from truc_client.reports import Reports, called
from truc_client.session import Session
from truc_client.table_session import TableSession
from truc_protocol.messages import (
    BotWanted,
    Capabilities,
    Draining,
    HostSays,
    PlayersWanted,
    ServerMessage,
    TableState,
)

if TYPE_CHECKING:
    from truc_client.table_preview import TablePreview

_MAX_UNCLAIMED: Final = 64


class Followed:
    """The tables and the lobby that one connection follows, and the calls it brings to a bot that wants them."""

    def __init__(self, session: Session, *, is_called: bool) -> None:
        self._session = session
        self.calls = Reports[Called]() if is_called else None
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
        """Follow a table from scratch."""
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
        table = self.follow(code, seat)
        state = self._unclaimed.pop(code, None)
        if state is not None:
            table.handle(state)
        return table

    def handle(self, message: ServerMessage) -> None:
        """Give a message to whoever it is for; after the close it is for nobody."""
        if isinstance(message, Capabilities):
            self._session.renew(message)
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
        if len(self._unclaimed) > _MAX_UNCLAIMED:
            del self._unclaimed[next(iter(self._unclaimed))]

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        if self.lobby is not None:
            self.lobby.interrupted(reason)
        for table in tuple(self.tables.values()):
            table.interrupted(reason)

    def ask_again(self) -> None:
        """Ask at each table for what may be lost."""
        for table in tuple(self.tables.values()):
            table.ask_again()

    def returned(self, entered: Entered) -> None:
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
