"""Requests that are refused, each with a sentence that says why."""


class Problem(Exception):
    """A request that is not answered.

    Args:
        status: of HTTP.
        message: what is wrong, and how to mend it.
    """

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.status, self.message = status, message


def bad(message: str) -> Problem:
    """A request that is malformed."""
    return Problem(400, message)


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
