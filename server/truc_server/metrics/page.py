"""HTTP on a port for the host: `/metrics` for Prometheus, `/health` for whoever asks whether all is well.

One request per connection, which speaks HTTP as one of a browser does. Invariant: requests cost the game little: a
connection has `SECONDS`, there are at most `CONNECTIONS` at once, and figures are read once a second however many ask.

Slow to import: only a server that publishes its figures does.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from importlib.metadata import version
from itertools import accumulate
from typing import Final, NamedTuple

import h11
import structlog
import trio
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from truc_protocol.wire.handshake import PROTOCOLS
from truc_server.metrics.measures import Measure, Reading, health, read, watch
from truc_server.net.listening import accept
from truc_server.parts import ServerParts
from truc_server.settings.settings import MetricsSettings
from truc_server.storage.journal import HistogramShape
from truc_web.serving.http_connection import Asked, HttpConnection
from truc_web.serving.pages import CLOSE, PageAnswer, text

CONNECTIONS: Final = 16
SECONDS: Final = 5.0
FRESH_S: Final = 1.0  # during which figures, once read, are told to others too

log = structlog.get_logger()


class CachedText(NamedTuple):
    """The text of the metrics, and when it was made."""

    text: bytes
    moment: float


async def run(parts: ServerParts, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    """Answer requests for as long as the server runs; started once it listens.

    Raises:
        OSError: The port cannot be listened on.
    """
    metrics = parts.settings.now.metrics
    listeners = await _listeners(metrics)
    page = MetricsPage(parts)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch, parts.late_s)
        log.info("metrics_listening", host=metrics.host, port=metrics.port)
        task_status.started()
        await accept(listeners, page.serve, nursery)


async def _listeners(metrics: MetricsSettings) -> list[trio.SocketListener]:
    try:
        return await trio.open_tcp_listeners(metrics.port, host=metrics.host)
    except OSError as error:
        where = f"{metrics.host} port {metrics.port}"
        raise OSError(f"metrics.port: cannot listen on {where}: {error.strerror}") from error


class MetricsPage:
    """What one server says about itself."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._told = CachedText(b"", float("-inf"))
        self._mutex = trio.Lock()
        self._open = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer one request, if there are not too many; a failure here harms nobody else."""
        if self._open >= CONNECTIONS:
            return
        self._open += 1
        try:
            with trio.move_on_after(SECONDS), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await HttpConnection(stream, None, trio.current_time()).converse(self._answer)
        except Exception:
            log.exception("internal", incident="metrics")
        finally:
            self._open -= 1

    async def _answer(self, asked: Asked) -> PageAnswer:
        """Answer a request, the only one of its connection."""
        found = await self._find(asked)
        return found._replace(headers=(*found.headers, CLOSE))

    async def _find(self, asked: Asked) -> PageAnswer:
        if isinstance(asked, h11.RemoteProtocolError):
            return text("expected a request of HTTP", status=HTTPStatus(asked.error_status_hint))
        sources = {b"/metrics": self._metrics, b"/health": self._health}
        source = sources.get(asked.target.partition(b"?")[0])
        if source is None:
            return text("expected /metrics or /health", status=HTTPStatus.NOT_FOUND)
        if asked.method not in {b"GET", b"HEAD"}:
            allow = ("Allow", "GET, HEAD")
            return text("expected GET or HEAD", allow, status=HTTPStatus.METHOD_NOT_ALLOWED)
        return await source()

    async def _health(self) -> PageAnswer:
        found = health(self._parts)
        return text(found.text, status=HTTPStatus.OK if found.is_well else HTTPStatus.SERVICE_UNAVAILABLE)

    async def _metrics(self) -> PageAnswer:
        async with self._mutex:
            if trio.current_time() >= self._told.moment + FRESH_S:
                moment, readings = trio.current_time(), read(self._parts)
                # in a thread: it takes milliseconds where many files are open, as these are counted
                self._told = CachedText(await trio.to_thread.run_sync(text_of, readings), moment)
        kind = ("Content-Type", CONTENT_TYPE_LATEST)
        return PageAnswer(HTTPStatus.OK, self._told.text, (kind, ("Cache-Control", "no-store")))


_VERSION: Final = version("truc")  # read from a file, which cannot be opened when too many are


class ReadingsCollector(Collector):
    """The server's own metrics, as they were when they were read."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = readings

    def collect(self) -> Iterable[Metric]:
        """Return them in the library's form."""
        build = {"version": _VERSION, "protocol": str(max(PROTOCOLS))}
        yield InfoMetricFamily("truc_build", "The version of the server, and the protocol it speaks.", build)
        yield from map(_family, self._readings)


def text_of(readings: Sequence[Reading]) -> bytes:
    """Return the text; blocks."""
    registry = CollectorRegistry()
    registry.register(ReadingsCollector(readings))
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


def _family(reading: Reading) -> Metric:
    measure = reading.measure
    family = CounterMetricFamily if measure.name.endswith("_total") else GaugeMetricFamily
    match reading.value:
        case HistogramShape() as shape:
            return _histogram(measure, shape)
        case float() | int() as value:
            return family(measure.name, measure.text, value=value)
        case values:
            labelled = family(measure.name, measure.text, labels=(measure.label or "").split())
            for label, value in values.items():
                labelled.add_metric(label.split(" "), value)
            return labelled


def _histogram(measure: Measure, shape: HistogramShape) -> Metric:
    names = (*map(str, shape.bounds), "+Inf")
    buckets = list(zip(names, accumulate(shape.counts), strict=True))
    return HistogramMetricFamily(measure.name, measure.text, buckets=buckets, sum_value=shape.total)
