"""The counters of the service, in Prometheus' text format."""

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)
SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters, histograms and gauges of one service."""

    def __init__(self):
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "keras_tagging_requests",
            "Requests for a model, by route and status.",
            ["model", "route", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "keras_tagging_request_seconds",
            "From the request to its answer.",
            ["model"],
            buckets=SECONDS,
            registry=registry,
        )
        self.tokens = Counter(
            "keras_tagging_tokens", "Tokens answered.", ["model"], registry=registry
        )
        self.batches = Histogram(
            "keras_tagging_batch_sentences",
            "Sentences of a batch.",
            ["model"],
            buckets=SENTENCES,
            registry=registry,
        )
        self.replaced = Counter(
            "keras_tagging_workers_replaced",
            "Workers that have ended and were replaced.",
            registry=registry,
        )
        self.waiting = Gauge(
            "keras_tagging_waiting_requests",
            "Requests that no worker has yet.",
            registry=registry,
        )
        self.ready = Gauge(
            "keras_tagging_ready_workers",
            "Workers that can answer.",
            registry=registry,
        )

    def text(self) -> bytes:
        return generate_latest(self._registry)
