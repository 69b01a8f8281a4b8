"""Who may submit jobs, on pages."""

from __future__ import annotations

from django.http import HttpRequest

from gridportal.web.required_permission import require_permission

_REFUSAL = "Your role reads but does not submit jobs; ask an administrator for the role user."


def require_submitter(request: HttpRequest) -> None:
    """Raises PermissionDenied for who submits no jobs."""
    require_permission(request, "scheduling.submit_job", _REFUSAL)
