"""Two or more runs side by side: what was asked, where they ran, the network then, phases, promised and real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gridportal.base.rank_places import in_short
from gridportal.web.templatetags.units import duration, percent, rate
from scheduling.contracts.models import Contract
from scheduling.pages.job_summary import asked_rows
from scheduling.placing.selectors.trial_stories import trial
from scheduling.runs import selectors
from scheduling.runs.models import Run

_NOTHING = "—"


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


def comparison(runs: Sequence[Run]) -> list[Part]:
    """The parts that at least one of the runs has something of. Reads a few rows of each run."""
    parts = {
        "What was asked": [_asked(run) for run in runs],
        "Nodes, and the network then": [_placement(run) for run in runs],
        "Phases, seconds in all": [_phases(run) for run in runs],
        "Promised and real": [_times(run) for run in runs],
    }
    return [Part(head, side_by_side(facts)) for head, facts in parts.items() if any(facts)]


def side_by_side(facts: Sequence[dict[str, str]]) -> list[Row]:
    """A row for each name, in the order in which they come up.

    >>> [(row.name, row.values, row.differs) for row in side_by_side([{"a": "1"}, {"a": "1", "b": "2"}])]
    [('a', ('1', '1'), False), ('b', ('—', '2'), True)]
    """
    names = dict.fromkeys(name for each in facts for name in each)
    return [Row(name, tuple(each.get(name, _NOTHING) for each in facts)) for name in names]


def _asked(run: Run) -> dict[str, str]:
    """A parameter of the program may have the name of something else that was asked, such as the seed."""
    facts: dict[str, str] = {}
    for name, value in asked_rows(run.job):
        facts[f"{name} of the selection" if name in facts else name] = value
    return facts


def _placement(run: Run) -> dict[str, str]:
    placement = run.placement
    measured = f"{placement.measured_at:%Y-%m-%d %H:%M:%S} UTC" if placement.measured_at else _NOTHING
    offered = placement.objective
    return {
        "nodes": in_short(placement.nodes),
        "chosen by": placement.method,
        "slowest pair then": rate(offered.min_bandwidth),
        "least free processor then": percent(offered.min_cpu),
        "network measured": measured,
    }


def _phases(run: Run) -> dict[str, str]:
    return {row["phase"].replace("_", " "): f"{row['seconds']:.3f}" for row in selectors.phase_summary(run)}


def _times(run: Run) -> dict[str, str]:
    contract, tried = Contract.objects.filter(run=run).first(), trial(run.placement)
    promised = contract.prediction.total if contract and contract.prediction else None
    whole = (run.ended_at - run.started_at).total_seconds() if run.started_at and run.ended_at else None
    return {
        "state": run.state,
        "promised by its contract": _seconds(promised),
        "predicted by its skeleton": _seconds(tried.predicted if tried else None),
        "from start to end": _seconds(whole),
        "program’s own time": _seconds(run.seconds),
        "check": _check(verified=run.verified),
    }


def _check(*, verified: bool | None) -> str:
    if verified is None:
        return "none of its own"
    return "verified" if verified else "wrong result"


def _seconds(value: float | None) -> str:
    return _NOTHING if value is None else duration(value)
