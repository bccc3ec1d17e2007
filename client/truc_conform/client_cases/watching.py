"""The cases of level C1: following a match without a seat, from wherever the match is to its end."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from truc_conform.client_harness import Stage
from truc_conform.forging import place_of
from truc_conform.grease import raw
from truc_conform.result import Outcome, Verdict, failed, tag_of_body
from truc_conform.scenes import (
    Exit,
    at_first,
    cut_to_pieces,
    grease_all,
    lengthen,
    needing,
    one,
    plain,
    said,
    unended,
    unwatched,
)
from truc_conform.shown import CODE, INFO
from truc_protocol.messages import (
    ClientHello,
    ClientMessage,
    MatchRecord,
    Ok,
    ServerMessage,
    Snapshot,
    Watch,
    encode_info,
)

_WATCH: Final = "messages.md#watch"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_LOST: Final = 14
"""The position of the record that a watcher does not get, or not whole."""


def _is_lost(message: ServerMessage) -> bool:
    return isinstance(message, MatchRecord) and message.k == _LOST


def _gap(stage: Stage) -> None:
    """Leave one record out, once."""
    at_first(stage, _is_lost, lambda _record: ())


def _notices_the_gap(stage: Stage, end: Exit) -> Outcome | None:
    if len(said(stage, Watch)) > 1:
        return unended(stage, end)
    return None if end.code else failed("it went on although a record was missing")


def _broken_off(stage: Stage) -> None:
    """Lose the connection in the middle of a record."""

    def half(message: ServerMessage) -> Iterable[bytes]:
        stage.is_cut_off = True
        frame = raw(message)
        return (frame[: len(frame) // 2],)

    at_first(stage, _is_lost, half)


def _comes_back(stage: Stage, end: Exit) -> Outcome | None:
    watches = said(stage, Watch)
    if len(watches) == 1:
        return failed("it did not come back with `watch`")
    again = watches[1]
    if again.next is not None and again.next > _LOST:
        return failed(f"it watched from {again.next}, but had no records from {_LOST} on")
    return unended(stage, end)


def _snapshots(stage: Stage) -> None:
    """Begin with a snapshot at the present hand, for a client that wants it."""
    stage.info = encode_info(replace(INFO, caps={"snapshot": True}))

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, Watch) or not _wants_snapshots(stage) or stage.ledger is not None:
            return False
        await stage.rehearse()
        first = max(k for k, record in enumerate(stage.records) if tag_of_body(record.body) == "call")
        await stage.push(stage.state())
        await stage.push(_snapshot(stage, first))
        for k in range(first, len(stage.records)):
            await stage.push(stage.message(k))
        await stage.push(Ok(re=message.id, k=len(stage.records)))
        stage.stop_at = None
        await stage.go_on()
        return True

    stage.intercepts.append(intercept)


def _snapshot(stage: Stage, k: int) -> Snapshot:
    match, _, head = place_of(stage, k)
    setup = stage.at_play().setup.records
    view = stage.facts[k - 1][-1]
    return Snapshot(table=CODE, match=match, k=k, head=head, doc=stage.document, records=setup, view=view)


def _wants_snapshots(stage: Stage) -> bool:
    hello = stage.heard[0].message if stage.heard else None
    return isinstance(hello, ClientHello) and "snapshot" in hello.want


def _goes_on_from_the_snapshot(stage: Stage, end: Exit) -> Outcome | None:
    if not _wants_snapshots(stage):
        return Outcome(Verdict.INFO, "it does not want snapshots")
    return unended(stage, end)


SCENES: Final = needing(
    unwatched,
    one("C1.watches", _WATCH, "follows a match to its end, then exits", plain, unended),
    one("C1.unknown", _UNKNOWN, "goes on, ignoring everything unknown", grease_all, unended),
    one("C1.pieces", "transport.md#frames", "goes on when frames come in pieces", cut_to_pieces, unended),
    one("C1.long-frames", "limits.md#sizes", "takes frames of 65536 bytes", lengthen, unended),
    one("C1.gap", "overview.md#one-log", "asks for a missing record, or stops", _gap, _notices_the_gap),
    one(
        "C1.comes-back",
        _WATCH,
        "comes back after a lost connection, at the first record it lacks",
        _broken_off,
        _comes_back,
    ),
    one(
        "C1.snapshot",
        "messages.md#snapshot",
        "goes on from a snapshot, if it wants snapshots",
        _snapshots,
        _goes_on_from_the_snapshot,
    ),
)
