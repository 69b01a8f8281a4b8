"""The one boundary around what is done for a single run: whatever it meets there costs no other run anything."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from django.db import DatabaseError
from django.utils import timezone

from gridportal.base.errors import GridPortalError
from gridportal.base.run_directory import Fault, RunFileError
from scheduling.runs.models import Run

log = logging.getLogger(__name__)
T = TypeVar("T")
#: For how long what seems to pass by itself may keep a run that is over from ending.
PATIENCE = timedelta(minutes=2)
_MOST = 200


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What the work gave, or why it could not be done."""

    value: T | None
    failure: RunFileError | None


def isolated(subject: str, work: Callable[[], T]) -> Outcome[T]:
    """Do `work` for `subject`. Never raises an Exception: what went wrong is the outcome's failure, and is logged."""
    try:
        return Outcome(work(), None)
    except RunFileError as error:
        log.warning("%s: %s", subject, error)
        return Outcome(None, error)
    except (DatabaseError, OSError, MemoryError) as error:
        log.exception("%s could not be followed this time", subject)
        return Outcome(None, RunFileError(subject, Fault.MACHINE, _cause(error)))
    except GridPortalError as error:
        log.warning("%s: %s", subject, error)
        return Outcome(None, RunFileError(subject, Fault.REFUSED, str(error)[:_MOST]))
    except Exception as error:  # the boundary: one run's mishap, of whatever kind, must not stop the others
        log.exception("%s could not be followed", subject)
        return Outcome(None, RunFileError(subject, Fault.UNEXPECTED, _cause(error)))


def note(run: Run, failure: RunFileError | None) -> None:
    """Keep why a run cannot be followed and since when, or that it can again; written only when that is new."""
    before = run.failure
    if failure is None and (before is None or before.fault.stays):
        return
    if failure is not None and failure.as_document() == run.unread:
        return
    run.unread = failure.as_document() if failure else None
    run.unread_since = (run.unread_since or timezone.now()) if failure else None
    Run.objects.filter(pk=run.pk).update(unread=run.unread, unread_since=run.unread_since)


def ends_run(run: Run, failure: RunFileError) -> bool:
    """Whether a run that is over ends by this failure now, instead of being looked at again."""
    return failure.fault.lasts or (run.unread_since is not None and timezone.now() - run.unread_since > PATIENCE)


def _cause(error: BaseException) -> str:
    message = " ".join("".join(c if c.isprintable() else " " for c in str(error)[:_MOST]).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
