"""Why an experiment ended."""

from __future__ import annotations

from gridportal.base.reasons import Code
from scheduling.messages.registry import plain, says

plain({Code.EXPERIMENT_CUT_SHORT: "It was ended in the middle of a trial."})


@says(Code.EXPERIMENT_NOT_STARTED)
def _not_started(error: str) -> str:
    return f"It could not be started: {error}"


@says(Code.EXPERIMENT_FAILED)
def _failed(error: str) -> str:
    return error or "Its process ended without a message."
