"""Whether the skeleton of a job is tried on its candidate groups, and how: decided when the groups are chosen."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations

from django.conf import settings

from gridportal.base.reasons import Code, Reason
from gridportal.network.topology import Topology
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.patterns import Pattern, named
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.selectors.occupancy import Occupancy
from scheduling.placing.services.choosing import Choice
from scheduling.selection.core.placement import Candidate
from scheduling.skeletons.core import trial_budget, trial_rounds
from scheduling.skeletons.services.stored_skeletons import SkeletonFigures


def wants_trial(job: Job | JobSpec) -> bool:
    """Whether the job is to be placed by its skeleton where there is one: as it says, else with the method pattern.
    Never where there is no network that could make one group better than another."""
    if not traits(job.cluster).has_network:
        return False
    return job.method == "pattern" if job.skeleton is None else job.skeleton


def cores() -> int:
    """How many processors this machine has."""
    return os.cpu_count() or 1


def planned(
    skeleton: SkeletonFigures,
    choice: Choice,
    pattern: Pattern | None,
    topology: Topology,
    seen: Occupancy,
    *,
    one_machine: bool = False,
) -> Choice:
    """The choice with its trial, or with the reason why there is none.

    Tried are the groups whose nodes are all free, the selection's choice first. Neither when that one is not free:
    then the job waits for it in the queue of its cluster. `one_machine`: all nodes are emulated on this machine, whose
    processors groups that run at once share, too.
    """
    selection = choice.selection
    if not choice.free:
        return choice
    places = [
        place
        for place, one in enumerate(selection.candidates)
        if seen.has_room(one.nodes) and seen.unfit.keys().isdisjoint(one.nodes)
    ]
    groups = [selection.candidates[place] for place in places]
    if len(groups) < 2:
        return replace(choice, untried=Reason.of(Code.TRIAL_ONE_GROUP, ahead=False))
    edges = [(a, b) for a, b, _ in (pattern or named("all-to-all", len(selection.nodes))).edges]
    apart = trial_rounds.apart(topology, [group.nodes for group in groups], edges)
    if one_machine and 2 * len(selection.nodes) > cores():
        apart = tuple(combinations(range(len(groups)), 2))
    budget = trial_budget.budget(skeleton.seconds, settings.PORTAL.trial_seconds, settings.PORTAL.trial_share)
    bounds = tuple(trial_rounds.least_seconds(skeleton.work, skeleton.sizes, _rates(group)) for group in groups)
    runs = trial_budget.run_seconds(skeleton.expected, skeleton.seconds, bounds)
    needed = trial_budget.needed(runs, apart)
    if needed > budget:
        short = {"needed": needed, "budget": budget, "application": skeleton.seconds}
        return replace(choice, untried=Reason.of(Code.TRIAL_TOO_SHORT, **short, ahead=False))
    plan = trial_rounds.Plan(
        skeleton=skeleton.pk,
        groups=tuple(places),
        apart=apart,
        bounds=bounds,
        estimates=tuple(trial_rounds.estimate(skeleton.work, skeleton.sizes, _rates(group)) for group in groups),
        expected=skeleton.expected,
        application=skeleton.seconds,
        budget=budget,
    )
    return replace(choice, plan=plan)


def _rates(group: Candidate) -> dict[tuple[int, int], float]:
    return {edge.ranks: edge.bandwidth for edge in group.edges}
