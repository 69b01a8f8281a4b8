"""What every API endpoint shares: errors as one sentence with the field they belong to."""

from __future__ import annotations

import logging
import math
import re
from typing import Any

from django.db import InterfaceError, OperationalError
from django.db.models import Model
from django.http import Http404
from rest_framework import status
from rest_framework.exceptions import APIException, ErrorDetail, NotAuthenticated, NotFound, Throttled
from rest_framework.response import Response
from rest_framework.views import exception_handler

from gridportal.base.errors import (
    BackendError,
    BusyError,
    GridPortalError,
    ImpossibleError,
    InputError,
    SeveralInputsError,
    SubmissionBusyError,
    TextError,
)
from gridportal.web.request_metrics import SUBMISSIONS_REFUSED

log = logging.getLogger(__name__)
_AGAIN = {"Retry-After": "2"}  # seconds
_NO_ROW = re.compile(r"No (\w+) matches the given query\.")  # what Django says of a row that is not there
#: What people call rows whose models have other names.
_CALLED = {"MoveDecision": "decision on a move", "JobGroup": "sweep", "LoggedCluster": "workload log"}
_WHERE_FROM = (
    "No token came with this request. Make one on your account page (/account/) or by `gridportal person token NAME`, "
    "and send it as the header: Authorization: Bearer TOKEN"
)


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """Our own errors as JSON: 400 for what cannot be asked, 429 for too much of it, 503 for an unreachable backend or
    database, 409 for the rest."""
    if isinstance(error, SeveralInputsError):
        return Response(error.by_field(), status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, TextError) and error.line:
        return Response(_placed(error), status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, InputError):
        return Response({error.field: [str(error)]}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, ImpossibleError):
        return Response({"detail": str(error)}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, BusyError):
        if isinstance(error, SubmissionBusyError):
            SUBMISSIONS_REFUSED.inc()
        again = {"Retry-After": str(error.retry_after)}
        return Response({"detail": str(error)}, status=status.HTTP_429_TOO_MANY_REQUESTS, headers=again)
    if isinstance(error, BackendError):
        return Response({"detail": str(error)}, status=status.HTTP_503_SERVICE_UNAVAILABLE)
    if isinstance(error, (OperationalError, InterfaceError)):
        log.error("The database does not answer: %s", error)
        detail = "The portal's database does not answer at this moment; ask again in some seconds."
        return Response({"detail": detail}, status=status.HTTP_503_SERVICE_UNAVAILABLE, headers=_AGAIN)
    if isinstance(error, GridPortalError):
        return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)
    return exception_handler(_reworded(error), context)


def _placed(error: TextError) -> dict[str, Any]:
    """A fault in a text: its sentence by the field, as of any other, and field, sentence and place as values."""
    fault = {"field": error.field, "message": str(error), "line": error.line, "column": error.column}
    return {error.field: [str(error)], "errors": [fault]}


def _reworded(error: Exception) -> Exception:
    """The framework's own errors, with what to do next."""
    if isinstance(error, Http404) and (row := _NO_ROW.fullmatch(str(error))):
        return NotFound(f"There is no such {_in_words(row[1])}, or you may not see it.")
    if isinstance(error, NotAuthenticated):
        error.detail = ErrorDetail(_WHERE_FROM, _code(error))
    elif isinstance(error, Throttled) and (wait := getattr(error, "wait", None)) is not None:
        message, seconds = str(error.detail).split(" Expected available")[0], math.ceil(wait)
        error.detail = ErrorDetail(f"{message} Try again in {seconds} second{'s'[: seconds != 1]}.", _code(error))
    return error


def no_such(model: type[Model]) -> NotFound:
    """What is raised for a row that is not there, and in the same words for one that somebody may not see."""
    return NotFound(f"There is no such {_in_words(model.__name__)}, or you may not see it.")


def _in_words(model: str) -> str:
    """What people call the rows of a model.

    >>> _in_words("AlertRule"), _in_words("JobGroup")
    ('alert rule', 'sweep')
    """
    return _CALLED.get(model) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", model).lower()


def _code(error: APIException) -> str | None:
    """The code of an error with one sentence."""
    return error.detail.code if isinstance(error.detail, ErrorDetail) else None
