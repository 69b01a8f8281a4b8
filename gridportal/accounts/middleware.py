"""A request id on every request, and the headers that keep foreign scripts out."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")
_ACCEPTABLE = re.compile(r"[A-Za-z0-9-]{8,36}")


class RequestIdMiddleware:
    """Takes X-Request-ID from a proxy or makes one; audit rows, logs and the response carry it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _ACCEPTABLE.fullmatch(given) else str(uuid.uuid4())
        token = current_request_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            current_request_id.reset(token)
        response["X-Request-ID"] = request_id
        return response


class ContentSecurityPolicyMiddleware:
    """Scripts, styles and connections from this host only. Plotly sets inline styles, so those are allowed."""

    POLICY = (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "frame-ancestors 'none'; form-action 'self'"
    )

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", self.POLICY)
        return response
