"""The text of /metrics, in the format of Prometheus: the server's own metrics, and what is known of its process.

Slow to import: only a server that publishes its figures does. Writing the text takes milliseconds when many files are
open, as they are counted; it is for a worker thread, which needs nothing of the server but a reading.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import accumulate
from typing import Final

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
from truc_server.metrics.measures import Measure, MeasureKind, Reading
from truc_server.operation.figures import Shape

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_VERSION: Final = version("truc")  # read from a file, which cannot be opened when too many are
_Family = CounterMetricFamily | GaugeMetricFamily
_FAMILIES: Final[Mapping[MeasureKind, type[_Family]]] = {
    MeasureKind.COUNTER: CounterMetricFamily,
    MeasureKind.GAUGE: GaugeMetricFamily,
}


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
    match reading.value:
        case Shape() as shape:
            return _histogram(measure, shape)
        case float() | int() as value:
            return _FAMILIES[measure.kind](measure.name, measure.text, value=value)
        case values:
            family = _FAMILIES[measure.kind](measure.name, measure.text, labels=(measure.label or "").split())
            for label, value in values.items():
                family.add_metric(label.split(" "), value)
            return family


def _histogram(measure: Measure, shape: Shape) -> Metric:
    names = (*map(str, shape.bounds), "+Inf")
    buckets = list(zip(names, accumulate(shape.counts), strict=True))
    return HistogramMetricFamily(measure.name, measure.text, buckets=buckets, sum_value=shape.total)
