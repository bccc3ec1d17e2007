"""The cases of level C1: following a match without a seat, from wherever the match is to its end."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import require
from truc_conform.forging import place_of
from truc_conform.grease import raw
from truc_conform.result import tag_of_body
from truc_conform.scenes import (
    ClientExit,
    at_first,
    cut_to_pieces,
    finishes,
    grease_all,
    if_wanted,
    intercepting,
    lengthen,
    plain,
    said,
    scene,
    wants,
)
from truc_conform.shown import CODE, INFO
from truc_protocol import messages

_SNAPSHOT: Final = "snapshot"
_WATCH: Final = "messages.md#watch"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_LOST: Final = 14
"""The position of the record that a watcher does not get, or not whole."""

_ALIKE: Final = [
    scene(name, clause, expected, finishes)(arrange)
    for name, clause, expected, arrange in (
        ("C1.watches", _WATCH, "follows a match to its end, then exits", plain),
        ("C1.unknown", _UNKNOWN, "goes on, ignoring everything unknown", grease_all),
        ("C1.pieces", "transport.md#frames", "goes on when frames come in pieces", cut_to_pieces),
        ("C1.long-frames", "limits.md#sizes", "takes frames of 65536 bytes", lengthen),
    )
]


def _is_lost(message: messages.ServerMessage) -> bool:
    return isinstance(message, messages.MatchRecord) and message.k == _LOST


def _notices_the_gap(server: ClientHarness, end: ClientExit) -> None:
    # overview.md, "One log": a gap means loss, and is filled
    # by asking from the first position that is missing.
    if len(said(server, messages.Watch)) > 1:
        finishes(server, end)
    else:
        require(end.code, "it went on although a record was missing")


@scene("C1.gap", "overview.md#one-log", "asks for a missing record, or stops", _notices_the_gap)
def _gap(server: ClientHarness) -> None:
    """Leave one record out, once."""
    at_first(server, _is_lost, lambda _record: ())


def _comes_back(server: ClientHarness, end: ClientExit) -> None:
    watches = said(server, messages.Watch)
    require(len(watches) != 1, "it did not come back with `watch`")
    again = watches[1]
    # From further back, or from the beginning, is allowed too.
    is_right = again.next is None or again.next <= _LOST
    require(is_right, f"it watched from {again.next}, but had no records from {_LOST} on")
    finishes(server, end)


@scene(
    "C1.comes-back", _WATCH, "comes back after a lost connection, at the first record it lacks", _comes_back
)
def _broken_off(server: ClientHarness) -> None:
    """Lose the connection in the middle of a record."""

    def half(message: messages.ServerMessage) -> Iterable[bytes]:
        server.is_cut_off = True
        frame = raw(message)
        return (frame[: len(frame) // 2],)

    at_first(server, _is_lost, half)


@scene(
    "C1.snapshot",
    "messages.md#snapshot",
    "goes on from a snapshot, if it wants snapshots",
    if_wanted(_SNAPSHOT),
    finishes,
)
def _snapshots(server: ClientHarness) -> None:
    """Begin with a snapshot at the present hand, for a client that wants it."""
    server.info = messages.encode_info(replace(INFO, caps={_SNAPSHOT: True}))
    _begin_at_the_hand(server)


@intercepting(messages.Watch)
async def _begin_at_the_hand(server: ClientHarness, message: messages.Watch) -> bool:
    if not wants(server, _SNAPSHOT) or server.ledger is not None:
        return False
    await server.rehearse()
    # views.md, "Snapshot": it stands at the newest call.
    first = max(k for k, record in enumerate(server.records) if tag_of_body(record.body) == "call")
    await server.push(server.state())
    await server.push(_snapshot(server, first))
    for k in range(first, len(server.records)):
        await server.push(server.message(k))
    await server.push(messages.Ok(re=message.id, k=len(server.records)))
    server.stop_at = None
    await server.go_on()
    return True


def _snapshot(server: ClientHarness, k: int) -> messages.Snapshot:
    match, _, head = place_of(server, k)
    setup = server.at_play().setup.records
    # views.md, "Snapshot": the fact `state` of the record before, which is the last of its facts.
    view = server.facts[k - 1][-1]
    return messages.Snapshot(
        table=CODE, match=match, k=k, head=head, doc=server.document, records=setup, view=view
    )
