"""The portal's own figures for a Prometheus, and who may read them."""

from __future__ import annotations

from hmac import compare_digest
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0, generate_latest

from gridportal.serve.metrics_rows import Rows
from gridportal.web.request_metrics import registry

_FORWARDED = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via")
_REFUSED = (
    "The metrics are for programs on this machine, or with GRIDPORTAL_METRICS_TOKEN as Authorization: Bearer TOKEN.\n"
)


@require_safe
@never_cache
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text; 403 for those who may not read it."""
    if not trusted(request):
        return HttpResponse(_REFUSED, status=403, content_type="text/plain; charset=utf-8")
    counts = registry()
    counts.register(Rows())
    return HttpResponse(generate_latest(counts), content_type=CONTENT_TYPE_PLAIN_1_0_0)


def trusted(request: HttpRequest) -> bool:
    """With a token set: who has it. Without: who asks from this machine itself and not through a proxy on it."""
    token = settings.PORTAL.metrics_token
    if token:
        given = request.headers.get("Authorization", "")
        return compare_digest(given.encode(), f"Bearer {token}".encode())
    try:
        here = ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
    return here and not any(request.headers.get(name) for name in _FORWARDED)
