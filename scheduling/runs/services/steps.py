"""The steps of a run, which its job takes along with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from gridportal.base.reasons import Reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.services.advance import advance, take_over
from scheduling.runs.models import Run


def advance_run(
    run: Run,
    to: JobState,
    reason: Reason,
    *,
    actor: str = "portal",
    holder: str | None = None,
    job: Mapping[str, Any] | None = None,
    **fields: Any,
) -> bool:
    """Take a run and its job to `to`, in one transaction; `job`: columns of the job that are written along with it."""
    changes = {"state": to.value, "reason": reason, **fields}
    with transaction.atomic():
        if not advance(run.job, to, holder=holder, event={"actor": actor}, reason=reason, **(job or {})):
            return False
        Run.objects.filter(pk=run.pk).update(**changes)
    take_over(run, changes)
    return True
