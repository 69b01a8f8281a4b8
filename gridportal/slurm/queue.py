"""Slurm's queue: what can be done with a job that waits there, or is to wait there again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.slurm import translation
from gridportal.slurm.control import Control
from gridportal.slurm.inventory import Inventory
from gridportal.slurm.lookup import Lookup


@dataclass(frozen=True, slots=True)
class SlurmQueue:
    """`number`: the job number of a run's id or key. Verbs raise BackendError; RefusedError when Slurm said no."""

    control: Control
    jobs: Lookup
    inventory: Inventory
    number: Callable[[str], str]

    def hold(self, run_id: str) -> None:
        """Keep a waiting run from starting."""
        self.control.hold(self.number(run_id))

    def release(self, run_id: str) -> None:
        """Let a held run start."""
        self.control.release(self.number(run_id))

    def requeue(self, run_id: str) -> None:
        """Put a run that was submitted with `requeue` back into the queue under its own id."""
        self.control.requeue(self.number(run_id))

    def expedite(self, run_id: str) -> None:
        """Let a requeued run start as soon as its nodes are free; Slurm itself would wait two minutes."""
        self.control.expedite(self.number(run_id))

    def cancel_pending(self, run_id: str) -> None:
        """Take a run that waits out of the queue; nothing happens to one that has started."""
        self.control.cancel_pending(self.number(run_id))

    def why_requeued(self, run_id: str, nodes: Sequence[str], log: Sequence[str]) -> Reason:
        """Why the last attempt of a requeued run ended; none where nobody knows.

        Slurm's step daemon writes the reason into the `log`; one that died with its node cannot. Then from the
        accounts, which keep every attempt; without them from its `nodes`, if one of them is down.
        """
        if why := translation.why_requeued(log):
            return why
        if self.jobs.cluster().accounting:
            ended = [job for job in self.jobs.attempts(self.number(run_id)) if job.ended_at is not None]
            return (
                translation.run_state(max(ended, key=lambda job: job.ended_at or 0.0).states)[1] if ended else NOTHING
            )
        broken = [node for node in self.inventory.nodes() if node.name in nodes and not node.usable]
        return Reason.of(Code.NODE_FAILED) if broken else NOTHING
