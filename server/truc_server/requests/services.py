"""What requests are answered with, beside the lobby."""

from typing import Protocol

from truc_protocol.messages import AnyMessage, Ignore, Seek
from truc_server.identity.identity import Identity
from truc_server.net.admission import Admission
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
    """What requests need of the running server (parts.py says what each is); `dispatch` hands it on."""

    settings: CurrentValue[Settings]
    sanctions: CurrentValue[Sanctions]
    identity: Identity
    store: Store
    journal: Journal
    tokens: GuestTokens
    admission: Admission
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
