"""When Slurm would start a job, asked without submitting it."""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.base.batch_system import RunSpec
from gridportal.base.errors import RefusedError
from gridportal.slurm import submit as sbatch
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.submit import SlurmOptions


@dataclass(frozen=True, slots=True)
class SlurmForecast:
    """Asks as whoever submits through `slurm`; `options` where a question has none of its own."""

    slurm: SlurmCommands
    options: SlurmOptions

    def expected_start(
        self, spec: RunSpec, options: SlurmOptions | None = None, *, timeout: float | None = None
    ) -> float | None:
        """When `spec` would start if it were submitted now, in Unix seconds; None when Slurm does not tell.

        Nothing is submitted. Raises RefusedError where a submission would be refused, BackendError after `timeout`.
        """
        chosen = options or self.options
        command, *words = sbatch.argv(spec, chosen)
        argv = [command, "--test-only", *words]
        done = self.slurm.run(argv, stdin=sbatch.script(spec, chosen), timeout=timeout)
        if done.returncode != 0:
            error = self.slurm.failure(argv, done)
            raise RefusedError(sbatch.blamed(str(error), chosen)) if isinstance(error, RefusedError) else error
        return sbatch.parse_expected_start(done.stderr + done.stdout)
