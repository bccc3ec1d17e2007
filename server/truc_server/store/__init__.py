"""Storage: one interface, the values written through it, and its implementation on SQL.

`Store` is what the server knows; `open_store` gives one. Invariant: nothing outside this package speaks SQL.
"""

from truc_server.store.interface import Store, StoreError, StoreLostError
from truc_server.store.sql import SqlStore, open_store
from truc_server.store.writes import (
    AddRecord,
    ClearSeat,
    DropSecrets,
    DropTable,
    EndMatch,
    Lease,
    PlayerKind,
    RunningMatch,
    SaveGuest,
    SaveMatch,
    SaveSeat,
    SaveSecrets,
    SaveTable,
    StoredTranscript,
    Write,
)

__all__ = [
    "AddRecord",
    "ClearSeat",
    "DropSecrets",
    "DropTable",
    "EndMatch",
    "Lease",
    "PlayerKind",
    "RunningMatch",
    "SaveGuest",
    "SaveMatch",
    "SaveSeat",
    "SaveSecrets",
    "SaveTable",
    "SqlStore",
    "Store",
    "StoreError",
    "StoreLostError",
    "StoredTranscript",
    "Write",
    "open_store",
]
