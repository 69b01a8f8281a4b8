"""What choosing nodes brought as measured: jobs on chosen nodes beside jobs on random ones, under the same
conditions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scheduling.jobs.models import Application
from scheduling.reports.report_section import Cell, Head, Section
from scheduling.reports.use_cells import counted
from scheduling.usage.core.against_random import Pair, spread
from scheduling.usage.random_comparison import MOST_JOBS, compared_with_random
from scheduling.usage.ranges import Range

#: From so many sorts of job on there are quartiles.
_QUARTERS = 4
_TITLE = "Chosen nodes beside random ones, measured"
_NONE = (
    "No job of this time can be held against one on random nodes. Compare with random nodes, on the page of a job, "
    "submits the same job once more, on nodes drawn at random."
)
_NOTE = (
    "Held against each other are jobs that ended well, with the same application, parameters, cluster and number of "
    f"nodes, from start to end; of each sort the newest {MOST_JOBS:,} at most. They ran at other times, so the network "
    "may have been another one."
)
_HEADS = (
    Head("application", "Application"),
    Head("parameters", "Parameters"),
    Head("cluster", "Cluster"),
    Head("nodes", "Nodes", Cell.NUMBER),
    Head("chosen_jobs", "Jobs on chosen nodes", Cell.NUMBER),
    Head("chosen_median_seconds", "Their time, median", Cell.SECONDS),
    Head("random_jobs", "Jobs on random nodes", Cell.NUMBER),
    Head("random_median_seconds", "Their time, median", Cell.SECONDS),
    Head("change_percent", "Difference", Cell.CHANGE),
)


def random_section(span: Range) -> Section:
    """One row for each application with its parameters, cluster and number of nodes."""
    pairs = compared_with_random(span)
    if not pairs:
        return Section("random", _TITLE, _NONE, _HEADS, ())
    keys = {pair.conditions.application for pair in pairs}
    names = dict(Application.objects.filter(pk__in=keys).values_list("pk", "name"))
    values = tuple(_row(pair, names[pair.conditions.application]) for pair in pairs)
    return Section("random", _TITLE, _finding(pairs), _HEADS, values, _NOTE)


def _row(pair: Pair, name: str) -> tuple[Any, ...]:
    chosen, random = (pair.chosen, round(pair.chosen_seconds, 1)), (pair.random, round(pair.random_seconds, 1))
    place = (name, _parameters(pair), pair.conditions.cluster, pair.conditions.nodes)
    return (*place, *chosen, *random, round(-100 * pair.saved, 1))


def _parameters(pair: Pair) -> str:
    given = json.loads(pair.conditions.parameters)
    return ", ".join(f"{name} {value}" for name, value in given.items() if value != "") or "none"


def _finding(pairs: Sequence[Pair]) -> str:
    jobs = sum(pair.chosen for pair in pairs), sum(pair.random for pair in pairs)
    kinds = counted(len(pairs), "sort of job", "sorts of job")
    counts = f"{kinds}; {counted(jobs[0], 'job')} on chosen nodes, {jobs[1]:,} on random ones"
    lower, middle, upper = spread(pairs)
    sentence = f"The same jobs took {_than(middle)} on chosen nodes than on random ones in the median ({counts})."
    if len(pairs) == 1:
        return sentence
    which = "All sorts" if len(pairs) < _QUARTERS else "The middle half of the sorts"
    return f"{sentence} {which} took from {_than(lower)} to {_than(upper)}."


def _than(saved: float) -> str:
    return f"{abs(100 * saved):,.0f} % {'less' if saved >= 0 else 'more'} time"
