from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from autotune.cli.browsing import open_when_answered


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_the_page_is_opened_once_the_server_answers() -> None:
    opened: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        assert open_when_answered(host, f"{host}/#/experiments/1", opened.append)
    assert opened == [f"{host}/#/experiments/1"]


def test_a_server_that_never_answers_opens_nothing() -> None:
    opened: list[str] = []
    with HTTPServer(("127.0.0.1", 0), Answering) as closed:
        port = closed.server_port
    assert not open_when_answered(f"http://127.0.0.1:{port}", "link", opened.append, limit_s=0.01)
    assert opened == []
