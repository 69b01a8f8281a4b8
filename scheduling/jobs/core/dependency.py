"""What a job that is to start after another one has to expect of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from gridportal.base.errors import InputError
from scheduling.jobs.core.states import FINAL, JobState

#: So many jobs one job may wait for.
MOST = 20
_ACCEPTED = f"numbers of jobs, at most {MOST}, such as 12, 15"
_LONGEST = 18


class Prospect(StrEnum):
    """Whether a job may start as far as another one is concerned."""

    MET = "met"
    OPEN = "open"
    NEVER = "never"


def prospect(state: str, *, only_ok: bool) -> Prospect:
    """What the state of the other job says.

    >>> prospect("failed", only_ok=True), prospect("failed", only_ok=False), prospect("running", only_ok=True)
    (<Prospect.NEVER: 'never'>, <Prospect.MET: 'met'>, <Prospect.OPEN: 'open'>)
    """
    if JobState(state) not in FINAL:
        return Prospect.OPEN
    return Prospect.NEVER if only_ok and state != JobState.SUCCEEDED else Prospect.MET


def read_numbers(field: str, text: str) -> tuple[int, ...]:
    """The numbers of jobs in what a person wrote. Raises InputError.

    >>> read_numbers("after", "12, #15 12")
    (12, 15)
    """
    parts = [part.removeprefix("#") for part in text.replace(",", " ").split()]
    wrong = next((part for part in parts if not _is_number(part)), None)
    if wrong is not None:
        raise InputError(field, wrong, _ACCEPTED)
    return check_count(field, [int(part) for part in parts])


def check_count(field: str, numbers: Sequence[int]) -> tuple[int, ...]:
    """Each once. Raises InputError for too many, and for what is no number of a job."""
    wrong = next((number for number in numbers if not 0 < number < 10**_LONGEST), None)
    if wrong is not None:
        raise InputError(field, wrong, _ACCEPTED)
    different = tuple(dict.fromkeys(numbers))
    if len(different) > MOST:
        raise InputError(field, f"{len(different)} jobs", _ACCEPTED)
    return different


def _is_number(part: str) -> bool:
    return part.isascii() and part.isdigit() and len(part) < _LONGEST
