"""The players of the long runs count every match that they have played, whatever moment they lose their server at."""

import trio
from chaos.parties import Game, Party, Tally
from chaos.surviving import Survivor, reach
from server.rawclient import GoneError


class Clumsy(Survivor):
    """A player who loses the connection behind the last record of a match."""

    has_lost = False

    async def _chat(self) -> None:
        if self.done and not self.has_lost:
            self.has_lost = True
            raise GoneError("lost behind the last record")


class Reached:
    """A server in this process, as players reach one of another."""

    def __init__(self, port: int) -> None:
        self.listens = trio.Event()
        self.listens.set()
        self._port = port

    async def connect(self) -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", self._port)


async def test_match_whose_last_record_was_the_last_word_of_a_connection_is_counted(server):
    party = Party(Reached(server.port), server.folder.root, Tally(), goal=2)
    game = Game("truc-french", 2, guests=(0, 1), options=(("target", 2),))
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for seat, kind in enumerate((Survivor, Clumsy)):
                nursery.start_soon(kind(await reach(party.server), party, game, seat, seed=seat).live)
    assert party.tally.figures["losses"] == 1
    assert party.tally.figures["audits"] == 2 * party.goal
