"""What requests are answered with, beside the lobby."""

from typing import NamedTuple

from truc_server.identity.identity import Identity
from truc_server.net.floods import Pace
from truc_server.net.grease import Grease
from truc_server.net.sanctions import Sanctions
from truc_server.operation.figures import Figures
from truc_server.operation.worker import Worker
from truc_server.settings.in_force import InForce
from truc_server.settings.settings import Settings
from truc_server.storage.guest_tokens import Tokens
from truc_server.storage.journal import Journal
from truc_server.storage.sql import Store


class Means(NamedTuple):
    """What `dispatch` hands on, to each request what it needs.

    Attributes:
        pace: how fast pages of the store or the lobby go to one address.
        tokens: finds guests by their tokens.
        signatures: checks the signatures of acts.
        grease: what is put into everything that is sent, to test clients; None unless the host wants it.
    """

    settings: InForce[Settings]
    sanctions: InForce[Sanctions]
    identity: Identity
    store: Store
    journal: Journal
    tokens: Tokens
    pace: Pace
    figures: Figures
    signatures: Worker
    grease: Grease | None
