"""What models are told of a run that went on from a checkpoint: nothing of the phases that were over before it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.contracts.core.phase_ratio import PhaseRatio
from scheduling.contracts.models import Contract, ModelOutcome
from scheduling.contracts.selectors import promises
from scheduling.contracts.services.closing import close
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.placing.models import Placement
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseTotal

pytestmark = pytest.mark.django_db
PROMISED = Prediction("qr", (PhasePrediction("init", 1, (2.0,)), PhasePrediction("panel", 100, (1.0,))))
SEEN = {"init": PhaseRatio(1, 1.0, 0.2, 2.0), "panel": PhaseRatio(60, 1.0, 90.0, 60.0)}


@pytest.mark.parametrize(
    ("panels_before", "begins_anew", "told"),
    [(40, False, ["panel"]), (100, False, []), (40, True, ["init", "panel"])],
)
def test_phases_that_were_over_before_tell_a_model_nothing(
    people: Any, make_job: Any, panels_before: int, begins_anew: bool, told: list[str]
) -> None:
    first = make_job(people["user"], "succeeded").runs.get()
    for phase, count in (("init", 1), ("panel", panels_before)):
        PhaseTotal.objects.create(run=first, phase=phase, count=count, seconds=count, least=1.0, most=1.0)
    placement = Placement.objects.get(pk=first.placement_id)
    placement.pk = None
    placement.save()
    second = Run.objects.create(
        job=first.job,
        number=first.number + 1,
        placement=placement,
        key=f"{first.key}-again",
        run_dir=first.run_dir,
        state="succeeded",
        goes_on_from=1,
        begins_anew=begins_anew,
    )
    state = MonitorState(phases=dict(SEEN), actual=90.2, predicted=62.0)
    row = Contract.objects.create(run=second, promised=PROMISED.document(), monitor=state.document())
    assert close(row)
    rows = ModelOutcome.objects.order_by("phase").values_list("phase", "predicted", "actual")
    assert [phase for phase, _, _ in rows] == told
    assert ("panel" not in told) or list(rows)[-1] == ("panel", 1.0, pytest.approx(1.5))


def test_a_model_whose_phase_took_no_time_is_not_corrected_to_nothing(people: Any, make_job: Any) -> None:
    """A log may say 0.0 s of a phase; a factor of 0 would leave a contract that nobody can close."""
    run = make_job(people["user"], "succeeded").runs.get()
    row = Contract.objects.create(run=run, promised=PROMISED.document())
    for phase, actual in (("init", 0.0), ("panel", 2.0)):
        ModelOutcome.objects.create(contract=row, model="qr", phase=phase, predicted=1.0, actual=actual)
    assert promises.corrections(run.job.application_id, 2) == {"qr": {"panel": 2.0}}


def test_a_contract_that_was_promised_nothing_of_a_phase_is_closed(people: Any, make_job: Any) -> None:
    run = make_job(people["user"], "succeeded").runs.get()
    for phase in ("init", "panel"):
        PhaseTotal.objects.create(run=run, phase=phase, count=10, seconds=20.0, least=1.0, most=3.0)
    promised = PROMISED.corrected({"init": 0.0, "panel": 2.0})
    row = Contract.objects.create(run=run, promised=promised.document())
    assert close(row)
    assert ModelOutcome.objects.values_list("phase", "predicted", "actual").get() == ("panel", 1.0, 2.0)
