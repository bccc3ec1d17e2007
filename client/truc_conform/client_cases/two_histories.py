"""The planted cheats of level C3 in what follows what: a table, a record or a decision again, otherwise, or not at all."""

from collections.abc import Iterable

from msgspec.structs import replace

from truc_conform.client_cases.seated import on_choice
from truc_conform.client_cases.stopping import CHECKS, DUTIES, cheat, stops
from truc_conform.client_harness import ClientHarness
from truc_conform.forging import BEFORE_MATCH, instead, note_cheat, place_of, resigned, ruled_out
from truc_conform.playing import Puppet, secret, signed_position
from truc_conform.result import AnyAct, CaseOutcome, failed, tag_of_body
from truc_conform.scenes import Exit, at_first, intercepting, judged, recasting, said, scene, unended
from truc_conform.shown import CODE
from truc_protocol import messages
from truc_protocol.dealer import Dealer
from truc_protocol.errors import Code
from truc_protocol.ledger import start
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.records import Record
from truc_protocol.setup import close_setup, open_terms


def _signs_no_second(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    seats = {act.body for act in said(server, messages.SignedAct) if act.match is None}
    return failed("it signed two tables with one nonce") if len(seats) > 1 else stops(server, end)


def _asks_again_or_stops(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    return unended(server, end) if said(server, messages.Resume) else stops(server, end)


def _second_table(server: ClientHarness) -> Record:
    first = server.dealer.secrets
    dealer = Dealer(
        server.key, MatchSecrets(secret("root again", 1), secret("x again", 1), first.tn), links=64
    )
    terms = dealer.terms(
        server.variant, seats=server.seats, opts=server.opts, name="a server", opened=1_700_000_001
    )
    return terms.record


@scene(
    judged("C3.cheat-nonce", CHECKS, "does not sign two tables with one nonce (C9, C36)", _signs_no_second)
)
@intercepting
async def _nonce_again(server: ClientHarness, message: messages.ClientMessage) -> bool:
    """Offer a second table under the nonce of the first, once the seat is signed."""
    if not isinstance(message, messages.SignedAct) or message.match is not None or server.terms is None:
        return False
    await server.push(messages.Ok(re=message.id))
    if server.cheated_at is None:
        server.cheated_at = BEFORE_MATCH
        await server.push(replace(server.terms, record=_second_table(server)))
    return True


@cheat("C3.cheat-setup", "a second match of the terms it has signed (C36)")
@recasting
def _begun_twice(
    server: ClientHarness, message: messages.ServerMessage
) -> Iterable[messages.ServerMessage | bytes]:
    """Begin the match twice, the second time with somebody else in the other seat, and call the first deal of both."""
    if not isinstance(message, messages.Setup):
        return (message,)
    note_cheat(server, BEFORE_MATCH)
    table, own, *_ = (Record(*record) for record in message.records)
    terms = open_terms(server.document, table)
    seats = (own, Puppet(1, server.seed, person="another ").join(terms))
    checked = close_setup(terms, seats, server.dealer.match_record(terms, seats))
    call = server.dealer.next_record(start(checked))
    if call is None:
        raise RuntimeError("a match begins with a call")
    second = replace(message, match=checked.mid, records=checked.records)
    called = messages.MatchRecord(table=CODE, match=checked.mid, k=0, means=(), **call._asdict())
    return message, second, called


@cheat("C3.cheat-history", "another record for a position it has (C33)")
def _two_histories(server: ClientHarness) -> None:
    """Lose the connection after a record, and afterwards send another in its place."""
    _send_another(server)
    on_choice(_lose, number=2)(server)


async def _lose(server: ClientHarness, message: AnyAct) -> None:
    await server.take(server.record_of(message))
    await server.drop()


@intercepting
async def _send_another(server: ClientHarness, message: messages.ClientMessage) -> bool:
    if not isinstance(message, messages.Resume):
        return False
    k = len(server.records) - 1 if server.cheated_at is None else server.cheated_at
    server.cheated_at = k
    place, honest = place_of(server, k), server.message(k)
    await server.push(instead(server, honest, ruled_out(place, server.at_play().deal_index)))
    await server.push(messages.Ok(re=message.id, k=k + 1))
    await server.go_on()
    return True


@cheat("C3.cheat-second-call", "a second call for a position it has, wrong as well (C33)")
@on_choice
async def _called_again(server: ClientHarness, message: AnyAct) -> None:
    """Sign the first call once more, with a cut, and go on as if nothing were."""
    if not isinstance(message, messages.SignedAct):
        return
    note_cheat(server, signed_position(message))
    await server.push(resigned(server, server.message(0), cut=9))
    await server.take(server.record_of(message))
    await server.push(messages.Ok(re=message.id, k=len(server.records) - 1))
    await server.go_on()


def _signs_no_other(server: ClientHarness, _end: Exit) -> CaseOutcome | None:
    if server.cheated_at is None:
        return failed("the match never reached the refusal")
    acts = [act for act in said(server, messages.SignedAct) if act.match is not None]
    bodies = {act.body for act in acts if signed_position(act) == server.cheated_at}
    return failed("it signed another act for that position") if len(bodies) > 1 else None


@scene(
    judged(
        "C3.cheat-refused",
        DUTIES,
        "signs no other act where the server refuses one it offered",
        _signs_no_other,
    )
)
@on_choice
async def _refused(server: ClientHarness, message: AnyAct) -> None:
    """Refuse by signature what was offered, and offer it again."""
    if not isinstance(message, messages.SignedAct):
        return
    server.cheated_at = signed_position(message)
    code = Code.ILLEGAL_ACTION
    signed = server.dealer.refuse(server.at_play().setup.mid, message.body, code.value)
    await server.push(replace(messages.refusal(code, "no", re=message.id), refuse=signed))
    await server.send_options()


@scene(judged("C3.gap", "overview.md#one-log", "asks for a missing record, or stops", _asks_again_or_stops))
def _skipped(server: ClientHarness) -> None:
    """Leave a record out, once."""

    def skip(record: messages.ServerMessage) -> tuple[()]:
        server.cheated_at = record.k if isinstance(record, messages.MatchRecord) else None
        return ()

    at_first(
        server,
        lambda message: isinstance(message, messages.MatchRecord) and tag_of_body(message.body) == "draw",
        skip,
    )
