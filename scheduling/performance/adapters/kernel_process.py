"""The kernel benchmarks in a process of their own: what they import takes long, and they compute with one thread."""

from __future__ import annotations

import sys

from gridportal.base import bounded_json, processes
from gridportal.base.errors import GridPortalError, InputError, ShellError
from scheduling.performance.core.kernel_rates import KernelRates

#: Seconds that the benchmarks may take; on an idle processor they need one.
PATIENCE = 60.0
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class BenchmarkError(GridPortalError):
    """The kernels could not be measured."""


def measured_apart() -> KernelRates:
    """The rates, measured in a process of its own with one thread. Raises BenchmarkError."""
    argv = [sys.executable, "-m", "scheduling.performance.adapters.kernel_benchmark"]
    try:
        ended = processes.run(argv, timeout=PATIENCE, env=_ONE_THREAD)
        return KernelRates.read(bounded_json.loads(ended.stdout))
    except (ShellError, InputError, bounded_json.UnreadableError) as error:
        raise BenchmarkError(f"The kernels of dense programs could not be measured: {error}") from error
