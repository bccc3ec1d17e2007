"""The lobby as a player follows it: `async for` yields how full the server is, what is said, and every table change."""

from collections.abc import Mapping
from types import MappingProxyType

from truc_client.followed import Followed, LobbyFollowing
from truc_client.happenings import LobbyHappening
from truc_client.session import Session
from truc_protocol.messages import Chat, FollowLobby, LobbyState, TableState


class Lobby:
    """The lobby of a server; made by a connection's `lobby`."""

    def __init__(self, session: Session, followed: Followed, following: LobbyFollowing) -> None:
        self._session = session
        self._followed = followed
        self._following = following

    def __aiter__(self) -> "Lobby":
        return self

    async def __anext__(self) -> LobbyHappening:
        """Return what happens next.

        Raises:
            ClientError: The connection is gone for good.
        """
        return await self._following.reports.next()

    @property
    def state(self) -> LobbyState | None:
        """How full the server is; None before it has said so."""
        return self._following.state

    @property
    def tables(self) -> Mapping[str, TableState]:
        """Every public table as last shown, by its code."""
        return MappingProxyType(self._following.tables)

    async def chat(self, text: str) -> None:
        """Say something to everybody who follows the lobby.

        Raises:
            RefusedError: It is no line of text, or too many have been said.
        """
        await self._session.request(lambda n: Chat(id=n, text=text))

    async def leave(self) -> None:
        """Stop following the lobby; the iteration ends."""
        self._followed.lobby = None
        self._following.reports.finish()
        await self._session.request(lambda n: FollowLobby(id=n, off=True))
