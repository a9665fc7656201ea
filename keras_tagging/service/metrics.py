"""The counters of the service, in Prometheus' text format."""

from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)
SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters, histograms and gauges of one service."""

    def __init__(self):
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        of = {"namespace": "keras_tagging", "registry": registry}
        counter, gauge = partial(Counter, **of), partial(Gauge, **of)
        histogram = partial(Histogram, labelnames=["model"], **of)
        about = "Requests for a model, by route and status."
        self._requests = counter("requests", about, ["model", "route", "status"])
        about = "From the request to its answer."
        self._seconds = histogram("request_seconds", about, buckets=SECONDS)
        self.tokens = counter("tokens", "Tokens answered.", ["model"])
        about = "Sentences of a batch."
        self.batches = histogram("batch_sentences", about, buckets=SENTENCES)
        about = "Workers that have ended and were replaced."
        self.replaced = counter("workers_replaced", about)
        self.waiting = gauge("waiting_requests", "Requests that no worker has yet.")
        self.ready = gauge("ready_workers", "Workers that can answer.")

    def count(self, labels: dict[str, str], status: int, seconds: float) -> None:
        """Count a request for a model.

        Args:
            labels: the route, and the model or "" if there is none of its name.
            status: of its answer.
            seconds: that it took.
        """
        self._requests.labels(**labels, status=str(status)).inc()
        if labels["model"]:
            self._seconds.labels(labels["model"]).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)
