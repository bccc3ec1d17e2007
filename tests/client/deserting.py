"""A server in memory at which a match has lost the player of seat 0, so that the client may step in."""

from typing import Any

from client.strict import Strict
from msgspec.structs import replace
from protocol.peers import Puppet

from truc_protocol.errors import Code
from truc_protocol.ledger import Due, due, is_gone
from truc_protocol.messages import Ready, SeatHeld, TableState, refusal
from truc_protocol.records import Record
from truc_protocol.setup import Opts, open_terms


class DesertedServer(Strict):
    """One table; `absent` is the player of seat 0 until a substitute has come."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.opts = Opts(guests=1, gone=1, gone_after=1)
        self.absent: Puppet | None = None

    async def desert(self) -> None:
        """Play a match without the client until the player of seat 0 is gone and a substitute is waited for."""
        bend, self.bend = self.bend, lambda message: None
        self.absent, self.is_away = Puppet(0, self.seed), True
        await self.begin(self.absent.join(open_terms(self.document, self.make_terms())))
        self.bend = bend

    def release(self) -> Record | None:
        record = super().release()
        if record is None and self.absent is not None:
            return self.absent.release(self.ledger)
        return record

    def is_held(self) -> bool:
        is_vacant = self.absent is not None and is_gone(self.ledger, 0)
        return due(self.ledger) is Due.CALL and (self.is_call_held or is_vacant)

    async def take(self, record: Record) -> None:
        await super().take(record)
        if self.absent is not None and self.ledger.contributors[1].public != self.absent.key.public:
            self.absent = None

    def held(self) -> tuple[SeatHeld, ...]:
        return () if self.absent is not None else super().held()

    def state(self) -> TableState:
        state = super().state()
        if self.absent is None:
            return state
        first, *others = state.seats
        return replace(state, seats=(replace(first, vacant=True), *others))

    async def serve_request(self, message: Any) -> None:
        if self.absent is not None and isinstance(message, Ready):
            await self.send(refusal(Code.NOT_SEATED, "expected a player with a seat", re=message.id))
        else:
            await super().serve_request(message)
