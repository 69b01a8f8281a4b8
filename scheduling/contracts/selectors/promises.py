"""Reading contracts: how well models did, and what there is to tell of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.utils import timezone

from scheduling.contracts.core.first_reports import FIRST_REPORTS
from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.contracts.core.outlook import Outlook, Standing, outlook, standing
from scheduling.contracts.core.silence import broken_by_silence, with_silence
from scheduling.contracts.models import Contract, ModelOutcome
from scheduling.performance.core.fitted import FITTED, PAST_RUNS
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run

#: So many of the latest outcomes of an application are looked at.
_LATEST = 2000
#: These are made from past runs, and need no correction.
LEARNT = (PAST_RUNS, FITTED, FIRST_REPORTS)
_FEWEST = 3
#: A contract is closed within so many seconds after the end of its run, or else nobody waits for that.
CLOSED_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """How a model did for one phase of an application: the median error, as a share, and the median of actual over
    predicted seconds, over so many runs. scatter: the error that is left once predictions are multiplied by `ratio`."""

    model: str
    phase: str
    runs: int
    error: float
    ratio: float
    scatter: float


def model_records(application_id: int) -> list[ModelRecord]:
    """By model and phase, as both began."""
    seen: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    rows = ModelOutcome.objects.filter(contract__run__job__application=application_id, predicted__gt=0)
    for model, phase, predicted, actual in rows.order_by("-pk").values_list("model", "phase", "predicted", "actual")[
        :_LATEST
    ]:
        seen[model, phase].append(actual / predicted)
    return [
        ModelRecord(model, phase, len(ratios), _error(ratios, 1.0), median(ratios), _error(ratios, median(ratios)))
        for (model, phase), ratios in sorted(seen.items())
    ]


def _error(ratios: Sequence[float], expected: float) -> float:
    return median(abs(each / expected - 1) for each in ratios) if expected > 0 else 0.0


def model_errors(application_id: int) -> dict[str, float]:
    """The error of each model, corrected where it is: the median over the phases that it was compared in. A model that
    is corrected after fewer runs than `_FEWEST` has none yet."""
    errors: defaultdict[str, list[float]] = defaultdict(list)
    for each in model_records(application_id):
        if each.model in LEARNT:
            errors[each.model].append(each.error)
        elif each.runs >= _FEWEST:
            errors[each.model].append(each.scatter)
    return {model: median(each) for model, each in errors.items()}


def corrections(application_id: int, ranks: int) -> dict[str, dict[str, float]]:
    """By model and phase: what runs took for each second that the model said, the median of them. Of runs on as many
    ranks where there are any, else of all; none for models that are made from past runs themselves."""
    alike: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    others: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    about = {"contract__run__job__application": application_id, "predicted__gt": 0, "actual__gt": 0}
    rows = ModelOutcome.objects.filter(**about)  # a phase of 0 s would make all that is promised of it 0 s
    columns = ("model", "phase", "predicted", "actual", "contract__run__placement__nodes")
    for model, phase, predicted, actual, nodes in rows.order_by("-pk").values_list(*columns)[:_LATEST]:
        (alike if len(nodes) == ranks else others)[model, phase].append(actual / predicted)
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (model, phase), ratios in {**others, **alike}.items():
        if model not in LEARNT:
            found[model][phase] = median(ratios)
    return dict(found)


def contract_of(run: Run | None) -> Contract | None:
    """The contract of a run, if it has one."""
    return Contract.objects.filter(run=run).first() if run else None


def is_settled(contract: Contract, now: datetime) -> bool:
    """Whether that of a job or run that is over changes no more: it is closed, or its run has no end or ended so long
    ago that nobody closes it any more."""
    ended = contract.run.ended_at
    return contract.closed_at is not None or ended is None or (now - ended).total_seconds() > CLOSED_WITHIN


def elapsed(contract: Contract, now: datetime) -> float:
    """Seconds that its run has run."""
    run = contract.run
    return ((run.ended_at or now) - run.started_at).total_seconds() if run.started_at else 0.0


def view_of(contract: Contract, now: datetime | None = None) -> Outlook | None:
    """How its run goes on; None where nobody knows how much work it has."""
    promised, now = contract.prediction, now or timezone.now()
    return outlook(promised, state_now(contract, now), elapsed(contract, now)) if promised else None


def state_now(contract: Contract, now: datetime) -> MonitorState:
    """What its monitor knows, with the report that is overdue where that has broken the contract already."""
    promised, state = contract.prediction, contract.monitor_state
    if promised is None:
        return state
    upper = contract.limits.scaled(state.scale).upper
    silence = broken_by_silence(promised, state, quiet_for(contract, state, now), upper)
    return with_silence(state, silence) if silence else state


def quiet_for(contract: Contract, state: MonitorState, now: datetime) -> float:
    """Seconds since a report of its run was read, by the portal's own clock: those of nodes may be wrong. 0 while
    nothing was read, and once the run is over or is to stop: it need not report then."""
    runs = contract.run.state == RunState.RUNNING and state.heard_at > 0
    return max(0.0, now.timestamp() - state.heard_at) if runs else 0.0


def standing_of(contract: Contract, now: datetime) -> Standing:
    """How it stands now: as reported, or silent."""
    promised, state = contract.prediction, contract.monitor_state
    if promised is None:
        return Standing.WAITING
    return standing(promised, state, contract.limits, silent_for(contract, state, now))


def silent_for(contract: Contract, state: MonitorState, now: datetime) -> float:
    """Seconds since a report of its run was read, else since the portal watches it: what its standing is judged by, and
    what pages say. The times in reports do not count: clocks of nodes may be wrong."""
    began = max(contract.opened_at, contract.run.started_at or contract.opened_at)
    return max(0.0, now.timestamp() - max(state.read_at, began.timestamp()))


def unclosed(cluster: str) -> Sequence[Contract]:
    """The contracts of a cluster that are still to be judged."""
    rows = Contract.objects.filter(closed_at__isnull=True, run__job__cluster=cluster)
    return list(rows.select_related("run__job__application", "run__placement").order_by("pk"))


def busy_clusters() -> list[str]:
    """The clusters with runs that have no contract yet, or one that is to be judged."""
    running = Run.objects.filter(state=RunState.RUNNING, contract__isnull=True)
    rows = Contract.objects.filter(closed_at__isnull=True)
    names = {*running.values_list("job__cluster", flat=True), *rows.values_list("run__job__cluster", flat=True)}
    return sorted(names)
