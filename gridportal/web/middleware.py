"""A request id on every request, and the headers that keep foreign scripts out."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control

GetResponse = Callable[[HttpRequest], HttpResponse]
current_request_id: ContextVar[str] = ContextVar("current_request_id", default="")
current_address: ContextVar[str] = ContextVar("current_address", default="")
_ACCEPTABLE = re.compile(r"[A-Za-z0-9-]{8,36}")


def address_of(request: HttpRequest) -> str:
    """The client's address. Behind our TLS proxy it is the last entry of X-Forwarded-For, which the proxy wrote."""
    given = request.META.get("REMOTE_ADDR", "")
    if settings.PORTAL.secure_cookies:
        given = request.headers.get("X-Forwarded-For", given).rsplit(",", 1)[-1].strip()
    try:
        return str(ip_address(given))
    except ValueError:
        return ""


class RequestIdMiddleware:
    """Takes X-Request-ID from a proxy or makes one; audit rows, logs and the response carry it and the address."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _ACCEPTABLE.fullmatch(given) else str(uuid.uuid4())
        id_token, address_token = current_request_id.set(request_id), current_address.set(address_of(request))
        try:
            response = self.get_response(request)
        finally:
            current_request_id.reset(id_token)
            current_address.reset(address_token)
        response["X-Request-ID"] = request_id
        return response


class NoStoreMiddleware:
    """What was made for one who is signed in stays in no browser's memory: after signing out, "back" shows nothing."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.user.is_authenticated or request.path_info.startswith("/api"):
            patch_cache_control(response, no_store=True, private=True)
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
