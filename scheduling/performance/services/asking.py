"""Asking every model that may know a run, whatever some of them do."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from gridportal.base.errors import GridPortalError
from scheduling.jobs.models import Job
from scheduling.performance import selectors
from scheduling.performance.adapters import plugin_models
from scheduling.performance.adapters.plugin_models import ModelError
from scheduling.performance.core import fitted, program_models
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.performance.services.benchmarks import rates_on

log = logging.getLogger(__name__)
#: Seconds in which a plug-in must have answered, where nobody waits for it.
PATIENCE = plugin_models.PATIENCE
#: A plug-in that did not answer in time is not asked again for so many seconds: runs of others wait behind it.
_REST = 600.0
#: By plug-in: until when it rests, on the monotonic clock, and the seconds in which it did not answer.
_resting: dict[str, tuple[float, float]] = {}


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """A model that failed, and what it said; is_plugin: it is not one of the portal's own."""

    model: str
    message: str
    is_plugin: bool = False

    def document(self) -> dict[str, str]:
        """As JSON."""
        return {"model": self.model, "message": self.message}


@dataclass(frozen=True, slots=True)
class Answers:
    """What the models said; none of them stops another."""

    predictions: tuple[Prediction, ...] = ()
    problems: tuple[ModelProblem, ...] = ()


def ask_all(question: RunQuestion, job: Job, min_cpu: float | None, patience: float = PATIENCE) -> Answers:
    """Every model's prediction: those that come with the portal, plug-ins, and the one fitted from past runs.

    `patience`: seconds in which each plug-in must have answered."""
    predictions, problems = list[Prediction](), list[ModelProblem]()
    if question.application in program_models.NAMES:
        _ask_own(question, job.cluster, predictions, problems)
    for name in plugin_models.asked_about(question.application):
        _ask_plugin(name, question, patience, predictions, problems)
    past = fitted.predict(selectors.past_runs(job), selectors.shape_of(job, min_cpu))
    return Answers((*predictions, *([past] if past else [])), tuple(problems))


def _ask_own(question: RunQuestion, cluster: str, predictions: list[Prediction], problems: list[ModelProblem]) -> None:
    """The model that comes with the portal for this program."""
    try:
        model = program_models.model_of(question.application, rates_on(cluster))
        phases = model.predict(question.parameters, question.nodes, question.network)
        predictions.append(Prediction(model.name, tuple(phases)))
    except (GridPortalError, OSError) as error:
        problems.append(ModelProblem(program_models.NAMES[question.application], str(error)))


def _ask_plugin(
    name: str, question: RunQuestion, patience: float, predictions: list[Prediction], problems: list[ModelProblem]
) -> None:
    """One that did not answer in less time than this is asked, for it may need a little more."""
    began = time.monotonic()
    until, had = _resting.get(name, (0.0, 0.0))
    if began < until and patience <= had:
        return
    try:
        phases = plugin_models.predict(name, question, patience)
        predictions.extend([Prediction(name, phases)] if phases else [])
    except ModelError as error:
        log.warning("the performance model %s failed for %s: %s", name, question.application, error)
        is_theirs = not plugin_models.is_shipped(name)
        problems.append(ModelProblem(name, str(error), is_plugin=is_theirs))
    if time.monotonic() - began >= patience:
        _resting[name] = time.monotonic() + _REST, patience
