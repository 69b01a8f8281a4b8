"""`python -m tests.chaos.rows [open]`: every job's story from the portal's rows, or how many are not over, as JSON."""

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
    sys.stdout.write(json.dumps(unsettled() if sys.argv[1:] == ["open"] else stories()))


def unsettled() -> list[list[Any]]:
    """[id, state, reason] of each job that is in a passing state."""
    from scheduling.jobs.core.states import FINAL, JobState
    from scheduling.jobs.models import Job
    from scheduling.messages import message

    calm = [state.value for state in (*FINAL, JobState.WAITING)]
    rows = Job.objects.exclude(state__in=calm).values_list("pk", "state", "reason")
    return [[pk, state, message(reason)] for pk, state, reason in rows]


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
