"""A program of somebody's own that was changed after a job of it was submitted: the job runs it as it is when it
starts, and its page says so."""

from __future__ import annotations

from django.db.models import Q

from gridportal.accounts.models import AuditEvent
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from scheduling.runs.services.program_file import is_brought


def changed_program(job: Job, run: Run | None) -> str:
    """Who changed it when, in a sentence; empty where nobody did before the last run was handed over."""
    application = job.application
    if not is_brought(application):
        return ""
    about = Q(object_type="application", object_id=str(application.pk), action="application.change")
    changes = AuditEvent.objects.filter(about, at__gt=job.created_at)
    last = (changes.filter(at__lt=run.created_at) if run else changes).order_by("-at", "-pk").first()
    if last is None or (run is None and job.is_final):
        return ""
    which = f"{last.actor_name} changed {application.name} on {last.at:%Y-%m-%d at %H:%M:%S} UTC, after this job was"
    ran = f"Run {run.number} ran it as changed." if run else "The job will run it as changed."
    return f"{which} submitted. {ran}"
