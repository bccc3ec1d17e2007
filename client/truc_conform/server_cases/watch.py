"""Cases S2: watching, and the pages of past records. What is sealed stays sealed, and everybody gets the same bytes."""

import re
from functools import reduce
from typing import Final

import trio

from truc_conform.expectations import Map, check_refusal, expect, expect_ok
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat, bodies
from truc_conform.server_cases.away import records_of
from truc_conform.server_visit import ServerVisit, case, case_rows, catch_up, play_on
from truc_protocol.bodies import Body, Call, Deal
from truc_protocol.codec import dec
from truc_protocol.errors import Code
from truc_protocol.records import Phase, next_head

NONE, LIVE, HELD, DELAYED = 0, 1, 2, 3
PAGE: Final = 64
_DELAY_S: Final = 1  # the shortest that can be told from none
_SHORT: Final = 2
_SLACK_S: Final = 0.2  # the record was made before the kit heard of it
# Without those that never have a meaning (evolution.md#names).
_FACT: Final = re.compile("(?!grease_)[a-z_]+")
_PRIVATE: Final = frozenset({"options", "cards", "sign"})
_VIEWS: Final = "views.md#who-sees-what"
_MESSAGE: Final = "messages.md#history"


async def watching(
    visit: ServerVisit, table: str, *, snapshot: bool = False, since: Map | None = None
) -> tuple[RawClient, Map]:
    """Return a connection that watches a table, and the reply to `watch`."""
    client = await visit.player(want=("snapshot",) if snapshot else ())
    if snapshot:
        client.need("snapshot")
    client.log.clear()
    reply = await client.ask_patiently({"t": "watch", "table": table, **(since or {})})
    return client, reply


async def _watched(
    visit: ServerVisit, table: str, *, snapshot: bool = False, since: Map | None = None
) -> tuple[RawClient, Map]:
    client, reply = await watching(visit, table, snapshot=snapshot, since=since)
    return client, expect_ok(reply, "ok to watch")


async def _reads(client: RawClient, seat: RawSeat) -> None:
    """Receive until every record of an ended match has come."""
    records = records_of(client)
    while not (seat.done and records and records[-1][0] == seat.next - 1):
        await client.receive()
        records = records_of(client)


@case_rows(
    _VIEWS,
    "{what}",
    ("S2.watch", "Watchers get the same bytes as seats, and nothing that only seats may know", LIVE),
    ("S2.watch-held-match", "With records held back, watchers get the same bytes, only later", HELD),
)
async def _same_bytes(visit: ServerVisit, *, spectators: int) -> None:
    seats = await visit.seats(spectators=spectators, target=_SHORT)
    client, _ = await _watched(visit, seats[0].table)
    for seat in seats:
        await seat.ready()
    await play_on(seats)
    await _reads(client, seats[0])
    _check_public(client)
    own, came = records_of(seats[0].client), records_of(client)
    expect(came == own, "the same bytes that seats get", came[-1:])


def _check_public(client: RawClient) -> None:
    tags = {message["t"] for message in client.log}
    expect(not tags & _PRIVATE, "nothing that only a seat may know", sorted(tags))


@case("S2.watch-hidden", _VIEWS)
async def _watch_hidden(visit: ServerVisit) -> None:
    """To watchers, two deals differ only in sealed bytes.

    Before the first card two matches may differ, to watchers, only in what is sealed, and not in its length.
    """
    shapes = []
    for _ in range(2):
        mover, other = await visit.in_hand(await visit.seats(spectators=LIVE))
        await catch_up(mover, other)
        client, reply = await _watched(visit, mover.table)
        expect(reply.get("k") == mover.next, f"ok with k {mover.next}", reply)
        _check_public(client)
        shapes.append([_shape(message) for message in client.came("record")])
    deals = [[length for what, length in shape if what[:1] == ("deal",)] for shape in shapes]
    # Decision 11: no length may depend on the cards.
    expect(deals[0] == deals[1] and deals[0], "deals of one length, whatever is dealt", deals)
    told = [{what for what, _ in shape} for shape in shapes]
    expect(told[0] == told[1], "the same kinds of facts, whatever is dealt", told)


def _shape(message: Map) -> tuple[tuple[str, ...], int]:
    """Return what a record shows to those who cannot open it: its kind, the names of its facts, its length."""
    kind = str(dec(message["body"])[0]).rpartition("/")[2]
    facts = [str(fact.get("what")) for fact in message["means"]]
    return (kind, *(what for what in facts if _FACT.fullmatch(what))), len(message["body"])


@case("S2.watch-none", _VIEWS)
async def _watch_none(visit: ServerVisit) -> None:
    """Watching a table that nobody may watch gets private_table."""
    seats = await visit.seats(spectators=NONE)
    _, reply = await watching(visit, seats[0].table)
    check_refusal(reply, Code.PRIVATE_TABLE)


@case("S2.watch-own", "messages.md#watch")
async def _watch_own(visit: ServerVisit) -> None:
    """A connection with a seat need not watch: not_now."""
    (seat, _) = await visit.seats()
    await seat.client.refused({"t": "watch", "table": seat.table}, Code.NOT_NOW)


@case("S2.unwatch", "messages.md#unwatch")
async def _unwatch(visit: ServerVisit) -> None:
    """After unwatch nothing more comes from the table."""
    seats = await visit.seats()
    client, _ = await _watched(visit, seats[0].table)
    expect_ok(await client.ask({"t": "unwatch", "table": seats[0].table}), "ok to unwatch")
    client.log.clear()
    await seats[0].ready()
    # Its reply stands behind whatever was sent before it.
    await client.ask({"t": "tables"})
    told = [message for message in client.log if message.get("table") == seats[0].table]
    expect(not told, "no more word of the table", told)


@case("S2.watch-held", _VIEWS)
async def _watch_held(visit: ServerVisit) -> None:
    """With spectators 2 no record of the open hand is shown."""
    mover, _ = await visit.in_hand(await visit.seats(spectators=HELD))
    # views.md, "Spectators": the records of a hand come when it is closed, so none from its deal on.
    deal = _newest(mover, Deal)
    client, reply = await _watched(visit, mover.table)
    shown = [k for k, *_ in records_of(client)]
    expect(all(k < deal for k in shown), f"no record of the open hand, so none from {deal} on", shown)
    expect(reply.get("k", 0) <= deal, f"ok with k of at most {deal}", reply)


def _newest(seat: RawSeat, kind: type[Body]) -> int:
    """Return the position of the newest record of a kind."""
    return max(k for k, body in enumerate(bodies(seat.played)) if isinstance(body, kind))


@case("S2.watch-delay", _VIEWS)
async def _watch_delay(visit: ServerVisit) -> None:
    """With spectators 3 + s records come s seconds late."""
    (await visit.player()).need("delay")
    mover, other = await visit.in_hand(await visit.seats(spectators=DELAYED + _DELAY_S))
    await catch_up(mover, other)
    client, _ = await _watched(visit, mover.table)
    at = mover.next
    await mover.move()
    made = trio.current_time()
    while not any(k >= at for k, *_ in records_of(client)):
        await client.receive()
    passed = trio.current_time() - made
    expect(passed >= _DELAY_S - _SLACK_S, f"the record {_DELAY_S} s late", f"{passed:.2f} s")


@case("S2.watch-next", "messages.md#watch")
async def _watch_next(visit: ServerVisit) -> None:
    """A watcher can go on from a position."""
    mover, other = await visit.in_hand(await visit.seats(spectators=LIVE))
    await catch_up(mover, other)
    here = {"match": mover.ledger.setup.mid, "next": 2}
    client, reply = await _watched(visit, mover.table, since=here)
    tags = [message["t"] for message in client.log]
    expect("setup" not in tags, "no setup when a watcher goes on", tags)
    known = records_of(mover.client)[2:]
    expect(records_of(client) == known and reply.get("k") == mover.next, "the records from 2 on", reply)


@case("S2.snapshot", "messages.md#snapshot")
async def _snapshot(visit: ServerVisit) -> None:
    """A watcher who wants snapshots begins at the current hand."""
    mover, other = await visit.in_hand(await visit.seats(spectators=LIVE))
    await catch_up(mover, other)
    client, reply = await _watched(visit, mover.table, snapshot=True)
    # views.md, "Snapshot": `k` is the position of the newest call.
    first = _newest(mover, Call)
    came = client.came("snapshot")
    expect([message["k"] for message in came] == [first], f"one snapshot, at {first}", came)
    (snapshot,) = came
    expect(snapshot["head"] == _head_at(mover, first), f"the head at {first}", snapshot["head"])
    expect(snapshot["doc"] == mover.document, "the rule document", len(snapshot["doc"]))
    setup = [list(record) for record in mover.ledger.setup.records]
    expect(snapshot["records"] == setup, "the records of the setup", len(snapshot["records"]))
    expect(snapshot["view"].get("what") == "state", "the fact `state` as the view", snapshot["view"])
    known = records_of(mover.client)[first:]
    expect(records_of(client) == known and reply.get("k") == mover.next, "the records from there on", reply)


def _head_at(seat: RawSeat, k: int) -> bytes:
    return reduce(next_head, seat.played[:k], seat.ledger.setup.mid)


@case("S2.no-snapshot", "capabilities.md#snapshot")
async def _no_snapshot(visit: ServerVisit) -> None:
    """A watcher without snapshots gets the setup and every record."""
    mover, _ = await visit.in_hand(await visit.seats(spectators=LIVE))
    client, _ = await _watched(visit, mover.table)
    tags = [message["t"] for message in client.log]
    expect("snapshot" not in tags and "setup" in tags, "a setup, and no snapshot that was not wanted", tags)


async def _page(client: RawClient, mid: bytes, **fields: object) -> Map:
    client.need("history")
    return await client.ask_patiently({"t": "history", "match": mid, **fields})


async def _paged(client: RawClient, mid: bytes, limit: int) -> list[Map]:
    """Return every past record, page by page."""
    past: list[Map] = []
    more = True
    # A page may be shorter than was asked for: only `more` tells whether there is another.
    while more:
        page = await _page(client, mid, **{"from": len(past), "limit": limit})
        expect(page["t"] == "ok" and len(page["past"]) <= limit, f"ok with at most {limit} records", page)
        past += page["past"]
        expect(page.get("k") == len(past), f"k {len(past)} after the page", page.get("k"))
        expect("setup" not in page and "doc" not in page, "the setup from -1 alone", sorted(page))
        more = page.get("more", False)
    return past


@case("S2.history", _MESSAGE)
async def _history(visit: ServerVisit) -> None:
    """A player gets every record of the match, page by page."""
    mover, other = await visit.in_hand()
    await catch_up(mover, other)
    past = await _paged(mover.client, mover.ledger.setup.mid, 3)
    known = [list(record) for record in mover.played]
    came = [[each["signer"], each["body"], each["sig"]] for each in past]
    expect(came == known, "exactly the records of the match", len(came))
    told = [message["means"] for message in mover.client.came("record")]
    means = [each.get("means", live) for each, live in zip(past, told, strict=True)]
    expect(means == told, "each record to mean what it meant when it came live", means)


@case("S2.history-setup", _MESSAGE)
async def _history_setup(visit: ServerVisit) -> None:
    """history from -1 brings the document and the setup too."""
    mover, _ = await visit.in_hand()
    page = await _page(mover.client, mover.ledger.setup.mid, **{"from": -1})
    expect(page["t"] == "ok" and page.get("doc") == mover.document, "the rule document", page.get("code"))
    expect(
        page.get("setup") == [list(record) for record in mover.ledger.setup.records], "the setup", page["k"]
    )
    expect(len(page.get("past", ())) <= PAGE, f"at most {PAGE} records", len(page.get("past", ())))


@case_rows(
    _VIEWS,
    "Strangers get {what}",
    ("S2.history-none", "private_table for a match that nobody may watch", NONE, Code.PRIVATE_TABLE),
    ("S2.history-live", "what watchers see of a match in play", LIVE, None),
    ("S2.history-held", "nothing of a hand that is held back", HELD, None),
)
async def _strangers_past(visit: ServerVisit, *, spectators: int, code: Code | None) -> None:
    mover, _ = await visit.in_hand(await visit.seats(spectators=spectators))
    reply = await _page(await visit.player(), mover.ledger.setup.mid, **{"from": 0})
    if code is not None:
        check_refusal(reply, code)
        return
    expect_ok(reply, "ok as far as watchers see")
    deal = _newest(mover, Deal)
    end = mover.next if spectators == LIVE else deal
    expect(reply.get("k", 0) <= end, f"no record from {end} on", reply.get("k"))


@case_rows(
    _VIEWS,
    "After the match, transcript {transcript} {what} those who did not play",
    ("S2.history-after-seats", "refuses", "seats", False),
    ("S2.history-after-watchers", "admits", "watchers", True),
    ("S2.history-after-all", "admits", "all", True),
)
async def _afterwards(visit: ServerVisit, *, transcript: str, allowed: bool) -> None:
    seats = await visit.match(await visit.seats(target=_SHORT, transcript=transcript, spectators=LIVE))
    await play_on(seats)
    expect(seats[0].ledger.phase is Phase.ENDED, "an ended match", seats[0].ledger.phase)
    reply = await _page(await visit.player(), seats[0].ledger.setup.mid, **{"from": 0})
    if allowed:
        expect_ok(reply, f"ok where transcript is {transcript}")
    else:
        check_refusal(reply, Code.PRIVATE_TABLE)


@case("S2.history-unknown", "errors.md#no_such_match")
async def _history_unknown(visit: ServerVisit) -> None:
    """A match that was never played gets no_such_match."""
    client = await visit.player()
    check_refusal(await _page(client, bytes(32), **{"from": 0}), Code.NO_SUCH_MATCH)


@case("S2.transcript-word", "options.md#table-options")
async def _transcript_word(visit: ServerVisit) -> None:
    """transcript must be one of three words."""
    seat = await visit.seat()
    seat.client.need("history")
    check_refusal(
        await seat.open_table({"transcript": "nobody"}), Code.BAD_OPTION, field="options/transcript"
    )
