"""Real receivers of notices on this machine: an SMTP server, and an HTTP server that answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from aiosmtpd.controller import Controller


class Mailbox:
    """What arrived; `answer` is what the server says to the next letter."""

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        self.answer = "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's word
        if self.answer.startswith("250"):
            letter = BytesParser(policy=default).parsebytes(envelope.content)
            letter["X-To"] = ",".join(envelope.rcpt_tos)
            self.letters.append(letter)  # type: ignore[arg-type]
        return self.answer


class _AnyPort(Controller):
    """A server on a port that the system chooses."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server() -> Iterator[tuple[str, Mailbox]]:
    """Its address as the setting has it, and what arrives there."""
    mailbox = Mailbox()
    controller = _AnyPort(mailbox, hostname="127.0.0.1", port=0)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{controller.port}", mailbox
    finally:
        controller.stop()


class Request(NamedTuple):
    """One request as it arrived."""

    verb: str
    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes


class Hook:
    """What arrived; `status` and `headers` are answered; `hold` keeps an answer back until it is set."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.status = 200
        self.headers: dict[str, str] = {}
        self.hold: threading.Event | None = None
        self.address = ""


@contextmanager
def hook_server() -> Iterator[Hook]:
    """An HTTP server on loopback."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            hook.requests.append(Request(self.command, self.path, dict(self.headers), json.loads(raw or b"null"), raw))
            if hook.hold is not None:
                hook.hold.wait(60)
            self.send_response(hook.status)
            for name, value in hook.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_PUT = do_GET = do_POST  # noqa: N815

        def log_message(self, *words: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hook.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hook
    finally:
        if hook.hold is not None:
            hook.hold.set()
        server.shutdown()
        server.server_close()
