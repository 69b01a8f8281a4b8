"""Two or more jobs or runs side by side: what was asked, where they ran, the network then, phases, promised, real."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gridportal.accounts.models import User
from gridportal.base.rank_places import in_short
from gridportal.web.templatetags.units import duration, percent, rate, spaced
from scheduling.contracts.models import Contract
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.messages.program_check import check_text
from scheduling.pages.job_summary import INPUT_FILE, asked_rows
from scheduling.placing.selectors.trial_stories import trial
from scheduling.runs import selectors
from scheduling.runs.models import Run
from scheduling.runs.selectors import PhaseSummary

_NOTHING = "—"
_ASKED = "What was asked"
#: Facts in which jobs differ that compare two ways of choosing nodes.
CHOICE = frozenset({"method", "pattern", "candidate groups", "seed", "seed of the selection", "by its skeleton"})


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run, or a job that has not run yet. Seconds: `elapsed` from start to end on all nodes, `seconds` by the
    program's own report, `promised` by its contract, `predicted` by its skeleton; None where nobody knows."""

    job: Job
    run: Run | None
    phases: list[PhaseSummary]
    elapsed: float | None = None
    promised: float | None = None
    predicted: float | None = None

    @classmethod
    def of(cls, job: Job, run: Run | None) -> ComparedRun:
        """Reads a few rows."""
        if run is None:
            return cls(job, None, [])
        contract, tried = Contract.objects.filter(run=run).first(), trial(run.placement)
        began, ended = run.started_at, run.ended_at
        return cls(
            job,
            run,
            selectors.phase_summary(run),
            elapsed=(ended - began).total_seconds() if began and ended else None,
            promised=contract.prediction.total if contract and contract.prediction else None,
            predicted=tried.predicted if tried else None,
        )

    @property
    def seconds(self) -> float | None:
        """What the program took by its own report."""
        return self.run.seconds if self.run else None

    @property
    def state(self) -> str:
        """Of the run; of a job without one, its own."""
        return self.run.state if self.run else self.job.state

    @property
    def method(self) -> str:
        """How its nodes are chosen."""
        return self.run.placement.method if self.run else self.job.method

    @property
    def is_over(self) -> bool:
        """Whether nothing of it changes any more."""
        return selectors.is_over(self.run) if self.run else self.job.is_final

    @property
    def has_result(self) -> bool:
        """Whether its times say how fast the program is there."""
        ended_well = self.run is not None and self.run.state == JobState.SUCCEEDED and self.elapsed is not None
        return ended_well and not self.warning

    @property
    def warning(self) -> str:
        """What is odd about how its ranks were started: then its times say nothing. Empty where nothing is."""
        return message(self.run.start_reason) if self.run else ""

    @property
    def conditions(self) -> str:
        """What must be the same where times are to tell one way of choosing nodes from another."""
        count = (self.run.node_count if self.run else None) or self.job.node_count
        return json.dumps([self.job.cluster, self.job.application_id, count, self.job.parameters], sort_keys=True)

    @property
    def name(self) -> str:
        """Job 7, and which run of it where that is not the first."""
        return f"job {self.job.pk}{f', run {self.run.number}' if self.run and self.run.number > 1 else ''}"


@dataclass(frozen=True, slots=True)
class Row:
    """One fact of all runs, in their order; a run that has none has a dash."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs differ in it."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class Part:
    """Rows under one head."""

    head: str
    rows: list[Row]


def comparison(runs: Sequence[ComparedRun], *, names_files: bool) -> list[Part]:
    """The parts that at least one of the runs has something of. `names_files`: input files are told by their names."""
    parts = {
        "Promised and real": [_times(each) for each in runs],
        "Phases, seconds in all": [_phases(each) for each in runs],
        "Nodes, and the network then": [_placement(each) for each in runs],
        _ASKED: [_asked(each.job, names_files) for each in runs],
    }
    return [Part(head, side_by_side(facts)) for head, facts in parts.items() if any(facts)]


def may_read_files(user: User, runs: Sequence[ComparedRun]) -> bool:
    """Whether a person may read the files of all these jobs."""
    return all(user.has_perm("scheduling.read_job_files", each.job) for each in runs)


def also_differs(parts: Sequence[Part]) -> list[str]:
    """What else of what was asked differs, beside the way of choosing nodes."""
    rows = [row for part in parts if part.head == _ASKED for row in part.rows]
    return [row.name for row in rows if row.differs and row.name not in CHOICE]


def side_by_side(facts: Sequence[dict[str, str]]) -> list[Row]:
    """A row for each name of which anything is known, in the order in which they come up.

    >>> [(row.name, row.values, row.differs) for row in side_by_side([{"a": "1"}, {"a": "1", "b": "2"}])]
    [('a', ('1', '1'), False), ('b', ('—', '2'), True)]
    """
    names = dict.fromkeys(name for each in facts for name in each)
    rows = [Row(name, tuple(each.get(name, _NOTHING) for each in facts)) for name in names]
    return [row for row in rows if set(row.values) != {_NOTHING}]


def _asked(job: Job, names_files: bool) -> dict[str, str]:
    """A parameter of the program may have the name of something else that was asked, such as the seed."""
    facts: dict[str, str] = {}
    rows = asked_rows(job, names_files=names_files)
    if sum(name == INPUT_FILE for name, _ in rows) > 1:
        rows = [_named_file(value) if name == INPUT_FILE else (name, value) for name, value in rows]
    for name, value in rows:
        facts[f"{name} of the selection" if name in facts else name] = value
    return facts


def _named_file(value: str) -> tuple[str, str]:
    """The row of one of several input files: headed by its name, with its size."""
    name, _, size = value.rpartition(", ")
    return f"{INPUT_FILE} {name}", size


def _placement(each: ComparedRun) -> dict[str, str]:
    if each.run is None:
        return {}
    placement = each.run.placement
    measured = f"{placement.measured_at:%Y-%m-%d %H:%M:%S} UTC" if placement.measured_at else _NOTHING
    offered = placement.objective
    return {
        "nodes": in_short(placement.nodes),
        "chosen by": placement.method,
        "slowest pair then": rate(offered.min_bandwidth),
        "least free processor then": percent(offered.min_cpu),
        "network measured": measured,
    }


def _phases(each: ComparedRun) -> dict[str, str]:
    return {spaced(row["phase"]): f"{row['seconds']:.3f}" for row in each.phases}


def _times(each: ComparedRun) -> dict[str, str]:
    return {
        "state": each.state,
        "promised by its contract": _seconds(each.promised),
        "predicted by its skeleton": _seconds(each.predicted),
        "from start to end": _seconds(each.elapsed),
        "program’s own time": _seconds(each.seconds),
        "check": _check(each),
        "started oddly": each.warning or _NOTHING,
    }


def _check(each: ComparedRun) -> str:
    run = each.run
    if run is None or (run.verified is None and not each.is_over):
        return _NOTHING
    if run.verified is None:
        return "none of its own"
    return check_text(run.verified, run.state)


def _seconds(value: float | None) -> str:
    return _NOTHING if value is None else duration(value)
