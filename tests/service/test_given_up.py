"""Requests that nobody waits for, and what runs when a service stops."""

import asyncio
import json

import pytest
from starlette.requests import Request

from keras_tagging.service.app import Service
from keras_tagging.service.connections import Connections
from keras_tagging.service.metrics import Metrics

pytestmark = pytest.mark.one_backend


class Nobody:
    """A batcher that never answers."""

    waiting = 0


def asked(then, seconds=0.02):
    """The status of an answer that never comes, its text, and whether it was given up.

    Args:
        then: what happens after some time: a function of the connections, the task
            that answers the request, and the messages of its client.
    """
    given_up = []

    async def never(request, body, labels):
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(body)

    async def run():
        messages, connections = asyncio.Queue(), Connections()
        messages.put_nowait({"type": "http.request", "body": b"{}"})
        service = Service({}, [], Nobody(), Metrics(), 10)
        service._connections = connections
        scope = {"type": "http", "headers": [], "method": "POST", "path": "/tag"}
        endpoint = service._asked("/tag", "tag", never).endpoint
        task = asyncio.create_task(endpoint(Request(scope, messages.get)))
        await asyncio.sleep(seconds)
        then(connections, task, messages)
        response = await asyncio.wait_for(task, 5)
        await asyncio.sleep(0)
        return response.status_code, json.loads(response.body)["error"]

    return *asyncio.run(run()), given_up


def test_a_client_that_goes():
    def goes(connections, task, messages):
        messages.put_nowait({"type": "http.disconnect"})

    assert asked(goes) == (499, "the client has gone", [b"{}"])


def test_the_end_of_the_time_to_stop():
    def ends(connections, task, messages):
        connections.stopping = True
        task.cancel()

    status, told, given_up = asked(ends)
    assert (status, given_up) == (503, [b"{}"]) and "the service stops" in told


def test_without_a_stop_it_is_cancelled():
    with pytest.raises(asyncio.CancelledError):
        asked(lambda connections, task, messages: task.cancel())
