"""All that is predicted for a run on nodes: by the models of programs, from past runs, and by skeletons."""

from __future__ import annotations

from gridportal.base.errors import GridPortalError
from scheduling.jobs.models import Job
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.performance.services.asking import PATIENCE, Answers, ModelProblem, ask_all
from scheduling.skeletons.core import skeleton_model
from scheduling.skeletons.services import skeleton_predictions


def predict_all(question: RunQuestion, job: Job, min_cpu: float | None, patience: float = PATIENCE) -> Answers:
    """Every prediction; a model that fails is named and stops no other. `min_cpu`: the least free processor there;
    `patience`: seconds that each plug-in has."""
    answers, skeleton = ask_all(question, job, min_cpu, patience), _of_skeleton(question, job)
    return Answers(
        (*answers.predictions, *skeleton.predictions),
        (*answers.problems, *skeleton.problems),
    )


def _of_skeleton(question: RunQuestion, job: Job) -> Answers:
    model = skeleton_predictions.model_for(job, len(question.nodes))
    if model is None:
        return Answers()
    try:
        phases = model.predict(question.parameters, question.nodes, question.network)
    except GridPortalError as error:
        return Answers(problems=(ModelProblem(skeleton_model.NAME, str(error)),))
    return Answers((Prediction(model.name, tuple(phases)),))
