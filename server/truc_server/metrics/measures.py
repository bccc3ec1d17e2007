"""Whether the server is healthy, and every metric of its own: its name, its help text and where its value comes from.

The page at /metrics is made from this table; docs/hosting/watching.md has a row for each, which a test compares.
Invariant: no label tells of a person, an address, a table or a key, and the values of each are known beforehand.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, get_args

import trio

from truc_protocol.errors import Code
from truc_protocol.records import BLIND
from truc_server.net.admission import Reason
from truc_server.operation.figures import INNER_CUTS, LINK_LOSSES, WEB_PATHS, WEB_REFUSALS
from truc_server.parts import ServerParts
from truc_server.storage import PlayerKind
from truc_server.storage.journal import MAX_WAITING, SLOW_S, Histogram, HistogramShape, Journal
from truc_server.table_data.board import TableStage

EVERY_S: Final = 0.25  # between two looks at how late the loop is


class Health(NamedTuple):
    """Whether all is well, and if not, in a few words what is wrong."""

    is_well: bool
    text: str


def health(parts: ServerParts) -> Health:
    """Return whether the server is healthy."""
    journal = parts.journal
    if parts.failure is not None:
        return Health(is_well=False, text="failed: the store takes no more writes")
    if journal.is_closed:
        return Health(is_well=False, text="stopping")
    if parts.drain.is_on:
        return Health(is_well=False, text="draining: hands under way end, and nothing else begins")
    behind = why_behind(journal)
    return Health(is_well=behind is None, text=behind or "ok")


def why_behind(journal: Journal) -> str | None:
    """Return in what way the store is behind; None if it keeps up."""
    if journal.is_behind:
        return f"behind: {journal.waiting} writes wait for the store"
    took = journal.commit_s(trio.current_time())
    return f"behind: a commit has been under way for {took:.0f} s" if took > SLOW_S else None


async def watch(late_s: Histogram) -> None:
    """Measure again and again how late the loop is."""
    moment = trio.current_time()
    while True:
        moment += EVERY_S
        await trio.sleep_until(moment)
        now = trio.current_time()
        late_s.add(now - moment)
        # what was missed during a stall is not measured again and again: the stall counts once
        moment = max(moment, now)


Value = float | HistogramShape | Mapping[str, float]
"""A figure, how values are spread, or a figure for each value of the label."""


class Measure(NamedTuple):
    """One metric, a counter that only rises if its name ends in `_total`.

    `label` is what tells its figures apart: one name, or several with spaces between.
    """

    name: str
    text: str
    read: Callable[[ServerParts], Value]
    label: str | None = None


class Reading(NamedTuple):
    """A metric with its value at one moment."""

    measure: Measure
    value: Value


def _all_of(values: Iterable[str], counted: Mapping[str, int]) -> Mapping[str, float]:
    """Return the count of every value, even if it has not come up: a series that appears late looks like a jump."""
    return {value: counted.get(value, 0) for value in map(str, values)}


def _all_states(parts: ServerParts) -> Value:
    return _all_of(get_args(TableStage), Counter(table.board.state for table in parts.lobby.tables()))


def _connections(parts: ServerParts) -> Value:
    figures = parts.figures
    logged_in = figures.logins.total() - figures.left
    return {"login": figures.connections - figures.closed - logged_in, "ready": logged_in}


def _lease_left(parts: ServerParts) -> Value:
    until = parts.figures.lease_until
    return 0.0 if until is None else max(0.0, until - time.monotonic())


MEASURES: Final = (
    Measure(
        "truc_healthy",
        "1 while /health says ok, 0 otherwise.",
        lambda parts: health(parts).is_well,
    ),
    Measure(
        "truc_connections",
        "Open connections: not logged in yet (login), or logged in (ready).",
        _connections,
        label="state",
    ),
    Measure(
        "truc_connections_opened_total",
        "Connections that were let in, and have agreed on TLS where listen.tls is on.",
        lambda parts: parts.figures.connections,
    ),
    Measure(
        "truc_tls_failures_total",
        "Connections that were let in and have not agreed on TLS, although listen.tls is on.",
        lambda parts: parts.figures.unencrypted,
    ),
    Measure(
        "truc_certificate_ends_seconds",
        "When the certificate that new connections are shown ends, in seconds since 1970; 0 while listen.tls is off.",
        lambda parts: parts.figures.certificate_ends,
    ),
    Measure(
        "truc_turned_away_total",
        "Connections that were not let in, by the reason: banned, full (limits.connections), address "
        "(limits.connections_per_address), site (a tenth of limits.connections), pace (limits.connects_per_min).",
        lambda parts: _all_of(get_args(Reason), parts.figures.turned_away),
        label="reason",
    ),
    Measure(
        "truc_inner_total",
        "What came to cluster.inner: players brought by another node (in), and what was cut: no node (stranger), another "
        "version (version), without the key (forged), too slow (slow), gone (gone), too many at once (crowded).",
        lambda parts: _all_of(("in", *INNER_CUTS), parts.figures.brought),
        label="reason",
    ),
    Measure(
        "truc_links",
        "Links to other nodes that are open for players of this one.",
        lambda parts: parts.figures.links,
    ),
    Measure(
        "truc_links_lost_total",
        "Links to other nodes that came to nothing: the node does not answer (unreached), or lets nobody in (refused); and "
        "those that ended while their player was here (ended).",
        lambda parts: _all_of(LINK_LOSSES, parts.figures.links_lost),
        label="reason",
    ),
    Measure(
        "truc_lease_left_seconds",
        "For how long the lease of this node lasts at least; 0 for a server that is alone on its database.",
        _lease_left,
    ),
    Measure(
        "truc_lease_renewal_seconds",
        "How long one renewal of the lease took.",
        lambda parts: parts.renewals_s.shape(),
    ),
    Measure(
        "truc_lease_failures_total",
        "Renewals of the lease that the database has not taken; each is tried again.",
        lambda parts: parts.figures.renewals_failed,
    ),
    Measure(
        "truc_tables_moved_total",
        "Tables taken up from nodes that are gone or have given them (taken), and given to others (given).",
        lambda parts: {
            "taken": parts.figures.tables_taken,
            "given": parts.figures.tables_given,
        },
        label="how",
    ),
    Measure(
        "truc_players",
        "Players who are logged in.",
        lambda parts: len(parts.lobby.online),
    ),
    Measure(
        "truc_logins_total",
        "Logins, by the kind of player.",
        lambda parts: _all_of(PlayerKind, parts.figures.logins),
        label="kind",
    ),
    Measure(
        "truc_tables",
        "Tables: waiting for players (open), for signatures (terms), with a match that is played (playing) or over.",
        _all_states,
        label="state",
    ),
    Measure(
        "truc_blind_tables",
        "Tables whose host sees no card (mode blind), in any state.",
        lambda parts: sum(table.blueprint.chosen.mode == BLIND for table in parts.lobby.tables()),
    ),
    Measure(
        "truc_acts_total",
        "Acts that seats have signed (key) or chosen (guest) and the server has accepted.",
        lambda parts: _all_of(PlayerKind, parts.figures.acts),
        label="kind",
    ),
    Measure(
        "truc_act_seconds",
        "Time from when an act was read until it was durable and sent out.",
        lambda parts: parts.journal.acts_s.shape(),
    ),
    Measure(
        "truc_errors_total",
        "What was answered with an error, by its code.",
        lambda parts: _all_of(Code, parts.figures.errors),
        label="code",
    ),
    Measure(
        "truc_goodbyes_total",
        "Connections that the server has ended of its own accord, by the code of its bye.",
        lambda parts: _all_of(Code, parts.figures.goodbyes),
        label="code",
    ),
    Measure(
        "truc_slow_consumers_total",
        "Connections that were cut because they do not read: more waits than limits.outbox_bytes (full), or "
        "nothing was taken for long (stuck).",
        lambda parts: {"full": parts.figures.cut, "stuck": parts.flusher.stuck},
        label="reason",
    ),
    Measure(
        "truc_frames_dropped_total",
        "Frames for watchers dropped for want of room; the watcher is sent the state later instead.",
        lambda parts: parts.figures.dropped,
    ),
    Measure(
        "truc_received_bytes_total",
        "Bytes of the protocol that clients have sent, without what TLS adds.",
        lambda parts: parts.figures.received,
    ),
    Measure(
        "truc_sent_bytes_total",
        "Bytes of the protocol that clients were sent, without what TLS adds.",
        lambda parts: parts.flusher.sent,
    ),
    Measure(
        "truc_web_requests_total",
        "Requests of browsers that were answered, by what was asked for and the status.",
        lambda parts: {
            **dict.fromkeys((f"{path} 200" for path in WEB_PATHS), 0),
            **parts.figures.web_requests,
        },
        label="path status",
    ),
    Measure(
        "truc_web_refused_total",
        "What came to web.listen and was not served, by the reason.",
        lambda parts: _all_of(WEB_REFUSALS, parts.figures.web_refused),
        label="why",
    ),
    Measure(
        "truc_web_connections",
        "Open connections of browsers: for pages (http), or with the protocol (websocket), which truc_connections has too.",
        lambda parts: {
            "http": parts.figures.web_connections,
            "websocket": parts.figures.websockets,
        },
        label="kind",
    ),
    Measure(
        "truc_web_tree_info",
        "1, with the name of the tree of files that browsers are given; 0 without one while web.listen is empty.",
        lambda parts: {parts.figures.web_tree: bool(parts.figures.web_tree)},
        label="tree",
    ),
    Measure(
        "truc_append_seconds",
        "How long one commit of the journal took.",
        lambda parts: parts.journal.commits_s.shape(),
    ),
    Measure(
        "truc_append_writes",
        "How many writes one commit of the journal had.",
        lambda parts: parts.journal.sizes.shape(),
    ),
    Measure(
        "truc_journal_waiting_writes",
        f"Writes that wait for a commit; with {MAX_WAITING} the journal is behind.",
        lambda parts: parts.journal.waiting,
    ),
    Measure(
        "truc_loop_lag_seconds",
        "How late the event loop is, measured four times a second; the log reports more than a second as `stood_still`.",
        lambda parts: parts.late_s.shape(),
    ),
    Measure(
        "truc_disk_nearly_full",
        "1 while less than store.spare_mb is free, and no table or match begins.",
        lambda parts: parts.disk.is_nearly_full,
    ),
    Measure(
        "truc_disk_free_bytes",
        "What is free on the disk of the data folder, looked at every 10 seconds.",
        lambda parts: parts.disk.free,
    ),
)


def read(parts: ServerParts) -> tuple[Reading, ...]:
    """Return every metric as it is at this moment."""
    return tuple(Reading(measure, measure.read(parts)) for measure in MEASURES)
