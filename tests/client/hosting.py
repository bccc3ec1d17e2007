"""A scripted server with company and a past: a lobby, chat, and a match that was played, to be watched from the middle."""

import time
from functools import reduce

from client.strict import QuietServer
from msgspec.structs import replace

from truc_conform.shown import CODE, INFO
from truc_protocol import messages
from truc_protocol.bodies import Close
from truc_protocol.errors import Code
from truc_protocol.records import next_head, parse

CAPS = {"chat": {}, "lobby": True, "seek": True, "snapshot": True, "history": 64, "forget": True}
TAG = "YGCVWEEC7O66OJIVVCJDP74ZH2"


class Hosting(QuietServer):
    """A server of which every capability is in use; `page` is how many records of the past it gives out at once."""

    page = 7

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.caps = dict(CAPS)
        self.keeps_past = True
        self.busy = 0
        self.too_often = 0

    async def greet(self, message) -> None:
        self.info = messages.encode_info(replace(INFO, caps=self.caps, now_ms=int(time.time() * 1000)))
        await super().greet(message)

    async def answer_other(self, message) -> None:
        match message:
            case messages.Watch():
                await self.show(message)
            case messages.History():
                await self.send(self.past(message))
            case messages.FollowLobby() if not message.off:
                await self.show_lobby(message)
            case messages.Chat():
                await self.send(messages.Ok(re=message.id))
                await self.send(
                    messages.ChatLine(table=message.table, player=TAG, name="north", text=message.text)
                )
            case messages.ListPlayers():
                await self.send(self.list_players(message))
            case messages.Seek():
                await self.send(self.state())
                await self.send(messages.Ok(re=message.id, table=CODE, seat=0))
            case messages.FollowLobby() | messages.Ignore() | messages.Forget() | messages.Unwatch():
                await self.send(messages.Ok(re=message.id))

    async def show_lobby(self, message: messages.FollowLobby) -> None:
        if self.too_often:
            self.too_often -= 1
            await self.send(
                replace(messages.refusal(Code.RATE_LIMITED, "later", re=message.id), retry_after_ms=1)
            )
            return
        await self.send(messages.LobbyState(online=1, tables=1, playing=0))
        await self.send(self.state())
        await self.send(messages.Ok(re=message.id))

    def list_players(self, message: messages.ListPlayers) -> messages.Ok:
        tags = [f"P{n}" for n in range(5) if message.after is None or f"P{n}" > message.after]
        page = tuple(messages.PlayerState(player=tag, name="north", kind="key") for tag in tags[:2])
        return messages.Ok(re=message.id, players=page, more=len(tags) > 2)

    async def show(self, message: messages.Watch) -> None:
        """Send the match to who watches: from where they are, or from a snapshot."""
        await self.send(self.state())
        if self.setup is None:
            await self.send(messages.Ok(re=message.id, k=0))
            return
        first = self.middle
        if message.next is not None and message.match == self.setup.match and message.next >= first:
            first = message.next
        else:
            await self.send(self.snapshot(first))
        for k in range(first, len(self.records)):
            await self.send(self.message(k))
        await self.send(messages.Ok(re=message.id, k=len(self.records)))

    @property
    def middle(self) -> int:
        """The position after the first hand."""
        closes = (k for k, record in enumerate(self.records) if isinstance(parse(record), Close))
        return next(closes, -1) + 1

    def snapshot(self, k: int, *, skipped: bool = False) -> messages.Snapshot:
        return messages.Snapshot(
            table=CODE,
            match=self.setup.match,
            k=k,
            head=self.head(k),
            doc=self.document,
            records=self.setup.records,
            view={"what": "state", "score": [[0, 0, 1], [0, 0, 0]]},
            skipped=skipped,
        )

    def head(self, k: int) -> bytes:
        """Return the head before a position."""
        return reduce(next_head, self.records[:k], self.setup.match)

    def past(self, message: messages.History):
        if not self.keeps_past:
            return messages.refusal(Code.PRIVATE_TABLE, "not for you", re=message.id)
        if self.busy:
            self.busy -= 1
            return replace(messages.refusal(Code.RATE_LIMITED, "later", re=message.id), retry_after_ms=1)
        first = max(0, message.first)
        page = self.records[first : first + self.page]
        end = first + len(page)
        past = tuple(messages.PastRecord(signer=each.signer, body=each.body, sig=each.sig) for each in page)
        start_of = {"doc": self.document, "setup": self.setup.records} if message.first < 0 else {}
        return messages.Ok(re=message.id, past=past, k=end, more=end < len(self.records), **start_of)

    async def hang_up(self) -> None:
        """Let the connection be lost."""
        await self._stream.aclose()
