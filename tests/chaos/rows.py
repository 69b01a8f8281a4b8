"""`python -m tests.chaos.rows [open|moves]`: every job's story from the portal's rows, how many are not over, or all
decisions on moves and what they led to, as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    """Read in the portal's own settings."""
    from gridportal.base import home
    from gridportal.web.command_database import set_up_django

    home.join()
    set_up_django()
    sys.stdout.write(json.dumps({"open": unsettled, "moves": moves}.get(sys.argv[-1], stories)()))


def unsettled() -> list[list[Any]]:
    """[id, state, reason] of each job that is in a passing state, or about to be moved."""
    from scheduling.jobs.core.states import FINAL, JobState
    from scheduling.jobs.models import Job
    from scheduling.messages import message
    from scheduling.rescheduling.core.decision_states import OPEN_DECISIONS
    from scheduling.rescheduling.models import MoveDecision

    calm = [state.value for state in (*FINAL, JobState.WAITING)]
    rows = Job.objects.exclude(state__in=calm).values_list("pk", "state", "reason")
    deciding = MoveDecision.objects.filter(state__in=OPEN_DECISIONS).exclude(state="proposed")
    between = [[pk, f"decision {state}", ""] for pk, state in deciding.values_list("job_id", "state")]
    return [[pk, state, message(reason)] for pk, state, reason in rows] + between


def moves() -> dict[str, Any]:
    """As tests.chaos.moves_verdict.MovesTale takes them."""
    from scheduling.jobs.models import Job
    from scheduling.rescheduling.models import MoveDecision
    from scheduling.runs.continuation_models import Continuation

    decisions = MoveDecision.objects.prefetch_related("events").order_by("pk")
    stops = Continuation.objects.select_related("source", "target").order_by("pk")
    jobs = Job.objects.filter(application__slug="chaos-count").prefetch_related("runs").order_by("pk")
    return {
        "decisions": [_decision(each) for each in decisions],
        "stops": [_stop(each) for each in stops],
        "jobs": [_counted(job) for job in jobs],
    }


def _decision(row: Any) -> dict[str, Any]:
    events = [event.to_state for event in row.events.all()]
    about = {"id": row.pk, "job": row.job_id, "state": row.state}
    return {**about, "continuation": row.continuation_id or 0, "events": events}


def _stop(row: Any) -> dict[str, Any]:
    numbers = {"source": row.source.number, "target": row.target.number if row.target else 0}
    return {"id": row.pk, "job": row.job_id, "state": row.state, **numbers}


def _counted(job: Any) -> dict[str, Any]:
    runs = sorted(job.runs.all(), key=lambda run: run.number)
    verified = runs[-1].verified if runs else None
    return {"job": job.pk, "state": job.state, "verified": verified, "runs": len(runs)}


def stories() -> list[dict[str, Any]]:
    """As tests.chaos.story.Story takes them, oldest first."""
    from scheduling.jobs.models import Job

    jobs = Job.objects.select_related("application").prefetch_related("events", "runs", "skeleton_runs")
    return [_story(job) for job in jobs.order_by("pk")]


def _story(job: Any) -> dict[str, Any]:
    from scheduling.messages import message
    from scheduling.runs.core.run_states import OPEN

    events = [
        {"before": event.from_state, "after": event.to_state, "reason": message(event.reason), "actor": event.actor}
        for event in job.events.all()
    ]
    runs, trials = list(job.runs.all()), list(job.skeleton_runs.all())
    lives = [[run.number, run.state] for run in sorted(runs, key=lambda run: run.number)]
    still = [run.key for run in runs if run.state in OPEN or run.ended_at is None]
    still += [trial.key for trial in trials if trial.is_open]
    return {
        "job": job.pk,
        "request_key": str(job.request_key),
        "application": job.application.slug,
        "cluster": job.cluster,
        "state": job.state,
        "reason": message(job.reason),
        "is_dated": job.ended_at is not None,
        "time_limit": job.time_limit,
        "events": events,
        "run_keys": [run.key for run in (*runs, *trials)],
        "open_runs": still,
        "runs": lives,
    }


if __name__ == "__main__":
    main()
