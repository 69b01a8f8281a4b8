"""Requests that the web server answered, counted over all its processes.

The counts lie in small files under HOME/metrics/HOST, one set per process, because a question about them reaches any
one of the processes. Files of processes that have ended are removed when one starts; Prometheus takes that for what it
is, a restart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Counter, Histogram, multiprocess

from gridportal.base import metrics_folder

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
FOLDER = Path(os.environ[metrics_folder.VARIABLE])  # the settings have set it
metrics_folder.prepare(FOLDER)

NO_REGISTRY = CollectorRegistry()  # the counts are read from the files, not from what this process knows
REQUESTS = Counter("gridportal_requests", "Requests answered.", ["view", "method", "status"], registry=NO_REGISTRY)
SECONDS = Histogram(
    "gridportal_request_seconds",
    "Seconds until a request was answered.",
    ["view"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
    registry=NO_REGISTRY,
)
SUBMISSIONS_REFUSED = Counter(
    "gridportal_submissions_refused", "Submissions told to come later, for too much to do.", registry=NO_REGISTRY
)
DOWNLOADS_REFUSED = Counter(
    "gridportal_downloads_refused", "Downloads told to come later, for others under way.", registry=NO_REGISTRY
)


def registry() -> CollectorRegistry:
    """The counts of all processes."""
    collectors = CollectorRegistry()
    multiprocess.MultiProcessCollector(collectors, path=str(FOLDER))
    return collectors


class RequestMetricsMiddleware:
    """Counts each request by the name of its address, never by the address itself, so that there are few series."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        begun = time.perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        view = (match.view_name if match else "") or "none"
        method = request.method if request.method in _METHODS else "other"
        REQUESTS.labels(view, method, response.status_code).inc()
        SECONDS.labels(view).observe(time.perf_counter() - begun)
        return response
