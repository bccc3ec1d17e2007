"""What servers and seats that cheat on the wire are made of: messages bent on their way out, and records signed again."""

import pytest
from client.playing import QUIET, play_on
from msgspec.structs import replace

from truc_client import CheckFailedError, connect
from truc_client.verifying import examine_files
from truc_conform.scripted import ScriptedServer
from truc_protocol.acts import write_args
from truc_protocol.audit import TranscriptExamined
from truc_protocol.bodies import Body, Rule
from truc_protocol.ledger import Due, due
from truc_protocol.messages import MatchRecord
from truc_protocol.records import Record, encode, link, parse
from truc_rules import deciders, legal

FRENCH = "truc-french"


class QuietServer(ScriptedServer):
    """A server whose own seats decide as soon as the decision is theirs, and let the cards be played."""

    def other(self) -> Record | None:
        match = self.ledger.match
        if (
            match is None
            or due(self.ledger) is not Due.PLAYERS
            or not set(deciders(match)) & set(self.players)
        ):
            return super().other()
        actions = [action for seat in self.players for action in legal(match, seat)]
        action = min(actions, key=lambda each: QUIET.index(each.kind) if each.kind in QUIET else len(QUIET))
        openings = self.dealer.openings(self.ledger, action.seat) if self.ledger.hand else ()
        args = tuple(write_args(match, action, openings, cut=7))
        return self.players[action.seat].act(self.ledger, str(action.kind), args)


async def caught(server, player, *, choose=None) -> CheckFailedError:
    """Play until the client stops; returns why."""
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create(FRENCH)
        await table.ready()
        with pytest.raises(CheckFailedError) as stopped:
            await (play_on(table) if choose is None else play_on(table, choose=choose))
    return stopped.value


def on(kind: type, change):
    """Return a bend for messages of one class."""
    return lambda message: change(message) if isinstance(message, kind) else message


def on_record(tag: str, change):
    """Return a bend for records of one kind."""

    def bend(message: MatchRecord) -> MatchRecord:
        return change(message) if message.body[1:].startswith(_tagged(tag)) else message

    return on(MatchRecord, bend)


def _tagged(tag: str) -> bytes:
    name = f"truc/1/{tag}".encode()
    return bytes([0xA0 + len(name)]) + name


def body_of(message: MatchRecord) -> Body:
    return parse(Record(message.signer, message.body, message.sig))


def resigned(server, message: MatchRecord, **changes) -> MatchRecord:
    """Change a record and sign it again with the key of whoever must."""
    return instead(server, message, replace(body_of(message), **changes), signer=message.signer)


def instead(server, message: MatchRecord, body: Body, *, signer: int = 0) -> MatchRecord:
    """Put another record in the place of one, signed by the server or by a scripted seat."""
    encoded = encode(body)
    key = server.players[signer - 1].key if signer else server.key
    return replace(message, signer=signer, body=encoded, sig=key.sign(encoded))


def place_of(server, k: int) -> tuple[bytes, int, bytes]:
    """Return the match, a position and the head there, as the honest records give it."""
    head = server.setup.match
    for record in server.records[:k]:
        head = link(head, record)
    return server.setup.match, k, head


def abandoned(server) -> MatchRecord:
    """Return a record of the server for the position of the first call, signed as that was."""
    mid, k, head = place_of(server, 0)
    return instead(server, server.message(0), Rule(mid, k, head, 0, "abandon", None, "server", ()))


def refuted(stopped: CheckFailedError) -> set[tuple[str, str | None]]:
    """Return what the files of evidence, and they alone, show to anybody: checks, and who is to blame."""
    together = examine_files(stopped.kept.files)
    verdicts = [file.verdict for file in together.files if isinstance(file, TranscriptExamined)]
    alone = {(it.refutation.check, it.refutation.culprit) for it in verdicts if it.refutation}
    return alone | {(each.found.check, each.found.culprit) for each in together.contradictions}
