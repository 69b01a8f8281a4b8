"""What people ask of experiments: start one, cancel it, let it go on."""

from __future__ import annotations

from pathlib import Path

from django.db import IntegrityError, transaction

from gridportal.accounts.audit import Actor, audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.experiments import record, registry, selectors
from gridportal.experiments.engine import count
from gridportal.experiments.models import Experiment
from gridportal.experiments.plan import Plan
from gridportal.experiments.states import RESUMABLE, ExperimentState
from scheduling.jobs.services.advance import advance


def start(actor: Actor, plan: Plan) -> Experiment:
    """Put an experiment into the line. Raises InputError for one that is there already, or has no such option."""
    experiment = registry.named(plan.name)
    experiment.check(plan)
    folder = plan.folder_in(selectors.base())
    if Experiment.objects.filter(folder=str(folder)).exists() or (folder / "plan.json").exists():
        raise _run_already(plan)
    try:
        with transaction.atomic():
            row = Experiment.objects.create(
                **plan.document(),
                folder=str(folder),
                started_by=actor if isinstance(actor, User) else None,
                of=count(experiment, plan, folder),
            )
    except IntegrityError as error:  # somebody else has started it this moment
        raise _run_already(plan) from error
    audit(actor, "experiment.start", row)
    return row


def cancel(actor: Actor, row: Experiment) -> Experiment:
    """End it after the trial it is at. Raises InputError when it is over."""
    if advance(row, ExperimentState.STOPPING, expected={ExperimentState.RUNNING}):
        record.stop(Path(row.folder))
    elif not advance(row, ExperimentState.STOPPED, expected={ExperimentState.QUEUED}):
        row.refresh_from_db()
        raise InputError("experiment", str(row), f"one that waits or runs; this one is {row.state}")
    audit(actor, "experiment.cancel", row)
    row.refresh_from_db()
    return row


def resume(actor: Actor, row: Experiment) -> Experiment:
    """Let one that was stopped or has failed go on where it was. Raises InputError for others."""
    if not advance(row, ExperimentState.QUEUED, expected=RESUMABLE, restarts=0):
        row.refresh_from_db()
        raise InputError("experiment", str(row), f"one that was stopped or has failed; this one is {row.state}")
    audit(actor, "experiment.resume", row)
    row.refresh_from_db()
    return row


def _run_already(plan: Plan) -> InputError:
    return InputError(
        "seed", plan.seed, f"a seed that {plan.name} has not been run with; what was stopped can be resumed"
    )
