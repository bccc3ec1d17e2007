"""The other nodes, as the lobby of one knows them: what they have told, and what they are to be told.

A server without other nodes has none of this, and does nothing for it.
"""

from truc_server.lobby.names import LentNames
from truc_server.lobby.notes import Notes
from truc_server.lobby.other_players import OtherPlayers
from truc_server.lobby.other_tables import OtherTables
from truc_server.storage import NodePlace


class Others:
    """The other nodes.

    Attributes:
        notes: what they are to be told.
        lent: the names that players have there.
        tables: what they have told of their tables.
        players: who is connected to them.
        places: where each is that does not drain.
    """

    def __init__(self) -> None:
        self.notes = Notes()
        self.lent = LentNames()
        self.tables = OtherTables(self.lent)
        self.players = OtherPlayers(self.lent)
        self.places = dict[str, NodePlace]()
