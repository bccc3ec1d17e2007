"""The planted cheats of level C3 in what follows what: a table, a match, a record or a decision again, otherwise, or not at all.

Most of these messages are sound by themselves: only what came before them shows the lie. What a client must do then stands
in cheats.py.
"""

from typing import Final

from msgspec.structs import replace

from truc_conform.client_cases.cheats import CHECKS, DUTIES, OTHER, cheat, reached, stops
from truc_conform.client_cases.seated import on_choice
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import require
from truc_conform.forging import (
    BEFORE_MATCH,
    note_cheat,
    place_of,
    put_instead,
    ruled_out,
    signed_again,
)
from truc_conform.playing import Puppet, secret, signed_position
from truc_conform.result import AnyAct, is_record, tag_of_body
from truc_conform.scenes import (
    CLOSING_S,
    ClientExit,
    at_first,
    each_of,
    end_after,
    finishes,
    intercepting,
    said,
    scene,
)
from truc_conform.shown import CODE
from truc_protocol import messages
from truc_protocol.bodies import Resign
from truc_protocol.dealer import Dealer
from truc_protocol.errors import Code
from truc_protocol.ledger import start_ledger
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.records import Record
from truc_protocol.setup import close_setup, open_terms


def _signs_no_second(server: ClientHarness, end: ClientExit) -> None:
    # specification.md, "Setup": a nonce serves one table record.
    seats = {act.body for act in said(server, messages.SignedAct) if act.match is None}
    require(len(seats) <= 1, "it signed two tables with one nonce")
    stops(server, end)


def _asks_again_or_stops(server: ClientHarness, end: ClientExit) -> None:
    # overview.md, "One log": a gap is a loss on the line first of all.
    judge = finishes if said(server, messages.Resume) else stops
    judge(server, end)


def _second_table(server: ClientHarness) -> Record:
    first = server.dealer.secrets
    dealer = Dealer(
        server.key, MatchSecrets(secret("root again", 1), secret("x again", 1), first.tn), links=64
    )
    return server.table_record(dealer, opened_at=1_700_000_001)


@scene("C3.cheat-nonce", CHECKS, "does not sign two tables with one nonce (C9, C36)", _signs_no_second)
@intercepting(messages.SignedAct)
async def _nonce_again(server: ClientHarness, message: messages.SignedAct) -> bool:
    """Offer a second table under the nonce of the first, once the seat is signed."""
    if message.match is not None or server.terms is None:
        return False
    await server.push(messages.Ok(re=message.id))
    if server.cheated_at is None:
        server.cheated_at = BEFORE_MATCH
        await server.push(replace(server.terms, record=_second_table(server)))
    return True


@cheat("C3.cheat-setup", "a second match of the terms it has signed (C36)")
def _begun_twice(server: ClientHarness) -> None:
    """Begin the match twice, the second time with somebody else in the other seat, and call the first deal of both."""
    server.recast = each_of(messages.Setup, lambda setup: _begin_twice(server, setup))


def _begin_twice(server: ClientHarness, message: messages.Setup) -> tuple[messages.ServerMessage, ...]:
    note_cheat(server, BEFORE_MATCH)
    table, own, *_ = (Record(*record) for record in message.records)
    terms = open_terms(server.document, table)
    seats = (own, Puppet(1, server.seed, person="another ").join(terms))
    checked = close_setup(terms, seats, server.dealer.match_record(terms, seats))
    call = server.dealer.next_record(start_ledger(checked))
    if call is None:
        raise RuntimeError("a match begins with a call")
    second = replace(message, match=checked.mid, records=checked.records)
    called = messages.MatchRecord(table=CODE, match=checked.mid, k=0, means=(), **call._asdict())
    # The call of both, so that a client which follows either of them has something to release.
    return message, second, called


@cheat("C3.cheat-history", "another record for a position it has (C33)")
def _two_histories(server: ClientHarness) -> None:
    """Lose the connection after a record of the client's, and afterwards send another in the place of the one before."""
    _send_another(server)
    on_choice(_lose, number=2)(server)


async def _lose(server: ClientHarness, message: AnyAct) -> None:
    await server.take(server.record_of(message))
    await server.drop()


@intercepting(messages.Resume)
async def _send_another(server: ClientHarness, message: messages.Resume) -> bool:
    # It is told the same again as often as it asks.
    note_cheat(server, len(server.records) - 1)
    await show_ruling(server, message)
    await server.go_on()
    return True


async def show_ruling(server: ClientHarness, message: messages.Resume) -> None:
    """Send the records that a client asks for, and a ruling in the place of the one on which it has signed its last."""
    # That one it had for certain; its own may have been lost with the connection.
    k = reached(server, "the cheat") - 1
    await send_up_to(server, message, k)
    # Whatever it has asked for: if it has the record that stood there, the two contradict each other (C33).
    ruling = ruled_out(place_of(server, k), server.at_play().deal_index)
    await server.push(put_instead(server, server.message(k), ruling))
    await server.push(messages.Ok(re=message.id, k=k + 1))


async def send_up_to(server: ClientHarness, message: messages.Resume, k: int) -> None:
    """Send the records before `k` that a client asks for."""
    if message.next < 0 and server.setup is not None:
        await server.push(server.setup)
    for before in range(max(0, message.next), k):
        await server.push(server.message(before))


@cheat("C3.cheat-second-act", "a second act of the other seat for a position it has (C34)")
def _acted_twice(server: ClientHarness) -> None:
    """Lose the connection once the other seat has acted, and afterwards show that it resigned instead, by the same key."""
    _resign_instead(server)
    _lose_behind(server)


@intercepting(messages.SignedAct)
async def _lose_behind(server: ClientHarness, message: messages.SignedAct) -> bool:
    if server.cheated_at is not None or not any(map(_is_other_act, server.records)):
        return False
    note_cheat(server, len(server.records))
    await _lose(server, message)
    return True


@intercepting(messages.Resume)
async def _resign_instead(server: ClientHarness, message: messages.Resume) -> bool:
    if server.cheated_at is None:
        return False
    k = next(k for k, record in enumerate(server.records) if _is_other_act(record))
    await send_up_to(server, message, k)
    resignation = Resign(*place_of(server, k), OTHER - 1)
    await server.push(put_instead(server, server.message(k), resignation, signer=OTHER))
    await server.push(messages.Ok(re=message.id, k=k + 1))
    await server.go_on()
    return True


def _is_other_act(record: Record) -> bool:
    return record.signer == OTHER and tag_of_body(record.body) == "act"


@cheat("C3.cheat-second-call", "a second call for a position it has, wrong as well (C33)")
@on_choice
async def _called_again(server: ClientHarness, message: AnyAct) -> None:
    """Sign the first call once more, with a cut, and go on as if nothing were."""
    if not isinstance(message, messages.SignedAct):
        return
    note_cheat(server, signed_position(message))
    # Wrong in itself too: also a record that fails where it
    # comes convicts with the one that it contradicts (C33).
    await server.push(signed_again(server, server.message(0), cut=9))
    await server.accept(message)
    await server.go_on()


_MOST_ASKED: Final = 10
"""How often a client may ask for records that there are not: three times in one place are enough (section 13)."""


def _asks_in_measure(server: ClientHarness, _end: ClientExit) -> None:
    reached(server, "the options")
    asked = len(said(server, messages.Resume))
    require(asked <= _MOST_ASKED, f"it asked {asked} times in {CLOSING_S:.0f} s")


async def _offer_later(server: ClientHarness, at: int) -> None:
    offers = (sent for sent in server.sent if isinstance(sent, messages.BoxedOptions))
    await server.push(replace(next(offers), at=at))


@intercepting(messages.Resume)
async def _offer_again(server: ClientHarness, message: messages.Resume) -> bool:
    if server.cheated_at is None:
        return False
    await server.push(messages.Ok(re=message.id, k=len(server.records)))
    await _offer_later(server, server.cheated_at)
    return True


@on_choice
async def _offer_ahead(server: ClientHarness, _message: AnyAct) -> None:
    note_cheat(server, len(server.records) + 2)
    server.nursery.start_soon(end_after, server, CLOSING_S)
    await _offer_later(server, reached(server, "the options"))


@scene(
    "C3.ahead",
    "session.md#coming-back",
    "does not ask without end for records that there are not",
    _asks_in_measure,
)
def _ahead(server: ClientHarness) -> None:
    """Send options for a later position, and whenever the client asks for records, none, and these options again."""
    _offer_again(server)
    _offer_ahead(server)


def _signs_no_other(server: ClientHarness, _end: ClientExit) -> None:
    refused = reached(server, "the refusal")
    acts = [act for act in said(server, messages.SignedAct) if act.match is not None]
    # specification.md, "What a client does": never another
    # act for the same k if the first was offered (C34, C35).
    bodies = {act.body for act in acts if signed_position(act) == refused}
    require(len(bodies) <= 1, "it signed another act for that position")


@scene(
    "C3.cheat-refused", DUTIES, "signs no other act where the server refuses one it offered", _signs_no_other
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


@cheat(
    "C3.cheat-refused-taken",
    "a record behind an act of its own that the server had refused by signature (C35)",
)
@on_choice
async def _refused_and_taken(server: ClientHarness, message: AnyAct) -> None:
    """Say by signature that an act came too late, take it all the same, and rule that the match is over."""
    if not isinstance(message, messages.SignedAct):
        return
    code = Code.STALE_POSITION
    signed = server.dealer.refuse(server.at_play().setup.mid, message.body, code.value)
    await server.push(replace(messages.refusal(code, "too late", re=message.id), refuse=signed))
    await server.take(server.record_of(message))
    note_cheat(server, server.at_play().k)
    await server.take(server.dealer.abandon(server.at_play(), "server"))
    await server.go_on()


@scene("C3.gap", "overview.md#one-log", "asks for a missing record, or stops", _asks_again_or_stops)
def _skipped(server: ClientHarness) -> None:
    """Leave a record out, once."""

    def skip(record: messages.ServerMessage) -> tuple[()]:
        server.cheated_at = record.k if isinstance(record, messages.MatchRecord) else None
        return ()

    at_first(server, lambda message: is_record(message, "draw"), skip)
