"""The API's addresses as people type them: with a slash at the end or without, and wrong requests answered in JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views import defaults
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.web.api_parsing import TooLarge
from gridportal.web.missing_pages import missing_page
from gridportal.web.part_headers import PartError
from gridportal.web.upload_limit import FileNameError, FormTooLong

#: The name that was asked for is not repeated: whoever sends it chooses it.
_WRONG_HOST = (
    "This portal does not answer to the name in this address; use its own name. "
    "An administrator lists its names in GRIDPORTAL_ALLOWED_HOSTS."
)
_SHOWN = 200  # characters of an address that a sentence repeats


class SlashMiddleware:
    """`/api/jobs/` is `/api/jobs`, for every method: a redirect would lose the body of a POST in many clients."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith("/api/"):
            request.path_info = request.path_info.rstrip("/")
            request.path = request.path.rstrip("/")
        return self.get_response(request)


class Index(APIView):
    """Where to go from here."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """The collections of the API, and where it is described."""
        names = {
            "documentation": "api-docs",
            "schema": "api-schema",
            "me": "api-me",
            "tokens": "api-tokens",
            "people": "api-person-list",
            "groups": "api-group-list",
            "saved_views": "api-saved-view-list",
            "audit": "api-audit",
            "applications": "api-application-list",
            "own_programs": "api-own-program-list",
            "jobs": "api-job-list",
            "preview": "api-preview",
            "sweeps": "api-sweep-list",
            "match_requests": "api-match-request-list",
            "saved_requests": "api-saved-request-list",
            "migrations": "api-migration-list",
            "moves_without_decision": "api-migration-without-decision",
            "projects": "api-project-list",
            "budgets": "api-budget-list",
            "notices": "api-notices",
            "notice_settings": "api-notice-settings",
            "alerts": "api-alert-list",
            "alert_rules": "api-alert-rule-list",
            "maintenance_windows": "api-maintenance-list",
            "announcements": "api-announcement-list",
            "report_schedules": "api-report-schedule-list",
            "workload_logs": "api-workload-log-list",
            "clusters": "api-clusters",
            "depots": "api-depots",
            "network": "api-network",
            "nodes": "api-network-nodes",
            "links": "api-network-links",
            "status": "api-network-status",
            "flows": "api-network-flows",
            "logical": "api-network-logical",
            "series": "api-network-series",
            "telemetry": "api-network-telemetry",
            "experiments": "api-experiment-list",
        }
        return Response({word: request.build_absolute_uri(reverse(name)) for word, name in names.items()})


def handle_400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses by itself, such as a body beyond all bounds, in the same two forms as 404."""
    said = f"{exception} Choose other files." if isinstance(exception, FormTooLong | FileNameError) else ""
    if isinstance(exception, PartError):
        said = str(exception)
    if isinstance(exception, DisallowedHost):
        said = _WRONG_HOST
    if not is_api(request):
        return render(request, "400.html", {"said": said}, status=400)
    if isinstance(exception, RequestDataTooBig):
        return JsonResponse({"detail": said or TooLarge.default_detail}, status=TooLarge.status_code)
    detail = f"This request cannot be read; {reverse('api-docs')} says what each address takes."
    return JsonResponse({"detail": said or detail}, status=400)


def handle_404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: JSON with one sentence below /api, the page elsewhere."""
    if not is_api(request):
        return render(request, "404.html", {"missing": missing_page(request, exception)}, status=404)
    detail = f"There is nothing at {request.path[:_SHOWN]}; {reverse('api-docs')} lists every address."
    return JsonResponse({"detail": detail}, status=404)


def handle_500(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """500 in the same two forms."""
    if not is_api(request):
        return defaults.server_error(request)
    detail = "The portal failed here; its log says why, under the X-Request-ID of this answer."
    return JsonResponse({"detail": detail}, status=500)


def is_api(request: HttpRequest) -> bool:
    """Whether it is a request to REST, and so answered in JSON."""
    return request.path_info == "/api" or request.path_info.startswith("/api/")
