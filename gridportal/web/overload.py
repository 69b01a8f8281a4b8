"""More requests than the web server can answer: those that waited too long are refused at once, with Retry-After.

Who waited ten seconds for a thread has gone or asked again; answering them in turn keeps everybody behind them waiting
as long, for ever. A refusal costs next to nothing, so that the line gets short again.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from prometheus_client import Counter, Histogram

from gridportal.web import request_wait
from gridportal.web.request_metrics import NO_REGISTRY

_RETRY_AFTER = 5  # seconds
_ALWAYS = ("/healthz", "/readyz", "/metrics", "/static/")
_BUSY = f"The portal is busy and did not take this request; try again in {_RETRY_AFTER} seconds."
WAITS = Histogram(
    "gridportal_request_wait_seconds",
    "Seconds that requests waited for a thread.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
    registry=NO_REGISTRY,
)
REFUSED = Counter("gridportal_requests_refused", "Requests refused for having waited long.", registry=NO_REGISTRY)


class OverloadMiddleware:
    """Answers 503 to requests that waited longer than PORTAL.refuse_after; those of probes are always answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        waited = request_wait.of_this_request()
        WAITS.observe(waited)
        if waited <= settings.PORTAL.refuse_after or request.path_info.startswith(_ALWAYS):
            return self.get_response(request)
        REFUSED.inc()
        response = _refusal(request)
        response["Retry-After"] = str(_RETRY_AFTER)
        response["Cache-Control"] = "no-store"
        response["Content-Length"] = str(len(response.content))
        return response


def _refusal(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith("/api"):
        return JsonResponse({"detail": _BUSY}, status=503)
    return HttpResponse(render_to_string("503.html", {"retry_after": _RETRY_AFTER}), status=503)
