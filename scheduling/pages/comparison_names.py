"""Which jobs and runs are compared, as an address names them: 12 for the newest run of job 12, 12.2 for its second."""

from __future__ import annotations

import re
from collections.abc import Callable

from gridportal.base.errors import InputError
from scheduling.jobs.models import Job
from scheduling.pages.comparison import ComparedRun
from scheduling.runs import selectors
from scheduling.runs.models import Run

MOST = 6
_RUN = re.compile(r"(?P<job>[0-9]{1,17})(?:\.(?P<number>[0-9]{1,6}))?")


def names(text: str) -> list[str]:
    """The runs that a text names, each once. Raises InputError.

    >>> names("7, 12.2 7")
    ['7', '12.2']
    """
    words = list(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))
    if wrong := next((word for word in words if not _RUN.fullmatch(word)), None):
        raise InputError("runs", wrong, "numbers of jobs, such as 12 or, for its second run, 12.2")
    if not 2 <= len(words) <= MOST:
        raise InputError("runs", f"{len(words)} of them", f"2 to {MOST} runs, such as 12, 15.2")
    return words


def compared_runs(text: str, find_job: Callable[[int], Job], find_run: Callable[[int, int], Run]) -> list[ComparedRun]:
    """What a text names, found by the two functions, which refuse what the caller may not see. Raises InputError."""
    return [_compared(name, find_job, find_run) for name in names(text)]


def _compared(name: str, find_job: Callable[[int], Job], find_run: Callable[[int, int], Run]) -> ComparedRun:
    number, _, run_number = name.partition(".")
    if run_number:
        run = find_run(int(number), int(run_number))
        return ComparedRun.of(run.job, run)
    job = find_job(int(number))
    return ComparedRun.of(job, selectors.last_run(job))
