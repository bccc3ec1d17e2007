"""Links of this node to others: one for each client here and node that it asks for something.

What a client asks about a table goes over a link as this node has read it, under the client's own number; what the owner
says goes to the client as it is, byte for byte. Deliberately not here: who is brought, and when (routing.py). Invariants: a
client that reads slowly slows its own links and nothing else; no more waits for a link than the client may have asked for;
a link that ends, or whose other end is silent, ends its client's connection, and nothing more is lost than that: the client
reconnects and goes on from the position it has.
"""

from contextlib import suppress
from itertools import count
from secrets import token_hex
from typing import Final

import structlog
import trio

from truc_protocol.codec import EncodingError
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import AnyMessage, ClientMessage, Ignore, Leave, Ping, Pong, Unwatch
from truc_protocol.wire.connection import MAX_OUTSTANDING, KeepAlive, keep_alive
from truc_protocol.wire.encoding import (
    CLIENT_LIMIT,
    LENGTH_BYTES,
    SERVER_LIMIT,
    FrameHead,
    FrameSplitter,
    encode,
    head_of,
    to_frame,
)
from truc_server.cluster.inner_protocol import LinkSealer, Preface, StrangerError, open_link
from truc_server.net.listening import CHUNK, KERNEL_BYTES
from truc_server.net.outbox import Outbox
from truc_server.net.peer import LoggedInPlayer, Peer, TooSoonError
from truc_server.parts import ServerParts
from truc_server.settings.settings import host_and_port
from truc_server.storage import TableOwner

# After which a client asks again for a table that is between two nodes.
AGAIN_MS: Final = 1_000
DIAL_S: Final = 3.0  # to reach another node
LOOK_S: Final = 1.0  # between two looks at who is silent
_OWN_FRAMES: Final = 16  # frames of this node's own: pings, answers to pings, whom the player ignores
# All that a client may have asked for, in the longest frames there are: if that is full, the owner reads
# nothing.
LINK_BYTES: Final = (MAX_OUTSTANDING + _OWN_FRAMES) * (LENGTH_BYTES + CLIENT_LIMIT)
_LAST_ID: Final = 2**32 - 1  # this node's own requests count down from there, as clients count up
# Into so many shares a client's outbox is divided: links may fill one, and the other is for what this node
# says, as a full outbox ends the connection.
_OUTBOX_SHARE: Final = 2
# All other reasons are the owner's own affair: the client is told `shutting_down`, and comes back.
_ENDS_CLIENT: Final = frozenset(
    {Code.BANNED, Code.KICKED, Code.FORGOTTEN, Code.RATE_LIMITED, Code.SLOW_CONSUMER}
)
"""Why an owner ends a link, and the client's connection ends for the same reason."""
_LOOK_AGAIN: Final = frozenset({Code.RATE_LIMITED, Code.NO_SUCH_TABLE})
"""The answers of a node that has a table no longer, or not yet."""

log = structlog.get_logger()


class NodeLink:
    """One connection to another node, for one client here.

    Attributes:
        tables: the codes of the tables that the client has asked for over it.
        heard: when anything last came; nothing is read, and nothing expected, while `is_paused`.
        pinged: when the other end was last asked for a sign of life.
        ended: why it has ended, once it has.
    """

    def __init__(
        self, peer: Peer, place: TableOwner, stream: trio.SocketStream, sealer: LinkSealer, parts: ServerParts
    ) -> None:
        self.peer = peer
        self.place = place
        self.stream = stream
        self.sealer = sealer
        self.scope = trio.CancelScope()
        self.outbox = Outbox(stream.socket, LINK_BYTES, parts.flusher, sealer, on_broken=self.scope.cancel)
        self.tables: set[str] = set()
        self.heard = trio.current_time()
        self.pinged: float | None = None
        self.is_paused = False
        self.ended: str | None = None
        self._own = count()
        self._pings = 0

    def send(self, message: AnyMessage) -> None:
        """Queue a message to the owner."""
        if not self.outbox.push(to_frame(encode(message), CLIENT_LIMIT), 0):
            self.end("full")

    def ping(self, now: float) -> None:
        """Ask the other end for a sign of life."""
        self.pinged, self._pings = now, self._pings + 1
        self.send(Ping(n=self._pings))

    async def wait_for_room(self) -> None:
        """Read nothing from the owner until the client has read what waits for it."""
        self.is_paused = True
        await self.peer.outbox.wait_low()
        # The silence was this end's: it counts from here on.
        self.is_paused, self.heard, self.pinged = False, trio.current_time(), None

    def next_id(self) -> int:
        """Return a number for a request of this node's own."""
        return _LAST_ID - next(self._own) % _OWN_FRAMES

    def end(self, why: str) -> None:
        """End it; the client's connection follows."""
        self.ended = self.ended or why
        self.scope.cancel()


class NodeLinks:
    """Every link of this node's clients."""

    _tasks: trio.Nursery  # one for each link

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._links: dict[Peer, dict[str, NodeLink]] = {}

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the tasks of all links, until cancelled."""
        async with trio.open_nursery() as self._tasks:
            task_status.started()
            while True:
                await trio.sleep(LOOK_S)
                self._look_at_silences(trio.current_time())

    def _look_at_silences(self, now: float) -> None:
        # A node whose lease has ended may have lost its tables: waiting for it any longer is in vain.
        patience_s = self._parts.settings.now.cluster.lease_s
        for links in tuple(self._links.values()):
            for link in [link for link in links.values() if not link.is_paused]:
                match keep_alive(now, heard=link.heard, pinged=link.pinged, idle_s=patience_s):
                    case KeepAlive.GIVE_UP:
                        link.end("silent")
                    case KeepAlive.PING:
                        link.ping(now)
                    case KeepAlive.REST:
                        pass

    def carries(self, peer: Peer) -> bool:
        """Tell whether a connection has a link."""
        return peer in self._links

    def pass_on(self, peer: Peer, message: ClientMessage, code: str) -> bool:
        """Pass a request on over the link by which a connection follows a table; False if it has none."""
        for link in self._links.get(peer, {}).values():
            if code in link.tables:
                link.send(message)
                if isinstance(message, Leave | Unwatch):
                    peer.brought -= {code}  # if it stays all the same, the next notice says so
                return True
        return False

    async def bring(
        self, peer: Peer, player: LoggedInPlayer, message: ClientMessage, place: TableOwner, code: str | None
    ) -> None:
        """Pass a request on to a node, over a link that is opened if there is none.

        Raises:
            RefusedError: The node does not answer, or takes nobody from there now.
        """
        # Never two for one node: the next request of a connection waits, also while a link is opened.
        link = self._links.get(peer, {}).get(place.node) or await self._open(peer, player, place)
        if link is None:
            return
        if code is not None:
            link.tables.add(code)
        link.send(message)

    def ignore(self, peer: Peer, message: Ignore) -> None:
        """Let the nodes to which a connection has links know whom its player ignores, or hears again."""
        for link in self._links.get(peer, {}).values():
            link.send(Ignore(id=link.next_id(), player=message.player, off=message.off))

    def drop(self, peer: Peer) -> None:
        """End the links of a client that is gone."""
        for link in self._links.pop(peer, {}).values():
            link.scope.cancel()

    async def _open(self, peer: Peer, player: LoggedInPlayer, place: TableOwner) -> NodeLink | None:
        """Open a link to a node, whose door lets the player in; None if the client is gone by then.

        Raises:
            RefusedError: It does not.
        """
        try:
            stream = await _dial(place.inner)
        # UnicodeError: what stands there cannot be the name of a host
        except (OSError, UnicodeError) as error:
            raise self._lost("unreached", place, str(error)) from error
        try:
            sealer = await self._introduce(stream, peer, player, place)
        except BaseException:
            stream.socket.close()
            raise
        if not peer.is_open:  # `drop` was called already, and would not be called for this link
            stream.socket.close()
            return None
        link = NodeLink(peer, place, stream, sealer, self._parts)
        self._links.setdefault(peer, {})[place.node] = link
        self._parts.figures.links += 1
        self._tasks.start_soon(self._attend, link)
        return link

    async def _introduce(
        self, stream: trio.SocketStream, peer: Peer, player: LoggedInPlayer, place: TableOwner
    ) -> LinkSealer:
        preface = Preface(
            node=self._parts.settings.now.cluster.node,
            kind=player.kind,
            player=player.id,
            name=player.name,
            address=peer.address,
            wanted=peer.wanted,
            ignored=tuple(peer.ignored),
        )
        try:
            sealer, answer = await open_link(stream, self._parts.identity.at_rest, preface)
        except (StrangerError, trio.TooSlowError) as error:
            raise self._lost("refused", place, str(error)) from error
        if answer.code is not None:
            self._parts.figures.links_lost["refused"] += 1
            why = f"the node that has it lets nobody in from there now: {answer.msg}"
            raise TooSoonError(why, answer.retry_after_ms or AGAIN_MS)
        return sealer

    def _lost(self, why: str, place: TableOwner, reason: str) -> TooSoonError:
        self._parts.figures.links_lost[why] += 1
        log.info("no_link", node=place.node, reason=reason)
        return TooSoonError("the node that has it does not answer: ask again in a moment", AGAIN_MS)

    async def _attend(self, link: NodeLink) -> None:
        """Pass on what the owner says, until the link ends; then the client's connection ends too."""
        try:
            with link.scope:
                await self._pass_back(link)
        except (
            trio.BrokenResourceError,
            trio.ClosedResourceError,
            RemoteError,
            EncodingError,
            ValueError,
        ) as error:
            link.end(type(error).__name__)
        except Exception:  # harms no other connection
            log.exception("internal", incident=token_hex(4), node=link.place.node)
            link.end("internal")
        finally:
            link.outbox.shut()
            link.stream.socket.close()
            self._parts.figures.links -= 1
            links = self._links.get(link.peer, {})
            # Not if `drop` has taken it out, as the client is gone.
            if links.get(link.place.node) is link:
                del links[link.place.node]
                self._dismiss_client(link)
            if not links:
                self._links.pop(link.peer, None)

    def _dismiss_client(self, link: NodeLink) -> None:
        """Let a client come back whose link has ended."""
        # What the owner said last may be lost; on a new connection the client asks from where it is.
        self._parts.figures.links_lost["ended"] += 1
        log.info("link_ended", node=link.place.node, reason=link.ended or "it was closed")
        link.peer.dismiss(
            Code.SHUTTING_DOWN, "the node that has one of your tables is gone: come back in a moment"
        )

    async def _pass_back(self, link: NodeLink) -> None:
        splitter, outbox = FrameSplitter(SERVER_LIMIT), link.peer.outbox
        while not link.peer.outbox.is_broken:
            while (opened := link.sealer.read()) is not None:
                splitter.feed(opened)
            # Cut into frames, though they go on as they are: some are for this node, not for the client.
            while (frame := splitter.next_frame()) is not None:
                if self._pass_to_client(link, frame):
                    return
                if outbox.size > outbox.limit // _OUTBOX_SHARE:
                    await link.wait_for_room()
            received = await link.stream.receive_some(CHUNK)
            if not received:
                return
            link.heard, link.pinged = trio.current_time(), None
            link.sealer.feed(received)

    def _pass_to_client(self, link: NodeLink, frame: bytes) -> bool:
        """Pass a frame on, unless it is for this node; tell whether it was the last."""
        head, peer = head_of(frame), link.peer
        match head.t:
            case "ping":
                link.send(Pong(n=head.n))
            case "bye":
                self._end_with_bye(link, head)
                return True
            case "error" if head.close:
                pass  # the bye behind it tells the client, in this node's name
            case "pong" | "caps" | "lobby":
                pass  # of the owner alone: this node has told the client what itself has
            case _:
                self._note_table(link, head)
                if head.re is None or self._close_request(link, head, head.re):
                    peer.send_frame(to_frame(frame, SERVER_LIMIT))
        return False

    def _note_table(self, link: NodeLink, head: FrameHead) -> None:
        """Note which tables the client is told of by their owner."""
        if head.t == "table":
            link.peer.brought |= {head.table}
        elif head.t == "closed":
            link.peer.brought -= {head.table}

    def _close_request(self, link: NodeLink, head: FrameHead, number: int) -> bool:
        """Close the request that a frame answers; False if the client has none of that number, as it was this node's own."""
        if head.t == "error" and head.code in _LOOK_AGAIN:
            link.tables.clear()  # where they are by then, the directory says
        return link.peer.connection.close_request(number)

    def _end_with_bye(self, link: NodeLink, head: FrameHead) -> None:
        """Take the owner's goodbye; if it is about the player, pass it on to the client."""
        link.ended = str(head.code)
        if head.code in _ENDS_CLIENT:
            with suppress(ValueError):
                link.peer.dismiss(Code(head.code), str(head.msg))


async def _dial(inner: str) -> trio.SocketStream:
    """Connect to where a node takes in what other nodes bring.

    Raises:
        OSError: Nobody answers there.
    """
    with trio.move_on_after(DIAL_S):
        if inner.startswith("/"):
            stream = await trio.open_unix_socket(inner)
        else:
            stream = await trio.open_tcp_stream(*host_and_port(inner))
        stream.socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_SNDBUF, KERNEL_BYTES)
        return stream
    raise OSError(f"nobody answers at {inner}")
