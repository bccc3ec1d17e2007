"""Players who go away in the middle of a match, and those who step in for them.

Where the seat is taken over, the newcomer plays on as any survivor does, and the other has no seat any more; where nobody was
in time, who went away comes back for the next match. Invariant: of the two, one has the seat when the match has ended.
"""

from typing import Final

import trio
from chaos.parties import Game, Party
from chaos.stored import ViolationError
from chaos.surviving import Survivor
from server.rawclient import GoneError, Map, RawClient

LEAVES_AT: Final = range(2, 16)  # positions of a match
STEPS_IN: Final = 0.75  # of the seats that are left find somebody
AGAIN_S: Final = 0.1  # until a seat that is not vacant yet is asked for again
_NOT_VACANT: Final = ("table_full", "seat_taken")
_TOO_LATE: Final = ("not_seated", "seat_gone", "not_now", "no_such_match", "terms_refused")


class Leaver(Survivor):
    """A player who leaves each match early, and comes back when it has ended."""

    def __init__(self, client: RawClient, party: Party, game: Game, seat: int, *, seed: int) -> None:
        super().__init__(client, party, game, seat, seed=seed)
        self._leaves_at = 0
        self._has_left = False

    @property
    def _is_out(self) -> bool:
        return self._is_leaving or self._has_left

    def begin(self, message: Map) -> None:
        """Begin a match, and choose where to leave it."""
        super().begin(message)
        self._leaves_at, self._has_left = self._whims.choice(LEAVES_AT), False

    async def take(self, message: Map) -> None:
        """Take a record, and go if it is time."""
        await super().take(message)
        if not self._has_left and self._is_under_way and self.next >= self._leaves_at:
            self._has_left = True
            raise GoneError(f"{self.name} leaves")

    async def _reach(self) -> RawClient:
        if self._has_left and not self.party.has_ended(self.mid):
            self.party.tally.count(leavers=1)
            if self._whims.random() < STEPS_IN:
                self.party.send_in(self)
            await self.party.wait_ended(self.mid)
        return await super()._reach()


class Newcomer(Survivor):
    """A player who takes over the seat of one who has left, unless the match ends before."""

    def __init__(self, client: RawClient, game: Game, left: Leaver, *, seed: int) -> None:
        super().__init__(client, left.party, game, left.seat, seed=seed)
        self.table = left.table
        self.matches_played = left.matches_played
        self._match = left.mid
        self._is_late = False

    @property
    def _is_out(self) -> bool:
        return self._is_leaving or (self._is_late and not self._is_seated)

    async def live(self) -> None:
        """Play to the end, if there is a seat."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_the_end)
            await super().live()
            nursery.cancel_scope.cancel()

    async def _watch_the_end(self) -> None:
        """Come once more when the match has ended: the seat may have been given without a word."""
        await self.party.wait_ended(self._match)
        self._is_late = True
        if not self._is_seated:
            await trio.aclose_forcefully(self.client.stream)

    async def _sit(self, held: list[Map]) -> None:
        if held and not self._is_seated:
            self._has_stepped_in()
        if self._is_seated:
            await super()._sit(held)
            return
        self._is_arriving = True
        while (reply := await self.ask({"t": "join", "table": self.table, "seat": self.seat}))["t"] != "ok":
            if reply["code"] not in _NOT_VACANT:
                raise ViolationError(f"{self.name} cannot stand by at table {self.table}: {reply}")
            await trio.sleep(AGAIN_S)  # when a seat is vacant nobody tells who is not at the table

    def _has_stepped_in(self) -> None:
        self._is_seated = True
        self.party.tally.count(newcomers=1)

    async def react(self, message: Map) -> None:
        """Do what a survivor does, and take the seat over as soon as it is known to be vacant."""
        await super().react(message)
        if message["t"] == "waiting" and message.get("what") == "sub" and self.seat in message["seats"]:
            await self._step_in()

    async def _step_in(self) -> None:
        if self._is_seated or self.auditor is None or self.waiting["at"] != self.next:
            return
        place = ("sub", self.next)
        if place not in self.stored:
            self.stored[place] = self.sign(self.sub())
            await self.act(self.stored[place])

    async def _use_the_moment(self) -> None:
        if self._is_seated:
            await super()._use_the_moment()

    async def _agree(self) -> None:
        if self._is_seated:
            await super()._agree()

    def _confirm(self, sent: Map, reply: Map) -> None:
        super()._confirm(sent, reply)
        if not self._is_seated:
            self._has_stepped_in()

    def _refused(self, sent: Map, error: Map) -> None:
        if not self._is_seated and error["code"] in _TOO_LATE:
            raise GoneError(f"{self.name} stands by no more: {error}")
        super()._refused(sent, error)
