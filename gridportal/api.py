"""What every API endpoint shares: errors as one sentence with the field they belong to."""

from __future__ import annotations

from typing import Any

from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from gridportal.errors import BackendError, GridPortalError, ImpossibleError, InputError


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """Our own errors as JSON: 400 for what cannot be asked, 503 for an unreachable backend, 409 for the rest."""
    if isinstance(error, InputError):
        return Response({error.field: [str(error)]}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, ImpossibleError):
        return Response({"detail": str(error)}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, BackendError):
        return Response({"detail": str(error)}, status=status.HTTP_503_SERVICE_UNAVAILABLE)
    if isinstance(error, GridPortalError):
        return Response({"detail": str(error)}, status=status.HTTP_409_CONFLICT)
    return exception_handler(error, context)
