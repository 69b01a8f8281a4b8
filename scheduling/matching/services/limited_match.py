"""A match in a process of its own, with limits of time and memory: texts of strangers cannot stop or fill the portal.

HTCondor's library may take hundreds of megabytes for one expression, and what is never too long for us may be for it.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import replace

import msgspec

from gridportal.base.errors import Described, GridPortalError, InputError, ShellError, TextError
from gridportal.base.processes import TooSlowError, run
from scheduling.matching.core.answers import MatchAnswer, TextFault
from scheduling.matching.services.match_texts import MatchQuestion

#: Bytes of address space.
MEMORY = 8 << 30
#: Seconds for all matches of one preview together.
LONGEST_MATCHES = 20.0
#: Seconds beside the search and the explanation: to start, to read so many letters in each, and at most.
_START, _LETTERS, _MOST = 15.0, 100_000, 60.0
_OUT_OF_MEMORY = "MemoryError"


class MatchTextError(TextError):
    """A text that cannot be read, or that means nothing: found in the process of the match."""

    def __init__(self, fault: TextFault) -> None:
        super().__init__(fault.field, Described(fault.value), fault.accepted, fault.message)
        self.pointer = fault.pointer
        self.line, self.column = fault.line, fault.column


def limited_match(question: MatchQuestion, until: float = math.inf) -> MatchAnswer:
    """As `match_texts.answer`. `until`: on the monotonic clock, when whoever asks has waited long enough. Raises
    MatchTextError, and GridPortalError where time or memory did not do."""
    limit = min(2 * question.seconds + _beside(question), until - time.monotonic())
    if limit <= 0:
        raise GridPortalError("The matches before this one took all the time that there was.")
    if question.asked_at is None:
        question = replace(question, asked_at=time.monotonic())
    argv = [sys.executable, "-m", "scheduling.matching.services.match_process", str(MEMORY)]
    env = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = run(argv, timeout=limit, stdin=msgspec.json.encode(question).decode(), check=False, env=env)
    except TooSlowError as error:
        raise GridPortalError(f"The match took longer than {limit:.3g} s and was ended.") from error
    if done.returncode == 0:
        return msgspec.json.decode(done.stdout, type=MatchAnswer)
    if done.returncode == InputError.exit_code:
        raise MatchTextError(msgspec.json.decode(done.stdout, type=TextFault))
    if _OUT_OF_MEMORY in done.stderr or done.returncode < 0:
        raise GridPortalError(f"The match needed more than {MEMORY >> 30} GB of memory, or its process was ended.")
    if done.returncode == GridPortalError.exit_code and "Traceback" not in done.stderr:
        raise GridPortalError(done.stderr.strip())
    raise ShellError(f"The match failed: {done.stderr.strip()[-2000:]}")


def _beside(question: MatchQuestion) -> float:
    """By how much there is to read: a page waits for this, and an expression that grows is not to hold it for long."""
    return min(_MOST, _START + (len(question.request) + len(question.resources)) / _LETTERS)
