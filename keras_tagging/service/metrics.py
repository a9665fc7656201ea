"""The counters of the service, in Prometheus' text format."""

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
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = self._made(
            Counter,
            "requests",
            "Requests for a model, by route and status.",
            ["model", "route", "status"],
        )
        self._seconds = self._made(
            Histogram,
            "request_seconds",
            "From the request to its answer.",
            ["model"],
            buckets=SECONDS,
        )
        self.tokens = self._made(Counter, "tokens", "Tokens answered.", ["model"])
        self.batches = self._made(
            Histogram,
            "batch_sentences",
            "Sentences of a batch.",
            ["model"],
            buckets=SENTENCES,
        )
        self.replaced = self._made(
            Counter, "workers_replaced", "Workers that have ended and were replaced."
        )
        self.waiting = self._made(
            Gauge, "waiting_requests", "Requests that no worker has yet."
        )
        self.ready = self._made(Gauge, "ready_workers", "Workers that can answer.")

    def _made(self, kind, name, about, labels=(), **options):
        name = f"keras_tagging_{name}"
        return kind(name, about, labels, registry=self._registry, **options)

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
