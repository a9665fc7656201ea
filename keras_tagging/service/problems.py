"""Requests that are refused, each with a sentence that says why."""

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

GONE = 499  # the status, as nginx calls it, of a request whose client has not waited
TOO_LARGE = ("too_long", "string_too_long")  # types of pydantic's errors


class Problem(Exception):
    """A request that is not answered.

    Args:
        status: of HTTP.
        message: what is wrong, and how to mend it.
    """

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.status, self.message = status, message


def shown(value) -> str:
    """A value of a request, for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def problem_of(error: ValidationError) -> Problem:
    """The first of the errors that pydantic has found in a body."""
    first, *_ = error.errors(include_url=False, include_context=False)
    place = ".".join(str(part)[:60] for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if place:
        message = f"{place}: {message}, but it is {shown(first['input'])}"
    return Problem(413 if first["type"] in TOO_LARGE else 400, message)


def refusal(request: Request, problem: Problem) -> Response:
    """The answer to a request that is refused."""
    response = JSONResponse({"error": problem.message}, problem.status)
    if problem.status == 503:
        response.headers["Retry-After"] = "1"
    if problem.status in (408, 413):
        response.headers["Connection"] = "close"  # there may be more of the body
    return response
