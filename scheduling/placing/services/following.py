"""Following runs, and what follows from what became of them: profiles, and other nodes for withdrawn ones."""

from __future__ import annotations

from functools import partial

from scheduling.placing.services.taking import place_anew
from scheduling.profiles.services.stored_profiles import keep_trace_of
from scheduling.runs.services import running
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.running import Followed
from scheduling.skeletons.selectors import clusters_with_trials


def clusters_to_follow() -> list[str]:
    """The clusters that have something to follow, runs or skeletons."""
    return sorted({*running.clusters_with_runs(), *clusters_with_trials()})


def poll_runs(cluster: str = "") -> int:
    """Follow every run that a backend has, or those of one cluster, as running.follow_runs does; how many jobs changed
    state."""
    return _draw_conclusions(running.follow_runs(cluster))


def cancel_run(job_id: int) -> None:
    """Tell the backend to stop the run of a job that is being cancelled; poll_runs says so again until it has."""
    _draw_conclusions(running.cancel_run(job_id))


def _draw_conclusions(followed: Followed) -> int:
    """Whoever is killed in between, the next poll finds the withdrawn runs again."""
    placed = 0
    for run in followed.withdrawn:
        placed += bool(isolated(f"job {run.job_id}", partial(place_anew, run)).value)
    for run in followed.changed:
        if run.job.is_final:
            keep_trace_of(run)
    return len(followed.changed) + placed
