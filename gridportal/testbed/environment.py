"""The environment of what runs on the Grid: plain `mpiexec` must reach the right nodes, over the shaped links only."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gridportal.testbed.process_owners import GRID_MARK, NODE_MARK, RUN_MARK
from gridportal.testbed.state import State

# Only these come from the daemon's own environment, which may hold the portal's secrets.
_KEPT = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LOGNAME", "PYTHONPATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV")

#: How the ranks of Open MPI 4 and 5 are bound to processors.
_BINDING = ("OMPI_MCA_hwloc_base_binding_policy", "PRTE_MCA_hwloc_default_binding_policy")


def of_run(state: State, mark: str, node: str, *, shaped: bool) -> dict[str, str]:
    """Variables for a process of the run `mark` on `node`."""
    return inherited() | {
        "PATH": search_path(),
        GRID_MARK: str(state.root),
        NODE_MARK: node,
        RUN_MARK: mark,
        "GRIDPORTAL_SCRATCH": str(state.scratch),
        "PYTHONUNBUFFERED": "1",
        **mpi(state.launcher, shaped=shaped),
        **(waiting(state.waiting) if shaped and state.waiting.exists() else {}),
    }


def inherited() -> dict[str, str]:
    """What a job may have of this process's own environment."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def mpi(launcher: Path, *, shaped: bool) -> dict[str, str]:
    """What MPICH and Open MPI must be told: our way to a node in place of ssh, no path around the shaped links."""
    interface = "eth0" if shaped else "lo"
    variables = {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(launcher),
        "HYDRA_IFACE": interface,
        **open_mpi(launcher, interface),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if shaped:
        variables |= mpich()
    return variables


def waiting(library: Path) -> dict[str, str]:
    """What lets ranks sleep while they wait for messages (`waiting_ranks`)."""
    return {"LD_PRELOAD": str(library)}


def mpich() -> dict[str, str]:
    """MPICH on the shaped links only, by libfabric.

    Ranks of one node use MPICH's own shared memory; which these are it hears from mpiexec. UCX, left to itself, finds
    shared memory between the namespaces, too, and the shaping is silently bypassed. Of MPICH's two ways to a network
    it is the default, but there MPICH 4.3 to 5.0 never ends a receive from MPI_ANY_SOURCE whose message came first: the
    half of the request that waits for shared memory is not completed. UCX keeps its words for an MPICH that has nothing
    else.
    """
    fabric = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"}
    return fabric | {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}


def open_mpi(launcher: Path, interface: str) -> dict[str, str]:
    """The same for Open MPI 4, and for the PRRTE that starts the ranks of Open MPI 5."""
    return {
        "OMPI_MCA_plm_rsh_agent": str(launcher),
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",  # each node is entered from the first: nodes know no way to each other
        "OMPI_MCA_oob_tcp_if_include": interface,
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self,vader",  # the last is shared memory, which Open MPI 5 knows by this name, too
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # a kernel may forbid a process another's memory
        "OMPI_MCA_btl_tcp_if_include": interface,
        **one_sided(),
        **dict.fromkeys(_BINDING, "none"),  # nodes share processors: each would bind its first rank to the same one
        "OMPI_MCA_mpi_yield_when_idle": "1",  # nodes share processors: who waits must let others work
        "PRTE_MCA_plm_ssh_agent": str(launcher),
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "PRTE_MCA_prte_if_include": interface,
        # Inside a namespace of the user's own everyone is root.
        **{f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")},
    }


def one_sided() -> dict[str, str]:
    """Windows between nodes for Open MPI 4, which needs pt2pt or UCX for them, since its TCP cannot read or add at the
    other side; Debian's configuration has both switched off. UCX, the only one for MPI_THREAD_MULTIPLE, goes before
    pt2pt (10) and after rdma (101, and 20 in Open MPI 5), which serves ranks of one node, and knows TCP in Open MPI 5.
    """
    return {
        "OMPI_MCA_osc": "^portals4",  # all but one that has no network here: a list would have to name what there is
        "OMPI_MCA_osc_ucx_priority": "15",
        **{f"OMPI_MCA_opal_common_ucx_{name}": "any" for name in ("tls", "devices")},
    }


def of_jobs(state: State) -> tuple[dict[str, str], dict[str, str]]:
    """What every job of the Grid's Slurm is told, and beside it root's: the launcher, and a library, which lie in a
    folder of root's own."""
    variables = {GRID_MARK: str(state.root), "GRIDPORTAL_SCRATCH": str(state.scratch), "PYTHONUNBUFFERED": "1"}
    variables |= mpi(state.launcher, shaped=True)
    own = {name: variables.pop(name) for name in ("HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC")}
    return variables, own | (waiting(state.waiting) if state.waiting.exists() else {})


def hosts(nodes: Sequence[str]) -> str:
    """The host file that makes `mpiexec -n M` take `nodes` in rank order."""
    return "".join(f"{name}:1\n" for name in nodes)


def search_path() -> str:
    """PATH with this interpreter's own programs (mpiexec, python) first."""
    usual = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    return f"{Path(sys.executable).parent}:{usual}"
