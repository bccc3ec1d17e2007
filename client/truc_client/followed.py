"""Everything that one connection follows, and which part of it a message is for.

A fault at one table ends that table alone. Invariant: a table has one `Following`, whoever asks for it.
"""

from typing import TYPE_CHECKING, Final

from truc_client.errors import ClientError
from truc_client.happenings import Called
from truc_client.reports import Reports, called
from truc_client.table_session import Following
from truc_protocol.messages import BotWanted, Draining, PlayersWanted, SeatHeld, ServerMessage, TableState

if TYPE_CHECKING:
    from truc_client.lobby import LobbyFollowing
    from truc_client.table_preview import Glance

_MAX_UNCLAIMED: Final = 64


class Followed:
    """The tables and the lobby that one connection follows, and the calls it brings to a bot that wants them."""

    def __init__(self, *, is_called: bool) -> None:
        self.calls = Reports[Called]() if is_called else None
        self.tables: dict[str, Following] = {}
        self.glances: dict[str, Glance] = {}
        self.lobby: LobbyFollowing | None = None
        self._seeking = 0
        self._unclaimed: dict[str, TableState] = {}
        self._is_closed = False

    def begin_seeking(self) -> None:
        """Keep what is shown of tables that are not followed yet: the reply that names one of them comes later."""
        self._seeking += 1

    def end_seeking(self) -> None:
        """Note that a reply has come, or will not."""
        self._seeking -= 1
        if not self._seeking:
            self._unclaimed.clear()

    def claim(self, following: Following) -> None:
        """Follow a table that a reply has named, beginning with what was shown of it before."""
        self.tables[following.code] = following
        state = self._unclaimed.pop(following.code, None)
        if state is not None:
            following.handle(state)

    def handle(self, message: ServerMessage) -> None:
        """Give a message to whoever it is for; after the close it is for nobody."""
        if self._is_closed:
            return
        if self.lobby is not None:
            self.lobby.handle(message)
        match message:
            case BotWanted() | PlayersWanted():
                self._hear_call(message)
            case Draining():
                for following in tuple(self.tables.values()):
                    following.handle(message)
            case _:
                self._give(message)

    def _give(self, message: ServerMessage) -> None:
        """Give a message to its table, if it has one."""
        code: str | None = getattr(message, "table", None)
        if code is None:
            return
        following, glance = self.tables.get(code), self.glances.get(code)
        if following is not None:
            following.handle(message)
        elif glance is not None:
            glance.handle(message)
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
        for following in tuple(self.tables.values()):
            following.interrupted(reason)

    def reconnected(self, held: tuple[SeatHeld, ...]) -> None:
        """Note that the connection is back, with the seats that the player holds."""
        for following in tuple(self.tables.values()):
            following.reconnected(held)

    def fail(self, error: ClientError) -> None:
        """Note that the connection is gone for good."""
        if self.lobby is not None:
            self.lobby.fail(error)
        if self.calls is not None:
            self.calls.fail(error)
        for following in tuple(self.tables.values()):
            following.fail(error)

    def close(self) -> None:
        """Close every transcript."""
        self._is_closed = True
        for following in tuple(self.tables.values()):
            following.close()
