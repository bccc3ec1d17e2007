"""Every open connection: a task for each, from when it comes until it is left.

What a client says is handed on in the order in which it came, and nothing more is read until it is handled. Invariants:
no task or byte is spent on a connection beyond its limits; a connection is left once, and then holds nothing; what
fails on one harms no other.
"""

from collections.abc import Awaitable, Callable, Iterable
from secrets import token_hex
from typing import Final

import structlog
import trio
from structlog.contextvars import bind_contextvars

from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, refusal
from truc_protocol.wire.connection import Failure, State
from truc_protocol.wire.transport import ALPN
from truc_server.identity.certificate import Tls
from truc_server.net.admission import Admission
from truc_server.net.listening import accept
from truc_server.net.peer import ConnectionBacking, Peer
from truc_server.net.tls import HandshakeFailedError, MistakenSchemeError, TlsSealer
from truc_server.timing.rate_limits import network_of

# Silences are looked at once a second, all in one go, which takes less than a microsecond a connection. A
# timer for each would cost memory; a cancel scope around each wait takes 19 to 38 µs a message.
LOOK_S: Final = 1.0

_CLOSED: Final = State.CLOSED  # looked up once: a lookup in an Enum is slow
Handle = Callable[[Peer, AnyMessage | Failure], Awaitable[None]]

log = structlog.get_logger()


class Connections:
    """Everybody who is connected; `handle` is given what they say, `on_left` is called when one is gone."""

    _tasks: trio.Nursery  # one for each connection

    def __init__(
        self,
        backing: ConnectionBacking,
        admission: Admission,
        tls: Tls | None,
        *,
        handle: Handle,
        on_left: Callable[[Peer], None],
    ) -> None:
        self._backing = backing
        self._admission = admission
        self._handle = handle
        self._on_left = on_left
        self._tls: Tls | None = None
        self.use_tls(tls)
        self._accepting = trio.CancelScope()
        self._peers: dict[Peer, None] = {}  # in the order in which they came
        self._goodbye: tuple[Code, str] | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the tasks of all connections, until cancelled."""
        async with trio.open_nursery() as self._tasks:
            task_status.started()
            while True:
                await trio.sleep(LOOK_S)
                self._look_at_silences(trio.current_time())

    def _look_at_silences(self, now: float) -> None:
        silent_since = now - self._backing.settings.now.limits.idle_s
        for peer in self.everybody():
            # No call for whoever has spoken lately; before the login another limit holds, whatever is said.
            if peer.heard <= silent_since or peer.player is None:
                peer.look_at_silence(now)

    async def accept(self, listeners: Iterable[trio.SocketListener]) -> None:
        """Let in whoever connects, until `shut`."""
        with self._accepting:
            await accept(listeners, self._serve, self._tasks)

    def shut(self) -> None:
        """Let nobody else in."""
        self._accepting.cancel()

    async def _serve(self, stream: trio.SocketStream) -> None:
        """Speak with a client until the connection ends, if it may come in."""
        try:
            address: str = stream.socket.getpeername()[0]
        except OSError:
            return  # gone already
        try:
            # Before the handshake of TLS, which counts in the time for the login (transport.md, "TLS").
            began, network = trio.current_time(), network_of(address)
            refused = self._admission.enter(address, network)
            if refused is not None:
                await self._admission.turn_away(stream, refused)
                return
            try:
                # Held here: a reload may put another in its place during the handshake.
                tls = self._tls
                sealer = None if tls is None else await self._encrypt(stream, tls, address)
                if tls is None or sealer is not None:
                    await self.attend(Peer(self._backing, stream, address, began=began, sealer=sealer))
            finally:
                self._admission.leave(network)
        except Exception:  # harms no other connection
            log.exception("internal", incident=token_hex(4), address=address)

    async def attend(self, peer: Peer, handle: Handle | None = None) -> None:
        """Speak with a client that has come in and is counted, until the connection ends.

        `handle` takes what it says, in place of what takes what all others say.
        """
        handle = handle or self._handle
        connection, outbox = peer.connection, peer.outbox
        self._peers[peer] = None
        bind_contextvars(connection=peer.number)
        try:
            with peer.scope:
                try:
                    self._greet(peer)
                    # Here, as each coroutine between this and the socket would be resumed for every message.
                    async for said in peer:
                        for item in said:
                            # `Peer.is_open` without its call: what came with the end is passed over.
                            if connection.state is not _CLOSED and not outbox.is_broken:
                                await handle(peer, item)
                except Exception:
                    incident = token_hex(4)
                    log.exception("internal", incident=incident, address=peer.address)
                    peer.fail(incident)
                await peer.wait_parted()
        finally:
            del self._peers[peer]
            peer.leave()
            self._on_left(peer)

    async def _encrypt(self, stream: trio.SocketStream, tls: Tls, address: str) -> TlsSealer | None:
        """Agree with a client on encryption, within the time for the login; None if that failed."""
        sealer, seconds = TlsSealer(tls), self._backing.settings.now.limits.login_s
        is_agreed = False
        try:
            with trio.move_on_after(seconds):
                is_agreed = await sealer.shake_hands(stream)
                return sealer if is_agreed else None
            log.info("not_encrypted", address=address, reason=f"expected a handshake within {seconds} s")
        except MistakenSchemeError as error:
            log.info("not_encrypted", address=address, reason=str(error))
            await self._admission.redirect(stream, error.first)
        except HandshakeFailedError as error:
            log.info("not_encrypted", address=address, reason=str(error))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # gone before it was agreed on
        finally:
            self._backing.figures.unencrypted += not is_agreed
        return None

    def _greet(self, peer: Peer) -> None:
        """Turn away a client that has just come, if it cannot stay."""
        sealer = peer.outbox.sealer
        if self._goodbye is not None:
            peer.dismiss(*self._goodbye)
        # transport.md, "TLS": a client that offers another protocol, or none, is told so and closed.
        elif sealer is not None and not sealer.speaks_truc:
            peer.refuse(refusal(Code.UNSUPPORTED, f"expected the protocol name {ALPN} (ALPN) from TLS"))

    def use_tls(self, tls: Tls | None) -> bool:
        """Encrypt new connections with this from now on; tell whether the certificate differs from the one before."""
        before, self._tls = self._tls, tls
        self._backing.figures.certificate_ends = 0 if tls is None else tls.ends
        return tls is not None and (before is None or before.digest != tls.digest)

    def everybody(self) -> tuple[Peer, ...]:
        """Return every connection, logged in or not."""
        return tuple(self._peers)

    def dismiss(self, code: Code, message: str) -> None:
        """Say goodbye to everybody, also to those accepted at the last moment."""
        self._goodbye = (code, message)
        for peer in self._peers:
            if peer.connection.is_open:
                peer.dismiss(code, message)

    def send_away(self, message: str, *, to: str) -> None:
        """Say goodbye to everybody because the server ends; whoever can goes `to` another node, if any."""
        for peer in self.everybody():
            if peer.connection.is_open:
                peer.send_away(message, to=to)

    def drop_unsent(self) -> None:
        """Drop everything that waits for a store that has failed."""
        for peer in self._peers:
            peer.outbox.forget()

    async def wait_quiet(self) -> None:
        """Wait until everything that may be sent has been."""
        for peer in self.everybody():
            await peer.outbox.wait_empty()
