"""The jobs of a sweep as a table: the values of each, its state, its times and what its program reported."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from gridportal.accounts.models import User
from gridportal.web.templatetags.job_times import ran
from gridportal.web.templatetags.units import sig
from scheduling.jobs.core.parameters import Value
from scheduling.jobs.core.states import JobState
from scheduling.jobs.core.sweep import RANKS, point_text
from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import SEES_ALL
from scheduling.messages import message
from scheduling.pages.run_figures import figure_units, reported_figures
from scheduling.runs.models import Run

#: Figures that the portal itself knows of a job, with what the page calls them.
TIMES = {"seconds": "program’s own time", "running": "from start to end", "waiting": "waiting"}
#: So many figures of the program are columns.
_MOST_FIGURES = 12


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One job. values: of each axis; figures: numbers by name, times in seconds, without what is not known yet;
    warning: what is odd about how its ranks were started, empty where nothing is."""

    job: Job
    values: dict[str, Value]
    figures: dict[str, float]
    warning: str = ""

    def cells(self, names: Sequence[str]) -> list[float | None]:
        """The figures of these names."""
        return [self.figures.get(name) for name in names]


@dataclass(frozen=True, slots=True)
class SweepTable:
    """All jobs of a sweep, in the order of its combinations. units: of the figures that its jobs have, by name."""

    group: JobGroup
    rows: list[SweepRow]
    units: dict[str, str]

    @property
    def figures(self) -> list[str]:
        """The names of its figures."""
        return list(self.units)

    @property
    def states(self) -> dict[str, int]:
        """How many jobs are in each state."""
        return dict(Counter(row.job.state for row in self.rows))

    @property
    def is_over(self) -> bool:
        """Whether nothing of it changes any more."""
        return all(row.job.is_final for row in self.rows)

    @property
    def lines(self) -> list[tuple[SweepRow, list[Value | str], list[float | None]]]:
        """Each row with its values and its figures in the order of the columns."""
        axes, names = list(self.group.values_by_axis), self.figures
        return [(row, [row.values.get(axis, "") for axis in axes], row.cells(names)) for row in self.rows]

    def heads(self) -> list[tuple[str, str]]:
        """The name of each figure as people read it, with its unit."""
        return [(label(name), unit) for name, unit in self.units.items()]

    def finding(self, figure: str) -> str:
        """The lowest and the highest of a figure among the jobs that succeeded, in one sentence; empty without any.
        Jobs whose ranks were started oddly do not count."""
        well = [row for row in self.rows if row.job.state == "succeeded" and not row.warning]
        known = [row for row in well if figure in row.figures]
        if not known:
            return ""
        low, high = (choose(known, key=lambda row: row.figures[figure]) for choose in (min, max))
        ends = [f"{self._shown(row, figure)} ({point_text(row.values)}, job {row.job.pk})" for row in (low, high)]
        name = label(figure)
        return f"{name[:1].upper()}{name[1:]}: the lowest is {ends[0]}, the highest {ends[1]}."

    @property
    def warned(self) -> list[SweepRow]:
        """The jobs whose ranks were started oddly."""
        return [row for row in self.rows if row.warning]

    def _shown(self, row: SweepRow, figure: str) -> str:
        return f"{sig(row.figures[figure])} {self.units[figure]}".strip()


def label(figure: str) -> str:
    """What the page calls a figure."""
    return TIMES.get(figure, figure.replace("_", " "))


def groups_visible_to(user: User) -> QuerySet[JobGroup]:
    """A person's own sweeps, or everybody's for operators, managers and administrators; newest first."""
    rows = JobGroup.objects.select_related("owner", "application")
    return rows if user.role in SEES_ALL else rows.filter(owner=user.pk)


def sweep_table(group: JobGroup) -> SweepTable:
    """Reads its jobs and their runs: two statements."""
    runs = defaultdict[int, list[Run]](list)
    for run in Run.objects.filter(job__group=group).order_by("number"):
        runs[run.job_id].append(run)
    rows = [_row(group, job, runs.get(job.pk, [])) for job in group.jobs.order_by("pk")]
    units, names = figure_units(group.application), dict.fromkeys(name for row in rows for name in row.figures)
    own = [name for name in names if name not in TIMES][:_MOST_FIGURES]
    times = dict.fromkeys((name for name in TIMES if name in names), "s")
    return SweepTable(group, rows, times | {name: units.get(name, "") for name in own})


def _row(group: JobGroup, job: Job, runs: Sequence[Run]) -> SweepRow:
    """Its result is that of its last run; it was running in all of them."""
    run = runs[-1] if runs else None
    values = {name: job.ranks if name == RANKS else job.parameters.get(name, "") for name in group.values_by_axis}
    waiting = (job.started_at - job.created_at).total_seconds() if job.started_at else None
    reported = reported_figures(run.result) if run else {}
    numbers = {name: value for name, value in reported.items() if _is_number(value)}
    times = {"seconds": run.seconds if run else None, "running": _running(job, runs), "waiting": waiting}
    figures = numbers | {name: value for name, value in times.items() if value is not None}
    return SweepRow(job, values, figures, message(run.start_reason) if run else "")


def _running(job: Job, runs: Sequence[Run]) -> float | None:
    """Seconds of all its runs, once the job is over or stopped."""
    goes_on = job.ended_at is None and job.state != JobState.STOPPED
    return ran(job) if goes_on or not runs else sum(ran(run) or 0.0 for run in runs)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
