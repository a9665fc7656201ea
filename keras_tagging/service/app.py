"""The routes of the service."""

import asyncio
import json
import logging
import time
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from keras_tagging import kinds
from keras_tagging.service import json_protocol, open_inference, schemas
from keras_tagging.service.batches import Batcher
from keras_tagging.service.bodies import Bodies
from keras_tagging.service.gate import Gate, Hosts, Metrics
from keras_tagging.service.problems import GONE, Problem, refusal, shown
from keras_tagging.service.schemas import Operation
from keras_tagging.service.worker import WORDS, Model
from keras_tagging.service.workers import Worker
from keras_tagging.utils import limits

log = logging.getLogger(__name__)
STATIC = Path(__file__).with_name("static")
MODEL = "/v2/models/{name}"


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
        self._routes = [Mount("/static", StaticFiles(directory=STATIC))]
        self._operations = []
        metrics.waiting.set_function(lambda: batcher.waiting)
        metrics.ready.set_function(lambda: sum(w.ready for w in workers))

    def app(self, hosts: Hosts, origins: frozenset[str] = frozenset()) -> Starlette:
        """The application, which runs the batches while it is served.

        Args:
            hosts: by which it may be asked.
            origins: of pages that may ask it, beside its own.
        """

        @asynccontextmanager
        async def running(app):
            self._batcher.start()
            yield
            await self._batcher.stop()

        layers = [Middleware(Gate, hosts, origins, self._metrics)]
        if origins:
            cors = {"allow_methods": ["GET", "POST"], "allow_headers": ["*"]}
            layers.append(Middleware(CORSMiddleware, allow_origins=origins, **cors))
        self._add_routes()
        app = Starlette(
            routes=self._routes,
            middleware=layers,
            exception_handlers={HTTPException: refusal, ValidationError: refusal},
            lifespan=running,
        )
        app.router.redirect_slashes = False  # to http, also behind a proxy with TLS
        return app

    def _add_routes(self):
        get, post = self._get, self._post
        page = STATIC / "page.html"
        get("/", "The page.", lambda _: FileResponse(page), str, "text/html")
        get("/models", "The models.", self._listed, schemas.Models)
        get("/health", "Live and ready, and with what.", self._health, dict)
        get("/metrics", "Counters for Prometheus.", self._counted, str, "text/plain")
        get("/openapi.json", "This document.", self._document, dict)
        every = kinds.registered().values()  # two kinds of parsers have one route
        for route, reads in {k.route: k.reads for k in every if k.route}.items():
            types = schemas.TYPES[reads]
            post(f"/{route}", "Ask a model.", partial(self._annotate, route), *types)
        about = {"name": "keras-tagging", "version": version("keras-tagging")}
        about["extensions"] = []
        get("/v2", "The service.", lambda _: JSONResponse(about), dict)
        live = {"live": True}
        get("/v2/health/live", "It is live.", lambda _: JSONResponse(live), dict)
        get("/v2/health/ready", "Whether it is ready.", self._state, dict)
        for path in (MODEL, f"{MODEL}/versions/{open_inference.VERSION}"):
            get(path, "What it reads and gives.", self._about, dict)
            get(f"{path}/ready", "Whether it is ready.", self._state, dict)
            types = schemas.InferRequest, dict
            post(f"{path}/infer", "Ask a model.", self._infer, *types)

    def _get(self, path, summary, answer, schema, media_type="application/json"):
        """Add a route that computes nothing."""

        async def endpoint(request):
            return answer(request)

        self._routes.append(Route(path, endpoint))
        operation = Operation(path, "get", summary, schema, media_type=media_type)
        self._operations.append(operation)

    def _post(self, path, summary, answer, asked, schema):
        """Add a route that asks a model, and is counted."""

        async def endpoint(request):
            route = path.rpartition("/")[2]
            request.state.labels = labels = {"model": "", "route": route}
            try:
                async with self._bodies.read(request) as content:
                    body = asked.model_validate_json(content)
                    answering = answer(request, body, labels)
                    return await _while_connected(request, answering)
            except asyncio.CancelledError:  # the time to stop is over
                stops = "the service stops: ask another one, or later"
                return refusal(request, Problem(503, stops))
            except (HTTPException, ValidationError):
                raise
            except Exception:
                log.exception("a request to %s was not answered", request.url.path)
                return refusal(request, Problem(500, "an error in the service"))

        self._routes.append(Route(path, endpoint, methods=["POST"]))
        self._operations.append(Operation(path, "post", summary, schema, asked))

    def _model(self, request) -> Model:
        name = request.path_params["name"]
        if name not in self._models:
            there = ", ".join(self._models)
            raise Problem(404, f"there is no model {shown(name)}: there are {there}")
        return self._models[name]

    async def _answers(self, model, items, outputs):
        until = asyncio.get_running_loop().time() + limits.SERVICE_SECONDS
        ask = partial(self._batcher.answer, model.name, until=until)
        if model.reads_text:
            answers = await json_protocol.annotated(ask, items, outputs)
            words = sum(sum(answer[WORDS]) for answer in answers)
        else:
            answers = await ask(items, outputs)
            words = sum(map(len, items))
        self._metrics.tokens.labels(model.name).inc(words)
        return answers

    # Routes that ask a model

    async def _annotate(self, route, request, body, labels):
        start = time.perf_counter()
        model = json_protocol.chosen(self._models, body.model, route)
        labels["model"] = model.name
        items = json_protocol.read(model, body, self._max_tokens)
        accept = request.headers.get("accept", "")
        outputs = json_protocol.outputs_of(model, body, accept)
        answers = await self._answers(model, items, outputs)
        content = json_protocol.written(body, items, outputs, answers)
        if outputs == ["conllu"]:
            return Response(content, media_type="text/plain")
        took = round(1000 * (time.perf_counter() - start), 2)
        name = json.dumps(model.name, ensure_ascii=False)
        content = f'{{"model": {name}, {content}, "milliseconds": {took}}}'
        return Response(content, media_type="application/json")

    async def _infer(self, request, body, labels):
        model = self._model(request)
        labels["model"] = model.name
        items, names = open_inference.read(model, body, self._max_tokens)
        answers = await self._answers(model, items, names)
        return JSONResponse(open_inference.answer(model, body, names, answers))

    # Routes that tell about the service

    def _listed(self, request):
        fields = schemas.AboutModel.model_fields
        models = [
            {name: getattr(m, name) for name in fields} | {"outputs": [*m.outputs]}
            for m in self._models.values()
        ]
        return JSONResponse({"models": models, "max_tokens": self._max_tokens})

    def _counted(self, request):
        return Response(self._metrics.text(), media_type=CONTENT_TYPE_LATEST)

    def _document(self, request):
        return JSONResponse(schemas.document(self._operations))

    def _about(self, request):
        return JSONResponse(open_inference.metadata(self._model(request)))

    def _state(self, request):
        ready = any(worker.ready for worker in self._workers)
        about = {"name": self._model(request).name} if request.path_params else {}
        return JSONResponse({**about, "ready": ready}, 200 if ready else 503)

    def _health(self, request):
        ready = sum(worker.ready for worker in self._workers)
        about = {
            "live": True,
            "ready": ready > 0,
            "version": version("keras-tagging"),
            "models": {name: model.kind for name, model in self._models.items()},
            "workers": {"ready": ready, "all": len(self._workers)},
        }
        return JSONResponse(about, 200 if ready else 503)


async def _while_connected(request: Request, answering) -> Response:
    """The answer to a request, which is given up when its client goes.

    Args:
        request: whose body has been read.
        answering: a coroutine.

    Raises:
        HTTPException: if the client has gone.
    """

    async def leaves():
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = [asyncio.ensure_future(x) for x in (answering, leaves())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        raise Problem(GONE, "the client has gone")
    finally:
        for task in tasks:
            task.cancel()
