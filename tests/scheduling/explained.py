"""Why a job is where it is, as its page tells it."""

from __future__ import annotations

from scheduling import selectors
from scheduling.messages import messages
from scheduling.models import Job


def explained(job: Job) -> str:
    """The sentences."""
    return messages(selectors.explanation(job))
