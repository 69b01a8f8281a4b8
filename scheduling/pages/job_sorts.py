"""The sorts of the list of jobs that no index serves: where few jobs are listed they are read and sorted here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from gridportal.web.sorting import ColumnSort, by_column
from gridportal.web.templatetags.job_times import running_seconds, seconds_until_now
from scheduling.jobs.core.states import JobState
from scheduling.runs.core.run_checks import is_verified


def _running(
    started: datetime | None,
    ended: datetime | None,
    state: str,
    all_runs: timedelta | None,
    run_began: datetime | None,
) -> float | None:
    """For how long the runs of a job were there, seconds; until now for one that runs."""
    if state == JobState.RUNNING and started is not None:
        return seconds_until_now(started, all_runs, run_began)
    return running_seconds(started, ended, all_runs, state)


def _chosen(nodes: list[str] | None) -> list[str] | None:
    return sorted(set(nodes)) if nodes else None


def _check(passed: bool | None, state: str) -> int | None:
    """Wrong results, then those that nobody can rely on though their check passed, then verified ones."""
    return None if passed is None else passed + bool(is_verified(passed, state))


#: By the name of the column; the values are of jobs with their outcomes (`selectors.jobs_visible_to`).
SHORT_SORTS: Mapping[str, ColumnSort] = {
    "cluster": by_column("cluster"),
    "project": by_column("project__name"),
    "method": by_column("method"),
    "pattern": by_column("pattern"),
    "ranks": by_column("ranks"),
    "chosen": ColumnSort(("chosen_nodes",), _chosen),
    "running": ColumnSort(("started_at", "ended_at", "state", "all_runs", "run_began"), _running),
    "limit": by_column("time_limit"),
    "check": ColumnSort(("run_verified", "state"), _check),
    "started": by_column("started_at"),
    "ended": by_column("ended_at"),
}
