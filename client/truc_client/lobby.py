"""The lobby as a player follows it: `async for` yields how full the server is, what is said, and every table change."""

from collections.abc import Mapping
from types import MappingProxyType

from truc_client.errors import ClientError, RefusedError
from truc_client.happenings import (
    MEANWHILE,
    Interrupted,
    LobbyChanged,
    LobbyHappening,
    TableChanged,
    TableGone,
)
from truc_client.line.single_connection import Answer
from truc_client.reports import Reports, chat_said
from truc_client.session import Session
from truc_protocol import messages
from truc_protocol.messages import (
    Chat,
    ChatLine,
    FollowLobby,
    LobbyState,
    Ok,
    Refusal,
    ServerMessage,
    TableState,
)


class LobbyFeed:
    """What the server says about the lobby, as it comes."""

    def __init__(self) -> None:
        self.state: LobbyState | None = None
        self.tables: dict[str, TableState] = {}
        self.reports = Reports[LobbyHappening]()
        self.is_closed = False
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

        def answered(answer: Answer) -> None:
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
            self.reports.say(TableGone(reason, code))

    def fail(self, error: ClientError) -> None:
        """End with an error."""
        self.reports.fail(error)

    def close(self) -> None:
        """End: it is followed no longer."""
        self.is_closed = True
        self.reports.finish()


class Lobby:
    """The lobby of a server; made by a connection's `lobby`."""

    def __init__(self, session: Session, feed: LobbyFeed) -> None:
        self._session = session
        self._feed = feed

    def __aiter__(self) -> "Lobby":
        return self

    async def __anext__(self) -> LobbyHappening:
        """Return what happens next.

        Raises:
            ClientError: The connection is gone for good.
        """
        return await self._feed.reports.next()

    @property
    def state(self) -> LobbyState | None:
        """How full the server is; None before it has said so."""
        return self._feed.state

    @property
    def tables(self) -> Mapping[str, TableState]:
        """Every public table as last shown, by its code."""
        return MappingProxyType(self._feed.tables)

    async def chat(self, text: str) -> None:
        """Say something to everybody who follows the lobby.

        Raises:
            RefusedError: It is no line of text, or too many have been said.
        """
        await self._session.line.request(lambda n: Chat(id=n, text=text))

    async def leave(self) -> None:
        """Stop following the lobby; the iteration ends."""
        # first: what comes until the server has heard it is told nobody any more
        self._feed.close()
        await self._session.line.request(lambda n: FollowLobby(id=n, off=True))
