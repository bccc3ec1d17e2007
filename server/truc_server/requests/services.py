"""What requests are answered with, beside the lobby."""

from typing import Protocol

from truc_protocol.messages import AnyMessage, Ignore, Seek
from truc_server.identity.identity import Identity
from truc_server.net.grease import Grease
from truc_server.net.peer import LoggedInPlayer, Peer
from truc_server.net.sanctions import Sanctions
from truc_server.net.usage_limits import Pace
from truc_server.operation.figures import Figures
from truc_server.operation.worker import Worker
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings
from truc_server.storage.guest_tokens import GuestTokens
from truc_server.storage.journal import Journal
from truc_server.storage.sql import Store


class RequestServices(Protocol):
    """What requests need of the running server; `dispatch` hands it on.

    Attributes:
        pace: how fast one address may have pages of the store or the lobby, acts, and steps with a pack.
        tokens: finds guests by their tokens.
        signatures: the thread in which the signatures of acts are checked.
        steps: the one in which all there is about a record of a hand in mode blind is checked, so that those need not wait.
        grease: what is put into everything that is sent, to test clients; None unless the host wants it.
        is_node: whether other nodes have tables too.
    """

    settings: CurrentValue[Settings]
    sanctions: CurrentValue[Sanctions]
    identity: Identity
    store: Store
    journal: Journal
    tokens: GuestTokens
    pace: Pace
    figures: Figures
    signatures: Worker
    steps: Worker
    grease: Grease | None
    is_node: bool


class Elsewhere(Protocol):
    """What becomes of a request for what is not here."""

    async def take(self, peer: Peer, message: AnyMessage) -> bool:
        """Take on a request for a table that is not here; False if there is no such table anywhere.

        Raises:
            RefusedError: The table is not to be had now.
        """
        ...

    async def seek(self, peer: Peer, player: LoggedInPlayer, wanted: Seek) -> bool:
        """Take on a search for a seat that nothing here suits; False if nothing is known elsewhere either, or raise as `take`."""
        ...

    def ignore(self, peer: Peer, message: Ignore) -> None:
        """Note, where it matters, that a player ignores somebody, or hears them again."""
        ...
