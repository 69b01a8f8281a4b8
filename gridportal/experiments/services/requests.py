"""What people ask of experiments: start one, cancel it, let it go on."""

from __future__ import annotations

from pathlib import Path

from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.audit import Actor, audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.experiments import record, registry, selectors
from gridportal.experiments.engine import count
from gridportal.experiments.models import FAILED, QUEUED, RUNNING, STOPPED, STOPPING, Experiment
from gridportal.experiments.plan import Plan


def start(actor: Actor, plan: Plan) -> Experiment:
    """Put an experiment into the line. Raises InputError for one that is there already."""
    experiment = registry.named(plan.name)
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
    if Experiment.objects.filter(pk=row.pk, state=QUEUED).update(state=STOPPED, ended_at=timezone.now()):
        audit(actor, "experiment.cancel", row)
    elif Experiment.objects.filter(pk=row.pk, state=RUNNING).update(state=STOPPING):
        record.stop(Path(row.folder))
        audit(actor, "experiment.cancel", row)
    else:
        row.refresh_from_db()
        raise InputError("experiment", str(row), f"one that waits or runs; this one is {row.state}")
    row.refresh_from_db()
    return row


def resume(actor: Actor, row: Experiment) -> Experiment:
    """Let one that was stopped or has failed go on where it was. Raises InputError for others."""
    changed = {"state": QUEUED, "reason": "", "restarts": 0, "ended_at": None}
    if not Experiment.objects.filter(pk=row.pk, state__in=(STOPPED, FAILED)).update(**changed):
        row.refresh_from_db()
        raise InputError("experiment", str(row), f"one that was stopped or has failed; this one is {row.state}")
    audit(actor, "experiment.resume", row)
    row.refresh_from_db()
    return row


def _run_already(plan: Plan) -> InputError:
    return InputError(
        "seed", plan.seed, f"a seed that {plan.name} has not been run with; what was stopped can be resumed"
    )
