"""A web server on the loopback that can misbehave."""

import re
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server has and does.

    `files` are by path; `seen` lists (path, Range header) of every request.

    Args:
        cuts: after how many bytes to break off the first, second, ... answer with
            content; None or none left: not at all.
        ranges: whether to understand the header Range.
        length: the header Content-Length; "" to leave it out, None for the true one.
        more: what to send after every answer with content, again and again.
    """

    def __init__(self):
        self.files, self.seen = {}, []
        self.cuts, self.ranges, self.type = [], True, "text/plain"
        self.redirects, self.statuses = {}, {}
        self.shift, self.gate = 0, None
        self.length, self.more = None, b""
        self.url = ""

    def requests(self):
        """The Range headers, in order."""
        return [header for _, header in self.seen]


class Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self):
        site, header = self.site, self.headers.get("Range")
        site.seen.append((self.path, header))
        if site.gate:
            site.gate.wait(30)
        if self.path in site.redirects:
            return self.answer(302, {"Location": site.redirects[self.path]})
        if self.path in site.statuses:
            return self.answer(site.statuses[self.path])
        if self.path not in site.files:
            return self.answer(404)
        data, status, headers = site.files[self.path], 200, {}
        if site.ranges and header:
            start = int(re.fullmatch(r"bytes=(\d+)-", header)[1])
            if start >= len(data):
                headers["Content-Range"] = f"bytes */{len(data)}"
                return self.answer(416, headers)
            start += site.shift
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            data, status = data[start:], 206
        cut = site.cuts.pop(0) if site.cuts else None
        self.answer(status, headers, data, cut)

    def answer(self, status, headers=(), data=b"", cut=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        length = str(len(data)) if self.site.length is None else self.site.length
        if length:
            self.send_header("Content-Length", length)
        self.send_header("Content-Type", self.site.type)
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked may have gone
            self.wfile.write(data[:cut])
            while self.site.more:
                self.wfile.write(self.site.more)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    """A running `Site`; its address is `site.url`."""
    site = Site()
    handler = type("Handler", (Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
