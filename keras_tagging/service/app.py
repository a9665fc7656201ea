"""The routes of the service."""

import asyncio
import json
import logging
import re
import time
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from keras_tagging import kinds
from keras_tagging.service import (
    access_log,
    binary,
    open_inference,
    openapi,
    page,
    plain,
    tensorflow_serving,
    texts,
)
from keras_tagging.service.access_log import AccessLog
from keras_tagging.service.batches import Batcher
from keras_tagging.service.bodies import Bodies, parsed
from keras_tagging.service.connections import Connections
from keras_tagging.service.gate import Gate, Hosts
from keras_tagging.service.metrics import CONTENT_TYPE, Metrics
from keras_tagging.service.problems import (
    Problem,
    an_object,
    bad,
    gone,
    shown,
    stopping,
)
from keras_tagging.service.tensors import VERSION, Model
from keras_tagging.service.workers import Worker
from keras_tagging.utils import limits

log = logging.getLogger(__name__)
_VERSIONED = re.compile("/v[12]/models/[^/]+/versions/([^/:]+)")


class Service:
    """The endpoints, and what they share.

    Args:
        models: by name.
        workers: that have started.
        batcher: that hands requests to them.
        metrics: that are counted.
        max_tokens: of a request.
    """

    def __init__(
        self,
        models: dict[str, Model],
        workers: list[Worker],
        batcher: Batcher,
        metrics: Metrics,
        max_tokens: int,
    ):
        self._models, self._workers, self._batcher = models, workers, batcher
        self._metrics, self._max_tokens = metrics, max_tokens
        self._bodies = Bodies(max_tokens)
        metrics.waiting.set_function(lambda: batcher.waiting)
        metrics.ready.set_function(lambda: sum(w.ready for w in workers))

    def app(
        self,
        connections: Connections,
        hosts: Hosts,
        origins: frozenset[str] = frozenset(),
    ) -> Starlette:
        """The application, which runs the batches while it is served.

        Args:
            connections: through which it is asked.
            hosts: by which it may be asked.
            origins: of pages that may ask it, beside its own.
        """
        self._connections = connections

        @asynccontextmanager
        async def running(app):
            self._batcher.start()
            watching = asyncio.create_task(connections.watch())
            yield
            watching.cancel()
            await self._batcher.stop()

        layers = [Middleware(AccessLog)] if access_log.log.handlers else []
        if origins:
            cors = {"allow_methods": ["GET", "POST"], "allow_headers": ["*"]}
            layers.append(Middleware(CORSMiddleware, allow_origins=origins, **cors))
        layers.append(Middleware(Gate, connections, hosts, origins, _refused))
        app = Starlette(
            routes=[*self._own_routes(), *self._v1_routes(), *self._v2_routes()],
            middleware=layers,
            exception_handlers={Problem: _refused, HTTPException: _no_such_page},
            lifespan=running,
        )
        app.router.redirect_slashes = False  # to http, also behind a proxy with TLS
        return app

    def _own_routes(self):
        yield from page.routes()
        yield Route("/models", self._get(self._listed))
        yield Route("/health", self._get(self._health))
        yield Route("/metrics", self._get(self._counted))
        yield Route("/openapi.json", self._get(self._document))
        for kind in kinds.known().values():
            if kind.route is not None:
                yield self._asked(f"/{kind.route}", kind.route, self._own(kind))

    def _v1_routes(self):
        for path in versioned("/v1/models/{name}"):
            yield Route(path, self._described(tensorflow_serving.status))
            metadata = self._described(tensorflow_serving.metadata)
            yield Route(f"{path}/metadata", metadata)
            yield self._asked(f"{path}:predict", "predict", self._predict)
            yield self._asked(f"{path}:{{verb}}", "predict", self._other_verb)

    def _v2_routes(self):
        yield Route("/v2", self._get(lambda _: _json(open_inference.server())))
        yield Route("/v2/health/live", self._get(lambda _: _state({"live": True})))
        yield Route("/v2/health/ready", self._get(lambda _: self._readiness()))
        for path in versioned("/v2/models/{name}"):
            yield Route(path, self._described(open_inference.metadata))
            yield Route(f"{path}/ready", self._get(self._model_ready))
            yield self._asked(f"{path}/infer", "infer", self._infer)

    @staticmethod
    def _get(answer):
        """An endpoint that computes nothing."""

        async def endpoint(request):
            return answer(request)

        return endpoint

    def _asked(self, path, name, answer):
        """A route that asks a model, and is counted."""

        async def endpoint(request):
            start = time.perf_counter()
            labels = {"model": "", "route": name}
            try:
                async with self._bodies.read(request) as body:
                    answering = answer(request, body, labels)
                    response = await _while_connected(request, answering)
            except asyncio.CancelledError:
                if not self._connections.stopping:
                    raise
                response = _refused(request, stopping())
            except Problem as problem:
                response = _refused(request, problem)
            except RecursionError:
                deep = bad("the body has too many lists inside of lists")
                response = _refused(request, deep)
            except Exception:
                log.exception("a request to %s was not answered", request.url.path)
                response = _refused(request, Problem(500, "an error in the service"))
            seconds = time.perf_counter() - start
            status = str(response.status_code)
            self._metrics.requests.labels(**labels, status=status).inc()
            if labels["model"]:
                self._metrics.seconds.labels(labels["model"]).observe(seconds)
            response.headers["Server-Timing"] = f"total;dur={1000 * seconds:.2f}"
            return response

        return Route(path, endpoint, methods=["POST"])

    def _model(self, name, labels=None) -> Model:
        if not isinstance(name, str) or name not in self._models:
            there = ", ".join(self._models)
            raise Problem(404, f"there is no model {shown(name)}: there are {there}")
        if labels is not None:
            labels["model"] = name
        return self._models[name]

    async def _answers(self, model, given, outputs):
        until = asyncio.get_running_loop().time() + limits.SERVICE_SECONDS
        ask = partial(self._batcher.answer, model.name, until=until)
        if model.reads_text:
            outputs = [*outputs, texts.WORDS]
            answers = await ask(given, outputs)
            if rest := texts.unfinished(answers):
                answers = texts.finished(answers, await ask(rest, outputs))
            words = texts.words_of(answers)
        else:
            answers = await ask(given, outputs)
            words = sum(map(len, given))
        self._metrics.tokens.labels(model.name).inc(words)
        return answers

    # Routes that ask a model

    def _own(self, kind: kinds.Kind):
        """The protocol of ours for models of a kind."""
        remedy = (texts if kind.reads == "text" else plain).REMEDY

        async def answer(request, body, labels):
            start = time.perf_counter()

            def milliseconds():
                return round(1000 * (time.perf_counter() - start), 2)

            body = an_object(parsed(body), remedy)
            model = self._model(plain.chosen(self._models, body, kind.route), labels)
            if not model.reads_text:
                given, written = plain.read(model, body, self._max_tokens)
                answers = await self._answers(model, given, [*model.outputs])
                return _json(written(answers) | {"milliseconds": milliseconds()})
            accept = request.headers.get("accept", "")
            found = texts.read(model, body, self._max_tokens, accept)
            given, output, media_type, written = found
            answers = await self._answers(model, given, [output])
            content = written(answers, milliseconds())
            return Response(content.encode(), media_type=media_type)

        return answer

    async def _predict(self, request, body, labels):
        model = self._model(request.path_params["name"], labels)
        given = tensorflow_serving.read(model, parsed(body), self._max_tokens)
        sentences, written = given
        return _json(written(await self._answers(model, sentences, [*model.outputs])))

    async def _other_verb(self, request, body, labels):
        self._model(request.path_params["name"], labels)
        verb = shown(request.path_params["verb"])
        raise Problem(404, f"there is no verb {verb} here: post to :predict")

    async def _infer(self, request, body, labels):
        model = self._model(request.path_params["name"], labels)
        head, tail = binary.split(body, request.headers.get(binary.HEADER))
        sentences, outputs, written = open_inference.read(
            model, parsed(head), tail, self._max_tokens
        )
        head, tail = written(await self._answers(model, sentences, outputs))
        if not tail:
            return Response(head, media_type="application/json")
        size = {binary.HEADER: str(len(head))}
        return Response(head + tail, 200, size, "application/octet-stream")

    # Routes that tell about the service

    def _listed(self, request):
        return _json(plain.listed(self._models, self._max_tokens))

    def _counted(self, request):
        return Response(self._metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    def _document(self, request):
        return _json(openapi.document(self._models))

    @property
    def _ready(self):
        return any(w.ready for w in self._workers) and not self._connections.stopping

    def _readiness(self, **about):
        return _state({**about, "ready": self._ready})

    def _health(self, request):
        workers = {"ready": sum(w.ready for w in self._workers)}
        about = {
            "live": True,
            "ready": self._ready,
            "version": version("keras-tagging"),
            "models": {name: model.kind for name, model in self._models.items()},
            "workers": {**workers, "all": len(self._workers)},
        }
        return JSONResponse(about, 200 if about["ready"] else 503)

    def _model_ready(self, request):
        return self._readiness(name=self._model(request.path_params["name"]).name)

    def _described(self, describe):
        """An endpoint that tells what a function tells about the model."""

        def answer(request):
            model = self._model(request.path_params["name"])
            return _json(describe(model))

        return self._get(answer)


async def _while_connected(request: Request, answering) -> Response:
    """The answer to a request, which is given up when its client goes.

    Args:
        request: whose body has been read.
        answering: a coroutine.

    Raises:
        Problem: if the client has gone.
    """

    async def leaves():
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = [asyncio.ensure_future(x) for x in (answering, leaves())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        raise gone()
    finally:
        for task in tasks:
            task.cancel()


def versioned(path: str) -> tuple[str, str]:
    """The address of a model, without and with its version."""
    return path, f"{path}/versions/{VERSION}"


def _json(content) -> Response:
    content = json.dumps(content, ensure_ascii=False).encode()
    return Response(content, media_type="application/json")


def _state(state: dict) -> Response:
    return JSONResponse(state, 200 if all(state.values()) else 503)


def _refused(request: Request, problem: Problem) -> Response:
    response = JSONResponse({"error": problem.message}, problem.status)
    if problem.status == 503:
        response.headers["Retry-After"] = "1"
    if problem.status in (408, 413):
        response.headers["Connection"] = "close"  # there may be more of the body
    return response


def _no_such_page(request: Request, error: HTTPException) -> Response:
    path = request.url.path[:100]
    asked = _VERSIONED.match(path)
    if error.status_code == 404 and asked and asked[1] != VERSION:
        message = f"there is no version {asked[1]!r} of a model: each has {VERSION}"
        return JSONResponse({"error": message}, 404, error.headers)
    messages = {
        404: f"there is nothing at {path}: GET /models lists the models",
        405: f"{path} is for {(error.headers or {}).get('Allow')}",
    }
    message = messages.get(error.status_code, error.detail)
    return JSONResponse({"error": message}, error.status_code, error.headers)
