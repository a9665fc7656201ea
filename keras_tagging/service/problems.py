"""Requests that are refused, each with a sentence that says why."""

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

GONE = 499  # the status, as nginx calls it, of a request whose client has not waited
TOO_LARGE = ("too_long", "string_too_long")  # types of pydantic's errors


class Problem(HTTPException):
    """A request that is not answered: the status, and what is wrong with it."""


def shown(value) -> str:
    """A value of a request, for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def problem_of(error: ValidationError) -> Problem:
    """The first of the errors that pydantic has found in a body."""
    first, *_ = error.errors(include_url=False, include_context=False)
    message = first["msg"].removeprefix("Value error, ")
    if place := ".".join(str(part)[:60] for part in first["loc"]):
        message = f"{place}: {message}, but it is {shown(first['input'])}"
    return Problem(413 if first["type"] in TOO_LARGE else 400, message)


def refusal(request: Request, error: HTTPException | ValidationError) -> Response:
    """The answer to a request that is refused."""
    if isinstance(error, ValidationError):
        error = problem_of(error)
    body, status = {"error": error.detail}, error.status_code
    response = JSONResponse(body, status, error.headers)
    if status == 503:
        response.headers["Retry-After"] = "1"
    if status in (408, 413):
        response.headers["Connection"] = "close"  # there may be more of the body
    return response
