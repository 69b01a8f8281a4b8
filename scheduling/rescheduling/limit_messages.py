"""What a decision says of the time limit of its job, where that comes before the work is done."""

from __future__ import annotations

from datetime import datetime, timedelta

from gridportal.base.dates import utc_text
from gridportal.web.templatetags.units import duration
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.place_messages import is_past


def time_limit(decision: MoveDecision, started_at: datetime | None) -> str:
    """That its time limit ends the run that began at `started_at` before its work is done, and what a move changes
    about that; empty where it does not. Each run has the whole limit from its own start."""
    limit = decision.job.time_limit
    if limit is None or started_at is None or decision.ret_current is None:
        return ""
    ends_at = started_at + timedelta(seconds=limit)
    left = (ends_at - (decision.overridden_at or decision.created_at)).total_seconds()
    if left >= decision.ret_current:
        return ""
    parts = _stays(decision, ends_at, left), _moved(decision, limit), _goes_on(decision)
    return " ".join(part for part in parts if part)


def _stays(decision: MoveDecision, ends_at: datetime, left: float) -> str:
    ends = "Where it ran, its time limit would have ended it"
    if not is_past(decision):
        ends = "If it stays, its time limit ends it"
    after = f"{duration(max(0.0, left))} after this was weighed"
    return f"{ends} at {utc_text(ends_at)}, {after}: before its {duration(decision.ret_current)} of work are done."


def _moved(decision: MoveDecision, limit: int) -> str:
    """What the run has that goes on elsewhere."""
    if decision.ret_new is None:
        return ""
    ends_too = f", which ends it before its {duration(decision.ret_new)} of work are done too"
    new = f"A run that goes on elsewhere has a new time limit of {duration(limit)}"
    return f"{new}{ends_too if decision.ret_new > limit else ''}."


def _goes_on(decision: MoveDecision) -> str:
    job = decision.job
    return "Ended by its limit, it goes on by itself where it stopped with a checkpoint." if job.continues else ""
