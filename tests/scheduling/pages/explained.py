"""Why a job is where it is, as its page tells it."""

from __future__ import annotations

from scheduling.jobs.models import Job
from scheduling.messages import messages
from scheduling.placing.selectors import occupancy as selectors


def explained(job: Job) -> str:
    """The sentences."""
    return messages(selectors.explanation(job))
