"""What the check of a program is worth once its run is over."""

from __future__ import annotations

from scheduling.runs.core.run_states import RunState

#: A run or a job that ended so has no result that anybody can rely on.
_FAILED = (RunState.FAILED, RunState.CANCELLED)


def is_verified(passed: bool | None, state: str) -> bool | None:
    """Whether the result of a run, or of a job, can be relied on. `passed`: what the program's own check said, None for
    nothing; `state`: of the run or the job. None: there is no check, or what it says may not be the end.

    >>> is_verified(True, "succeeded"), is_verified(True, "failed"), is_verified(False, "failed")
    (True, False, False)
    >>> is_verified(True, "running"), is_verified(None, "failed")
    (None, None)
    """
    if not passed:
        return passed
    if state in _FAILED:
        return False
    return True if state == RunState.SUCCEEDED else None
