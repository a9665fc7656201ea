"""The page that browsers show at `/`, with its style and its scripts."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import PurePath

from starlette.responses import Response
from starlette.routing import Route

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
#: it runs its own scripts, asks its own service, and loads nothing else
POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
)


def routes() -> Iterator[Route]:
    """The routes of the page and of the files that it loads, which are read once."""
    headers = {
        "Content-Security-Policy": "; ".join(POLICY),
        "Cache-Control": "no-cache",  # another version may be served next
    }
    for file in files(__package__).joinpath("static").iterdir():
        if (kind := TYPES.get(PurePath(file.name).suffix)) is not None:
            path = "/" if file.name == "page.html" else f"/static/{file.name}"
            yield Route(path, _endpoint(file.read_bytes(), kind, headers))


def _endpoint(content, kind, headers):
    async def endpoint(request):
        return Response(content, headers=headers, media_type=kind)

    return endpoint
