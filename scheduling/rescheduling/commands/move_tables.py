"""What `gridportal moves` reads and prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.rank_places import in_short
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.rescheduling import decision_messages, limit_messages, selectors
from scheduling.rescheduling.core.move_cost import CostKind, CostPhase
from scheduling.rescheduling.difference_messages import what_differs
from scheduling.rescheduling.models import JobMovePolicy, MoveDecision
from scheduling.rescheduling.services import policies
from scheduling.rescheduling.services.dry_runs import DryRun

_LISTS = {
    "waiting": selectors.proposals,
    "under-way": selectors.under_way,
    "moved": selectors.moved,
    "not-moved": selectors.not_moved,
    "all": selectors.decisions,
}
_SIMULATED = (
    *("run_number", "mode", "verdict", "nodes_now", "nodes", "complete", "ret_current", "ret_new", "cost", "cost_kind"),
    *("costs", "gain", "threshold", "pays"),
)
_RULES = (
    *("policy", "cost_kind", "cost_scale", "threshold", "learns_threshold", "changes_ranks"),
    *("expires_after", "most_per_hour", "most_per_job"),
    *("job_cooldown", "node_cooldown", "allow", "deny"),
)


def listed(show: str, most: int) -> list[MoveDecision]:
    """The decisions of a list."""
    return list(_LISTS[show]()[:most])


def decision(number: int) -> MoveDecision:
    """One decision. Raises InputError for a number that there is not."""
    found = selectors.decisions().filter(pk=number).first()
    if found is None:
        raise InputError("DECISION", number, "a decision that there is; gridportal moves list shows them")
    return found


def job(number: int) -> Job:
    """One job. Raises InputError for a number that there is not."""
    found = Job.objects.select_related("application", "owner").filter(pk=number).first()
    if found is None:
        raise InputError("JOB", number, "the number of a job")
    return found


def allowed(name: str, permission: str, about: Any = None) -> User:
    """The person of this name, who has the permission. Raises InputError."""
    who = User.objects.filter(username=name).first()
    if who is None:
        raise InputError("--as", name, "the name of a person of this portal")
    if not who.has_perm(permission, about):
        raise InputError("--as", name, f"somebody with the permission {permission}, such as an operator")
    return who


def document(row: MoveDecision) -> dict[str, Any]:
    """A decision as JSON."""
    return {
        "id": row.pk,
        "state": row.state,
        "asked_by": row.person_asking,
        **simulated(row),
        "by": row.by,
        "why": row.why,
        "created_at": row.created_at.isoformat(),
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
        "outcome": row.outcome,
        "missed": selectors.missed(row),
    }


def simulated(row: MoveDecision) -> dict[str, Any]:
    """The figures of a decision, also of one that is not kept."""
    figures = {name: getattr(row, name) for name in _SIMULATED}
    return {"job": row.job_id, "cluster": row.cluster, **figures, "finding": decision_messages.finding(row)}


def detail(row: MoveDecision) -> dict[str, Any]:
    """The same with steps and progress."""
    events = [
        {"at": each.at.isoformat(), "state": each.to_state, "by": each.actor, "why": each.why or message(each.reason)}
        for each in row.events.all()
    ]
    progress = [
        {"stage": each.stage.value, "state": each.state.value, "seconds": each.seconds, "predicted": each.predicted}
        for each in selectors.progress_of(row, timezone.now())
    ]
    return document(row) | {"events": events, "progress": progress}


def show_decisions(rows: Sequence[MoveDecision], empty: str) -> None:
    """As a table."""
    if not rows:
        echo(empty)
        return
    heads = [Column("decision", number=True), Column("job", number=True), Column("state"), Column("gain", number=True)]
    columns = [*heads, Column("from, to", wraps=True), Column("by", spare=2), Column("finding", wraps=True, spare=1)]
    show_table(columns, [_cells(row) for row in rows])


def _cells(row: MoveDecision) -> tuple[str, ...]:
    both = f"{in_short(row.nodes_now)} → {in_short(row.nodes)}" if row.nodes else in_short(row.nodes_now)
    summary = decision_messages.summary(row)
    return (str(row.pk), str(row.job_id), row.state, _percent(row.gain), both, row.by or "portal", summary)


def show_decision(row: MoveDecision) -> None:
    """In sentences, and the cost by phase as a table."""
    for line in (
        f"{decision_messages.title(row)}: {row.state}.",
        decision_messages.failure(row),
        decision_messages.finding(row),
        limit_messages.time_limit(row, selectors.began(row)),
        what_differs(row, *selectors.to_compare(row)),
        decision_messages.stay_or_move(row),
        decision_messages.formula(row),
        decision_messages.by_other_cost(row),
        decision_messages.outcome(row),
        f"{row.by}: {row.why}" if row.why else "",
    ):
        if line:
            echo(line)
    costs, real = row.costs_by_kind, selectors.real_cost(row)
    parts = [costs[kind].seconds if kind in costs else {} for kind in (CostKind.PREDICTED, CostKind.WORST_CASE)]
    heads = [Column("phase"), *(Column(name, number=True) for name in ("predicted, s", "worst case, s", "real, s"))]
    cells = [
        (decision_messages.PHASES[phase], *(_seconds(each.get(phase)) for each in (*parts, real)))
        for phase in CostPhase
        if any(phase in each for each in (*parts, real))
    ]
    show_table(heads, cells)
    for each in selectors.progress_of(row, timezone.now()):
        echo(f"{decision_messages.STAGES[each.stage]}: {each.state}, {_seconds(each.seconds)} s")


def job_policy(number: int, person: str, moves: str, mode: str | None) -> JobMovePolicy:
    """What is said of one job, changed where something is named. Raises InputError."""
    row = job(number)
    if not moves and mode is None:
        return selectors.job_policy(row) or JobMovePolicy(job=row)
    needed = "scheduling.change_job_moves" if mode is not None else "scheduling.opt_out_of_moves"
    opted_out = moves == "never" if moves else None
    return policies.change_job_policy(allowed(person, needed, row), row, opted_out=opted_out, policy=mode)


def rules(cluster: str, person: str, changes: Sequence[str]) -> dict[str, Any]:
    """The rules of a cluster, changed where something is named. Raises InputError."""
    if cluster not in settings.CLUSTERS:
        raise InputError("cluster", cluster, f"one of {', '.join(sorted(settings.CLUSTERS))}")
    if changes:
        who = allowed(person, "scheduling.change_move_policy")
        policies.change_policy(who, cluster, dict(_change(text) for text in changes))
    row = selectors.policy(cluster)
    return {"cluster": cluster, **{name: getattr(row, name) for name in _RULES}}


def _change(text: str) -> tuple[str, Any]:
    """NAME=VALUE; a value that is JSON, such as 0.2 or true, is read as that."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise InputError("set", text, "NAME=VALUE, such as threshold=0.2")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def show_rules(rules_now: dict[str, Any]) -> None:
    """As a table."""
    show_table([Column("rule"), Column("value", wraps=True)], [(name, str(value)) for name, value in rules_now.items()])


def dry_run_document(run: DryRun) -> dict[str, Any]:
    """As JSON."""
    return {
        "cluster": run.cluster,
        "saves": run.saves,
        "moves": [simulated(each) for each in run.moves],
        "stays": [simulated(each) for each in run.stays],
        "left_out": run.left_out,
        "problems": list(run.problems),
    }


def show_dry_run(run: DryRun) -> None:
    """As a sentence and two tables."""
    echo(decision_messages.dry_run_summary(run.moves, len(run.stays)))
    columns = [Column("order", number=True), Column("job", number=True), Column("from, to", wraps=True)]
    columns += [Column("gain", number=True), Column("sooner by, s", number=True)]
    if run.moves:
        show_table(columns, [_move_cells(at, each) for at, each in enumerate(run.moves, start=1)])
    if run.stays:
        cells = [(str(each.job_id), decision_messages.finding(each)) for each in run.stays]
        show_table([Column("stays: job", number=True), Column("why", wraps=True)], cells)
    for problem in run.problems:
        echo(problem)
    if run.left_out:
        echo(f"{run.left_out} more jobs were not weighed.")


def _move_cells(at: int, each: MoveDecision) -> tuple[str, ...]:
    both = f"{in_short(each.nodes_now)} → {in_short(each.nodes)}"
    return (str(at), str(each.job_id), both, _percent(each.gain), _seconds(each.saves))


def _percent(share: float | None) -> str:
    return "—" if share is None else f"{share * 100:.0f} %"


def _seconds(value: float | None) -> str:
    return "—" if value is None else f"{value:.1f}"
