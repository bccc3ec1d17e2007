"""Everything that one connection follows, and which part of it a message is for.

The loss of the connection is passed to all of it, and all of it goes on once the line is open again. The lobby shows
everything again then: a table that it does not show has closed meanwhile. A fault at one table ends that table alone.
Invariant: a table has one `Following`, whoever asks for it.
"""

from typing import TYPE_CHECKING, Final

from truc_client.errors import ClientError, RefusedError
from truc_client.happenings import (
    MEANWHILE,
    Called,
    Interrupted,
    LobbyChanged,
    LobbyHappening,
    TableChanged,
    TableClosed,
)
from truc_client.line.entering import Entered
from truc_client.reports import Reports, called, chat_said
from truc_client.session import Session
from truc_client.table_session import Following
from truc_protocol import messages
from truc_protocol.messages import (
    BotWanted,
    Capabilities,
    ChatLine,
    Draining,
    FollowLobby,
    LobbyState,
    Ok,
    PlayersWanted,
    Refusal,
    ServerMessage,
    TableState,
)

if TYPE_CHECKING:
    from truc_client.table_preview import Glance

_MAX_UNCLAIMED: Final = 64


class LobbyFollowing:
    """What the server says about the lobby, as it comes."""

    def __init__(self) -> None:
        self.state: LobbyState | None = None
        self.tables: dict[str, TableState] = {}
        self.reports = Reports[LobbyHappening]()
        self._unseen: set[str] = set()

    def handle(self, message: ServerMessage) -> None:
        """Take a message; what is not about the lobby is ignored."""
        match message:
            case LobbyState():
                self.state = message
                self.reports.say(LobbyChanged(message))
            case TableState(private=False):
                self.tables[message.table] = message
                self._unseen.discard(message.table)
                self.reports.say(TableChanged(message))
            case messages.TableClosed():
                self._close(message.table, message.reason)
            case ChatLine(table=None):
                self.reports.say(chat_said(message))
            case _:
                pass

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now; what was shown may be stale."""
        self._unseen = set(self.tables)
        self.reports.say(Interrupted(reason))

    def reconnected(self, session: Session) -> None:
        """Ask for everything again; a table that is not shown again has closed meanwhile."""

        def answered(answer: Ok | Refusal) -> None:
            match answer:
                case Ok():
                    for code in sorted(self._unseen):
                        self._close(code, MEANWHILE)
                case Refusal():
                    self.fail(RefusedError(answer.code, answer.msg))

        session.post(lambda n: FollowLobby(id=n), answered)

    def _close(self, code: str, reason: str) -> None:
        self._unseen.discard(code)
        if self.tables.pop(code, None) is not None:
            self.reports.say(TableClosed(reason, code))

    def fail(self, error: ClientError) -> None:
        """End with an error."""
        self.reports.fail(error)


class Followed:
    """The tables and the lobby that one connection follows, and the calls it brings to a bot that wants them."""

    def __init__(self, session: Session, *, is_called: bool) -> None:
        self._session = session
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

    def follow(self, code: str, seat: int | None) -> Following:
        """Follow a table from scratch."""
        following = self.tables[code] = Following(self._session, self.tables, code, seat)
        return following

    def return_to(self, code: str, seat: int | None) -> Following:
        """Follow a table, or keep following it; a player who holds a seat there goes on with it."""
        following = self.tables.get(code)
        if following is None:
            following = self.follow(code, seat)
            if any(held.table == code for held in self._session.held):
                following.agreement.agree_on_return()
        return following

    def claim(self, code: str, seat: int | None) -> Following:
        """Follow a table that a reply has named, beginning with what was shown of it before."""
        following = self.follow(code, seat)
        state = self._unclaimed.pop(code, None)
        if state is not None:
            following.handle(state)
        return following

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

    def ask_again(self) -> None:
        """Ask at each table for what may be lost."""
        for following in tuple(self.tables.values()):
            following.ask_again()

    def returned(self, entered: Entered) -> None:
        """Note that the connection is back; everything followed goes on."""
        self._session.adopt(entered)
        if self.lobby is not None:
            self.lobby.reconnected(self._session)
        for following in tuple(self.tables.values()):
            following.reconnected(self._session.held)

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
