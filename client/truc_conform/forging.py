"""What cheating servers are made of: messages bent on their way out, and bodies signed again by the right signer.

A bend takes a message and returns what leaves in its place. The keys are those of the scripted server and its puppets;
the client's signature cannot be forged.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from truc_conform.client_harness import ClientHarness
from truc_conform.playing import conceding, quiet
from truc_conform.result import tag_of_body
from truc_protocol.bodies import Body, Deal, Rule
from truc_protocol.boxes import Option
from truc_protocol.ledger import Ledger
from truc_protocol.messages import BoxedOptions, MatchRecord, ServerHello, ServerMessage, Terms
from truc_protocol.records import Record, encode, next_head, parse, read_body
from truc_protocol.wire.handshake import Hello

Place = tuple[bytes, int, bytes]
Maker = Callable[[Place, Any], Body]
Bend = Callable[[ServerMessage], ServerMessage | None]
Cheat = Callable[[ClientHarness], None]
# Positions of cheats before the match: the client may not even sign its seat, or may have signed that alone.
BEFORE_SEAT: Final = -2
BEFORE_MATCH: Final = -1
_M = TypeVar("_M", bound=ServerMessage)
_B = TypeVar("_B", bound=Body)


def on(kind: type[_M], change: Callable[[_M], ServerMessage | None]) -> Bend:
    """Return a bend for messages of one class."""
    return lambda message: change(message) if isinstance(message, kind) else message


def on_record(tag: str, change: Callable[[MatchRecord], ServerMessage | None]) -> Bend:
    """Return a bend for records of one kind."""
    return on(MatchRecord, lambda message: change(message) if tag_of_body(message.body) == tag else message)


def body_of(message: MatchRecord) -> Any:
    """Return the body of a record; the caller knows its kind."""
    return parse(Record(message.signer, message.body, message.sig))


def signed_again(server: ClientHarness, message: MatchRecord, **changes: Any) -> MatchRecord:
    """Change a record and sign it again with its signer's key."""
    return put_instead(server, message, replace(body_of(message), **changes), signer=message.signer)


def put_instead(server: ClientHarness, message: MatchRecord, body: Body, *, signer: int = 0) -> MatchRecord:
    """Put another record in the place of one, signed by the server or by a scripted seat."""
    encoded = encode(body)
    key = server.players[signer - 1].key if signer else server.key
    return replace(message, signer=signer, body=encoded, sig=key.sign(encoded))


def place_of(server: ClientHarness, k: int) -> Place:
    """Return the match, a position and the head there, according to the honest records."""
    match = server.at_play().setup.mid
    head = match
    # Of the honest records: what was forged before is no part of what the client holds for true.
    for record in server.records[:k]:
        head = next_head(head, record)
    return match, k, head


def ruled_out(place: Place, j: int) -> Rule:
    """Return the ruling of a server that abandons a match."""
    return Rule(*place, j, "abandon", None, "server", ())


def greeted_again(server: ClientHarness, hello: ServerHello, **changes: Any) -> ServerHello:
    """Change the signed body of a hello, and sign it again."""
    body = replace(read_body(hello.body, Hello), **changes)
    encoded = encode(body)
    return replace(hello, body=encoded, sig=server.key.sign(encoded))


class RewriteBend:
    """A bend: in the place of the first record of a kind and deal index another one leaves, and nothing behind it.

    Attributes:
        made: the forged record; a client that asks again is sent the same. None before.
    """

    def __init__(self, server: ClientHarness, kind: type[Body], index: int, maker: Maker) -> None:
        self.server, self.kind, self.index, self.maker = server, kind, index, maker
        self.made: MatchRecord | None = None

    def __call__(self, message: ServerMessage) -> ServerMessage | None:
        """Return what leaves in the place of a message."""
        if not isinstance(message, MatchRecord):
            return message
        if self.made is None:
            body = body_of(message)
            if not isinstance(body, self.kind) or getattr(body, "j", self.index) != self.index:
                return message
            place = place_of(self.server, message.k)
            self.made = put_instead(self.server, message, self.maker(place, body))
        # A client that comes back may ask for what came before: that was honest, and stays so.
        if message.k < self.made.k:
            return message
        # An honest record behind it would name another head, and give it away (C10).
        return self.made if message.k == self.made.k else None


def deal_body(place: Place, j: int, **changes: Any) -> Deal:
    """Return a deal of no cards, with some of its fields changed."""
    shape = {"d": 0, "dealer": 0, "ncards": 3, "cut": 0, "up": (), "leaves": (), "boxes": ()}
    return Deal(*place, j, **{**shape, **changes})


def dealt(server: ClientHarness) -> Ledger:
    """Return the match after the deal that is due, dealt as it should be."""
    honest = server.dealer.next_record(server.at_play())
    if honest is None:
        raise RuntimeError("no deal is due")
    return server.dealer.take(server.at_play(), honest)


def bending(bend: Callable[[ClientHarness], Bend]) -> Cheat:
    """Make a cheat of a bend; it begins with the first message that is bent."""

    def cheat(server: ClientHarness) -> None:
        # The match comes to the cheat whatever the seed: no puppet gives a hand up before.
        server.pick = lambda _ledger: quiet
        change = bend(server)

        def marked(message: ServerMessage) -> ServerMessage | None:
            bent = change(message)
            if bent is not message:
                note_cheat(server, _begins_at(message))
            return bent

        server.bend = marked

    return cheat


Change = Callable[[ClientHarness, Any], ServerMessage | None]
"""Says what leaves in the place of a message."""


def changing(kind: type[ServerMessage]) -> Callable[[Change], Cheat]:
    """Make a cheat of a change to messages of one class."""
    return lambda change: bending(lambda server: on(kind, partial(change, server)))


def changing_records(tag: str) -> Callable[[Change], Cheat]:
    """Make a cheat of a change to records of one kind. Nothing follows the first that is changed: another head would tell (C10)."""

    def changing_some(change: Change) -> Cheat:
        def bend(server: ClientHarness) -> Bend:
            changed: list[int] = []

            def bent(message: ServerMessage) -> ServerMessage | None:
                if not isinstance(message, MatchRecord):
                    return message
                if changed and message.k > changed[0]:
                    return None
                cheated = change(server, message) if tag_of_body(message.body) == tag else message
                if cheated is not message and not changed:
                    changed.append(message.k)
                return cheated

            return bent

        return bending(bend)

    return changing_some


def note_cheat(server: ClientHarness, k: int) -> None:
    """Note the position of a cheat, the first time."""
    if server.cheated_at is None:
        server.cheated_at = k


def _begins_at(message: ServerMessage) -> int:
    match message:
        case MatchRecord(k=k):
            return k
        case BoxedOptions(at=at):
            return at - 1
        case Terms():
            return BEFORE_SEAT
        case _:
            return BEFORE_MATCH


def rewriting(kind: type[Body], index: int, maker: Maker) -> Cheat:
    """Return a cheat that puts another record in the place of the first of its kind and deal index."""
    return bending(lambda server: RewriteBend(server, kind, index, maker))


def other_calls(**changes: Any) -> Cheat:
    """Return a cheat that changes the calls, and signs them again."""
    return changing_records("call")(partial(signed_again, **changes))


def forging(kind: type[_B], change: Callable[[ClientHarness, _B], _B]) -> Cheat:
    """Return a cheat that signs records of one kind otherwise; what follows stands behind them, so that no head gives it away."""

    def cheat(server: ClientHarness) -> None:
        def forge(record: Record) -> Record:
            body = parse(record)
            changed = change(server, body) if isinstance(body, kind) else body
            if changed is body:
                return record
            note_cheat(server, server.at_play().k)
            forged = encode(changed)
            return Record(0, forged, server.key.sign(forged))

        server.forge = forge

    return cheat


def committing(change: Callable[[ClientHarness, Deal], tuple[bytes, ...]]) -> Cheat:
    """Return a cheat that commits to other cards for the other seat."""
    return dealing(lambda server, body: replace(body, leaves=(body.leaves[0], change(server, body))))


def dealing(change: Callable[[ClientHarness, Deal], Deal]) -> Cheat:
    """Return a cheat that deals the first hand otherwise, which comes to light at its close."""

    def cheat(server: ClientHarness) -> None:
        before = server.pick
        # The first hand is closed soon: only its link shows how it was dealt (C25).
        server.pick = lambda ledger: conceding if ledger.deal_index == 1 else before(ledger)

        def forge(record: Record) -> Record:
            body = parse(record)
            if not isinstance(body, Deal) or body.j != 1:
                return record
            forged = encode(change(server, body))
            return Record(0, forged, server.key.sign(forged))

        def recast(message: ServerMessage) -> Iterable[ServerMessage]:
            if isinstance(message, MatchRecord) and tag_of_body(message.body) == "close":
                # Until the close nothing shows it, so what the client signs before is no fault.
                note_cheat(server, message.k)
            return (message,)

        server.forge, server.recast = forge, recast

    return cheat


def twisting(change: Callable[[ClientHarness, Option], Option]) -> Cheat:
    """Return a cheat that offers options to play which are not what they say."""

    def cheat(server: ClientHarness) -> None:
        def twist(option: Option) -> Option:
            if option.kind != "play":
                return option
            # Counted from this position on: to sign the option itself is a fault.
            note_cheat(server, server.at_play().k - 1)
            return change(server, option)

        server.twist = twist

    return cheat
