"""A web server on the loopback that can misbehave."""

import gc
import threading
import warnings
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server has and does.

    Args:
        files: by path.
        seen: the path of each request.
        statuses: by path, instead of a file.
        cuts: after how many bytes to break off the first, second, ... answer with
            content; None or none left: not at all.
        length: the header Content-Length; "" to leave it out, None for the true one.
        more: what to send after every answer with content, again and again.
        gate: an event that all answers wait for.
    """

    def __init__(self):
        self.files, self.seen, self.statuses, self.cuts = {}, [], {}, []
        self.length, self.more, self.gate, self.url = None, b"", None, ""


class Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self):
        site = self.site
        site.seen.append(self.path)
        if site.gate:
            site.gate.wait(30)
        data = site.files.get(self.path, b"")
        status = site.statuses.get(self.path, 200 if self.path in site.files else 404)
        cut = site.cuts.pop(0) if site.cuts else None
        self.send_response(status)
        length = str(len(data)) if site.length is None else site.length
        if length:
            self.send_header("Content-Length", length)
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked may have gone
            self.wfile.write(data[:cut])
            while site.more:
                self.wfile.write(site.more)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    """A running `Site`; its address is `site.url`."""
    site = Site()
    gc.freeze()  # below what is new is looked at: a collection of all takes a second
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
            with warnings.catch_warnings():  # pooch closes no broken connection
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()
            gc.unfreeze()
