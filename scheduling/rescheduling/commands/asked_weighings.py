"""`gridportal moves propose`: it is weighed here unless a worker is at it, and who asked is told how far it is."""

from __future__ import annotations

import sys
import time

from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, ImpossibleError
from gridportal.base.printed_text import echo
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.core.weighing_stage import WeighingStage
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.rescheduling.services import weighing_requests

_PAUSE = 0.5


def weighed(actor: User, job: Job) -> MoveDecision:
    """The decision, once there is one. Raises InputError, ConflictError and ImpossibleError where there is none."""
    asked = weighing_requests.ask(actor, job)
    shown = ""
    while not weighing_requests.answer(asked.pk, _watch):
        asked.refresh_from_db()
        if not asked.is_open:
            break
        shown = _show(decision_messages.progress_of(asked), shown)
        time.sleep(_PAUSE)
    asked.refresh_from_db()
    if asked.problem or asked.decision is None:
        raise _refusal(asked)
    return asked.decision


def _refusal(asked: WeighingRequest) -> Exception:
    if asked.decision is not None:
        return ConflictError(f"{message(asked.problem)} See decision {asked.decision.pk}.")
    return ImpossibleError(message(asked.problem))


def _watch(stage: WeighingStage, done: int, total: int) -> None:
    _show(f"{decision_messages.WEIGHING[stage]}, {done + 1} of {total}.", "")


def _show(line: str, before: str) -> str:
    """On a terminal; each line once."""
    if line != before and sys.stderr.isatty():
        echo(line, err=True)
    return line
