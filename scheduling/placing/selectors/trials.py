"""Reading trials: how the skeleton of a job fares on its candidate groups, what it cost and won."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from gridportal.base.reasons import Reason
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.skeletons.models import SkeletonRun


def last_placement(job: Job) -> Placement | None:
    """The newest placement, also while its groups are tried and there is no run yet."""
    return job.placements.order_by("-pk").first()


def override(placement: Placement) -> dict[str, Any] | None:
    """Who took another candidate, as the API has it; None where nobody did."""
    found = placement.decision
    if found is None:
        return None
    return {"candidate": found.candidate, "by": found.by, "reason": found.why, "at": found.at.isoformat()}


def trial(placement: Placement | None) -> dict[str, Any] | None:
    """How the groups of a placement were tried; None when nobody asked for that.

    {"untried": Reason} or {"rows": [{"place" (from 0, as the selection has it), "nodes", "state", "seconds",
     "predicted", "more" (predicted above the taken one's), "reason" (Reason), "cause" (why it did not end), "allowed"
     (seconds that it might take), "taken", "selection", "runs_for"}], "finding" (Reason), "over", "groups" (how many
     were to be tried), "ran", "ended", "compared" (on how many; None for old rows and while it goes on), "spent",
     "budget", "overrun", "won", "by", "application", "override"}; seconds everywhere.
    """
    if placement is None or placement.trial is None:
        return None
    plan = placement.trial
    if "untried" in plan:
        return {"untried": Reason.read(plan["untried"]), "rows": []}
    runs = list(SkeletonRun.objects.filter(placement=placement).defer("script").order_by("candidate"))
    own = next((run.predicted for run in runs if run.candidate == plan.get("taken")), None)
    began = [run.handed_at for run in runs if run.handed_at]
    spent = (timezone.now() - min(began)).total_seconds() if began else 0.0
    spent = plan.get("spent", spent)
    return {
        "rows": [_row(run, plan, own) for run in runs],
        "finding": Reason.read(plan.get("finding", "")),
        "over": "finding" in plan,
        "groups": len(plan["groups"]),
        **{name: plan.get(name) for name in ("ran", "ended", "compared")},
        "spent": spent,
        "overrun": max(0.0, spent - plan["budget"]),
        "budget": plan["budget"],
        "won": plan.get("won"),
        "by": plan.get("by", ""),
        "application": plan["application"],
        "override": override(placement),
    }


def _row(run: SkeletonRun, plan: dict[str, Any], own: float | None) -> dict[str, Any]:
    more = run.predicted - own if run.predicted is not None and own is not None else None
    return {
        "place": run.candidate,
        "nodes": run.nodes,
        "state": run.state,
        "seconds": run.seconds,
        "predicted": run.predicted,
        "more": more,
        "reason": run.reason,
        "cause": run.cause,
        "allowed": run.allowed,
        "taken": run.candidate == plan.get("taken"),
        "selection": run.candidate == plan["groups"][0],
        "since": run.started_at if run.is_open else None,
        "ended_at": run.ended_at,
    }
