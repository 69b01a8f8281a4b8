"""The environment of what runs on this machine: plain `mpiexec` starts every rank here, whatever nodes are called."""

from __future__ import annotations

from gridportal.base import run_files
from gridportal.testbed import environment
from gridportal.testbed.process_owners import RUN_MARK

#: Ranks may be more than processors, so that one that waits must let others work. Open MPI yields. MPICH else asks for
#: messages without a pause; from 4.2 on it sleeps for a moment, some 60 microseconds, after so many questions in vain,
#: and where it yields: to yield alone costs as much of a processor as not to yield, while others only wait, too.
PATIENCE = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "200",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
}
#: MPICH forks its ranks, Open MPI 4 and 5 take more ranks than processors; both talk over this machine alone.
_MPI = {
    "HYDRA_LAUNCHER": "fork",
    "HYDRA_IFACE": "lo",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    **PATIENCE,
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    **{f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")},
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def of_watcher() -> dict[str, str]:
    """What the portal's own environment may hand on: no secret of its settings."""
    return environment.inherited() | {"PATH": environment.search_path()}


def of_run(mark: str, run_dir: str) -> dict[str, str]:
    """Variables for a run; all its processes have its `mark`."""
    environment = {RUN_MARK: mark, run_files.RUN_DIR_VARIABLE: run_dir, "PYTHONUNBUFFERED": "1"}
    return of_watcher() | _MPI | environment
