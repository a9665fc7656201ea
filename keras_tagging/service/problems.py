"""Requests that are refused, each with a sentence that says why."""

GONE = 499  # the status, as nginx calls it, of a request whose client has not waited


class Problem(Exception):
    """A request that is not answered.

    Args:
        status: of HTTP.
        message: what is wrong, and how to mend it. Half a surrogate pair, which no
            answer can have, is written as an escape.
    """

    def __init__(self, status: int, message: str):
        message = message.encode("utf-8", "backslashreplace").decode()
        super().__init__(status, message)
        self.status, self.message = status, message


def bad(message: str) -> Problem:
    """A request that is malformed."""
    return Problem(400, message)


def gone() -> Problem:
    """A request whose client has not waited: nobody reads the answer."""
    return Problem(GONE, "the client has gone")


def stopping() -> Problem:
    """A request to a service that is to end."""
    return Problem(503, "the service stops: ask another one, or later")


def check_keys(body, known, remedy: str) -> None:
    """Raise a Problem unless a body is an object with no other keys than these.

    Args:
        body: JSON.
        known: the keys.
        remedy: what to send.
    """
    an_object(body, remedy)
    if others := [key for key in body if key not in known]:
        raise bad(f"there is no {shown(others[0])} in a request: {remedy}")


def an_object(body, remedy: str) -> dict:
    """A body; a Problem if it is no object.

    Args:
        body: JSON.
        remedy: what to send.
    """
    if not isinstance(body, dict):
        raise bad(f"the body is no object: {remedy}")
    return body


def shown(value) -> str:
    """A value of a request, for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
