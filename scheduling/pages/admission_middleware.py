"""The quick way to refuse submissions over REST: before sessions, tokens and throttles are looked up.

Who has sent the same before gets the job as ever: what has a key that may be known goes on to the service, which
refuses by the same rule whatever is new.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse

from gridportal.base.errors import BusyError
from gridportal.web import request_wait
from gridportal.web.request_metrics import SUBMISSIONS_REFUSED
from scheduling.jobs.models import Job
from scheduling.placing.services import admission

_PATHS = ("/api/jobs", "/api/jobs/")
_LONGEST_LOOKED_THROUGH = 65536  # bytes of a body


class AdmissionMiddleware:
    """Answers 429 to submissions that would be refused by services.admission, or that waited long for a thread."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        error = _refusal(request) if request.method == "POST" and request.path_info in _PATHS else None
        if error is None or _may_be_known(request):
            return self.get_response(request)
        SUBMISSIONS_REFUSED.inc()
        response = JsonResponse({"detail": str(error)}, status=429)
        response["Retry-After"] = str(error.retry_after)
        response["Cache-Control"] = "no-store"
        response["Content-Length"] = str(len(response.content))
        return response


def _refusal(request: HttpRequest) -> BusyError | None:
    waited, longest = request_wait.of_this_request(), settings.PORTAL.submission_wait
    if waited > longest:
        return admission.refuse(
            f"This submission waited {waited:.1f} s for the web server, and {longest:g} s is the most"
        )
    try:
        admission.check_admission()
    except BusyError as error:
        return error
    except DatabaseError:  # the service finds that too, and says so as ever
        return None
    return None


def _may_be_known(request: HttpRequest) -> bool:
    """Whether this may have been sent before: by its key, or because that is to be seen only with more work."""
    key = request.headers.get("Idempotency-Key", "").strip()
    try:
        return Job.objects.filter(request_key=uuid.UUID(key)).exists() if key else _has_key(request)
    except (ValueError, DatabaseError):  # a key of another form counts for its person alone
        return True


def _has_key(request: HttpRequest) -> bool:
    length = request.headers.get("Content-Length", "")
    return not length.isdigit() or int(length) > _LONGEST_LOOKED_THROUGH or b"request_key" in request.body
