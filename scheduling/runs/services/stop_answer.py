"""Whether a program that is over has stopped in a state from which the next run goes on: its own word, and its files.

The exit code alone says nothing: 0 means success otherwise. What the program said counts once its checkpoint can be
read; the job's user owns both, so a false word harms that user's job alone.
"""

from __future__ import annotations

from gridportal.base.errors import ImpossibleError
from gridportal.base.reasons import Code, Reason, text_reason
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services import checkpoint_facts, own_restarts


def stopped_reason(run: Run, exit_code: int | None) -> tuple[RunState, Reason] | None:
    """How the run ends with its reason: checkpointed, or failed where no checkpoint of it can be read; None for a
    program that did not stop so."""
    if run.job.application.stop_means.own:
        return _of_own_restart(run, exit_code)
    if not run.job.application.stop_means or run.stopped is None:
        return None
    whole = [each for each in checkpoint_facts.checkpoints(run.job) if each.is_whole]
    if not whole:
        return RunState.FAILED, Reason.of(Code.NO_CHECKPOINT, checkpoint=run.stopped["checkpoint"])
    code = Code.STOPPED_AS_ASKED if run.state == RunState.HALTING else Code.STOPPED_BY_ITSELF
    return RunState.CHECKPOINTED, Reason.of(code, checkpoint=whole[0].number)


def _of_own_restart(run: Run, exit_code: int | None) -> tuple[RunState, Reason] | None:
    """One that has a line of success is judged by that where it left no file: it may have come to its end just then."""
    if not own_restarts.ended_as_asked(run, exit_code):
        return None
    try:
        found = own_restarts.left(run)
    except ImpossibleError as error:
        return RunState.FAILED, text_reason(str(error))
    if found is None:
        patterns, own = run.job.application.output_patterns, run.job.application.stop_means.own
        named = own.pattern if own else ""
        return None if patterns.success else (RunState.FAILED, Reason.of(Code.LEFT_NOTHING, pattern=named))
    code = Code.LEFT_AS_ASKED if run.state == RunState.HALTING else Code.LEFT_BY_ITSELF
    return RunState.CHECKPOINTED, Reason.of(code, file=found.name)
