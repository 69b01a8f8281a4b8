"""What the page of one decision shows: why now, from where to where, stay or move, and how its move goes on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from gridportal.base.rank_places import in_short
from gridportal.web.templatetags.units import counting, duration
from monitoring.clusters import selectors as clusters
from scheduling.contracts.selectors.contract_stories import ContractStory, JudgedReport, story_of
from scheduling.contracts.selectors.promises import contract_of
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.units import share_text
from scheduling.profiles.charts import picture
from scheduling.rescheduling import decision_messages, limit_messages, place_messages, selectors
from scheduling.rescheduling.charts import both_places, cost_bars, ratio_chart
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase
from scheduling.rescheduling.core.weighing import MoveMode, Verdict
from scheduling.rescheduling.difference_messages import what_differs
from scheduling.rescheduling.models import MoveDecision

_MOST_RANKS = 256
#: So many of the latest reports say how it goes at present.
_LATEST = 6
Facts = list[tuple[str, str]]


def decision_context(request: HttpRequest, decision: MoveDecision) -> dict[str, Any]:
    """All of the page but its map."""
    return {
        **decision_summary(request, decision),
        **_why_now(decision),
        **_places(decision),
        "lacking": decision.what_nodes_lack,
        "over": MoveDecision.life.is_final(decision.state),
        "events": decision_messages.steps(decision),
        "progress": selectors.progress_of(decision, timezone.now()),
        "results": decision_messages.predicted_and_real(decision),
        "fragment": bool(getattr(request, "htmx", False)),
    }


def decision_summary(request: HttpRequest, decision: MoveDecision) -> dict[str, Any]:
    """What a list shows of a proposal: its sentences, both ways, both node sets, and what this person may do."""
    return {
        "decision": decision,
        "job": decision.job,
        "title": decision_messages.title(decision),
        "failure": decision_messages.failure(decision),
        "finding": decision_messages.finding(decision),
        "time_limit": limit_messages.time_limit(decision, selectors.began(decision)),
        "now_label": place_messages.now_label(decision),
        "target_label": place_messages.target_label(decision),
        "map_legend": place_messages.map_legend(decision),
        "stay_or_move": decision_messages.stay_or_move(decision),
        "formula": decision_messages.formula(decision),
        "outcome": decision_messages.outcome(decision),
        "pins": decision_messages.pins(decision),
        "difference": what_differs(decision, *selectors.to_compare(decision)),
        "mode_words": decision_messages.MODES[MoveMode(decision.mode)],
        "cost_words": decision_messages.COSTS[CostKind(decision.cost_kind)],
        "other_cost": decision_messages.by_other_cost(decision),
        "figure": cost_bars.ways(decision),
        "legend": cost_bars.legend(decision),
        **_costs(decision),
        **_pictures(decision),
        **_permissions(request, decision),
    }


def _permissions(request: HttpRequest, decision: MoveDecision) -> dict[str, bool]:
    waits = decision.state == DecisionState.PROPOSED
    may = {
        f"may_{verb}": waits and request.user.has_perm(f"scheduling.{verb}_move") for verb in decision_messages.VERBS
    }
    return may | {"may_decide": any(may.values())}


def _costs(decision: MoveDecision) -> dict[str, Any]:
    """By phase: predicted, worst case, and what the move really took where that is known."""
    costs = decision.costs_by_kind
    predicted, worst = (costs.get(kind) for kind in (CostKind.PREDICTED, CostKind.WORST_CASE))
    real = selectors.real_cost(decision)
    likely, most = (cost.seconds if cost else {} for cost in (predicted, worst))
    rows = [
        (decision_messages.PHASES[phase], *(seconds.get(phase) for seconds in (likely, most, real)))
        for phase in CostPhase
        if phase in {*likely, *most, *real}
    ]
    total = decision.continuation.total if decision.continuation else None
    return {"cost_rows": rows, "predicted": predicted, "worst": worst, "real_cost": real, "real_total": total}


def _pictures(decision: MoveDecision) -> dict[str, Any]:
    """Both node sets as pictures with their sentences; nothing of a cluster without a network."""
    if not clusters.traits(decision.cluster).has_network:
        return {"pictures": []}
    peaks = clusters.peaks(decision.cluster)
    talks = bool(decision.job.pattern) or decision.job.method == "pattern"
    labels = place_messages.now_label(decision), place_messages.target_label(decision)
    pairs = zip(labels, (decision.group_now, decision.group_there), strict=True)
    shown = [(f"{label} {in_short(group.nodes)}", group) for label, group in pairs if group.nodes]
    return {"pictures": [(title, *_drawn(group, peaks, talks=talks)) for title, group in shown]}


def _drawn(group: CandidateGroup, peaks: picture.Peaks, *, talks: bool) -> tuple[picture.Picture, str]:
    words = picture.finding(group, peaks, talks=talks) if group.edges else ""
    cpu = group.objective.min_cpu
    free = f" The busiest processor has {share_text(cpu)} free." if cpu is not None else ""
    return picture.picture(group, peaks, talks=talks), f"{words}{free}".strip()


def _places(decision: MoveDecision) -> dict[str, Any]:
    most = max(len(decision.nodes_now), len(decision.nodes))
    count = min(_MOST_RANKS, most)
    ranks = list(zip_longest(range(count), decision.nodes_now[:count], decision.nodes[:count]))
    return {"ranks": ranks, "left_out": most - count, "map": both_places.figure(decision)}


def _why_now(decision: MoveDecision) -> dict[str, Any]:
    """The ratios that led here, and the facts beside them."""
    run = decision.job.runs.filter(number=decision.run_number).first()
    contract = contract_of(run)
    story = story_of(contract) if contract else None
    if story is None or story.promised is None:
        return {"why_facts": [*_asked(decision), *_data_age(decision)]}
    rows = ratio_chart.reports_until(story, decision.created_at)
    return {
        "why_finding": ratio_chart.finding(story, rows, decision.average, decision.created_at),
        "ratio_figure": ratio_chart.figure(story, rows, decision.created_at),
        "ratio_legend": ratio_chart.legend(story, rows, decision.created_at),
        "why_facts": [*_asked(decision), *_work(decision, story, rows), *_data_age(decision)],
        "adjustments": [each for each in story.adjustments if each.at <= decision.created_at.timestamp()],
    }


def _asked(decision: MoveDecision) -> Facts:
    """Who had it weighed, and that it is proposed for that alone, where its figures do not say so."""
    if decision.person_asking is None:
        return []
    facts: Facts = [("Asked for by", decision.person_asking)]
    if decision.verdict == Verdict.MOVE and not decision.pays:
        facts.append(("By its figures", "not proposed" if decision.gain is not None else "nobody can predict the gain"))
    return facts


def _work(decision: MoveDecision, story: ContractStory, rows: Sequence[JudgedReport]) -> Facts:
    began, total = story.contract.run.started_at, story.promised.total if story.promised else None
    facts: Facts = []
    if decision.complete is not None:
        facts.append(("Predicted work done", share_text(decision.complete)))
    if total:
        facts.append(("Promised in all", duration(total)))
    if began is not None and decision.ret_current is not None:
        elapsed = ((decision.overridden_at or decision.created_at) - began).total_seconds()
        facts += [
            ("Elapsed", duration(elapsed)),
            ("Expected now, if it stays", duration(elapsed + decision.ret_current)),
        ]
    if decision.average is not None:
        facts.append(("Ratio, average of all phases", f"{decision.average:.2f}"))
    if rows:
        latest = rows[-_LATEST:]
        reports = "latest report" if len(latest) == 1 else f"mean of the latest {len(latest)} reports"
        mean = f"{fmean(row.seconds / row.promised for row in latest):.2f}"
        facts.append((f"Ratio, {reports} of {ratio_chart.phase_name(story)}", mean))
        quiet = decision.created_at.timestamp() - rows[-1].at
        facts.append(("Last report", f"{duration(max(0.0, quiet))} before"))
    return facts


def _data_age(decision: MoveDecision) -> Facts:
    """How old the figures were that it was weighed by, and are now."""
    before = selectors.moves_before(decision)
    moved = ("Moved before", f"{before} time{'' if before == 1 else 's'}" if before else "never")
    if decision.measured_at is None:
        why = "not used for this decision" if decision.nodes else "not needed: no other nodes were compared"
        return [("Network measured", why), moved]
    decided = decision.overridden_at or decision.created_at
    then = max(0.0, (decided - decision.measured_at).total_seconds())
    now = max(0.0, (timezone.now() - decision.measured_at).total_seconds())
    return [("Network measured", f"{counting(then)} before the decision; {counting(now)} ago"), moved]
