"""What is done to jobs: signal, cancel, hold, release, requeue. An ended job is left in peace."""

from __future__ import annotations

import signal as signals
from collections.abc import Sequence
from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.slurm.commands import SlurmCommands

#: How scancel and scontrol say that there is nothing left to act on.
_OVER = ("invalid job id", "already completed", "job/step already completing", "already completing")


@dataclass(frozen=True, slots=True)
class Control:
    """The verbs that change a job; each is one command."""

    slurm: SlurmCommands

    def signal(self, job_id: str, signum: int) -> None:
        """To the batch script alone, not to its children. Raises InputError for a number that is no signal."""
        try:
            number = signals.Signals(signum).value
        except ValueError as error:
            raise InputError("signal", signum, "the number of a signal") from error
        self._do(["scancel", "--batch", f"--signal={number}", job_id])

    def kill(self, job_id: str) -> None:
        """KILL at once, to the batch script and all steps."""
        self._do(["scancel", "--full", f"--signal={signals.SIGKILL.value}", job_id])

    def cancel(self, job_id: str) -> None:
        """scancel: Slurm sends TERM, and KILL after KillWait."""
        self._do(["scancel", job_id])

    def cancel_pending(self, job_id: str) -> None:
        """Cancel it only if it still waits: one that has started meanwhile goes on."""
        self._do(["scancel", "--state=PENDING", job_id])

    def hold(self, job_id: str) -> None:
        """As its owner would hold it, so that its owner may release it."""
        self._do(["scontrol", "uhold", job_id], over=())

    def release(self, job_id: str) -> None:
        """Release what is held."""
        self._do(["scontrol", "release", job_id], over=())

    def requeue(self, job_id: str) -> None:
        """Back into the queue under its own id."""
        self._do(["scontrol", "requeue", job_id], over=())

    def expedite(self, job_id: str) -> None:
        """No earliest start any more: after a requeue Slurm sets one two minutes away."""
        self._do(["scontrol", "update", f"JobId={job_id}", "StartTime=now"], over=())

    def _do(self, argv: Sequence[str], over: Sequence[str] = _OVER) -> None:
        done = self.slurm.run(argv)
        if done.returncode == 0:
            return
        output = (done.stderr + done.stdout).lower()
        if not any(sign in output for sign in over):
            raise self.slurm.failure(argv, done)
