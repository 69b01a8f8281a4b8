"""How a profile of an application can be had from outside: the command that watches its nodes' connections."""

from __future__ import annotations

import shlex

from gridportal.base.errors import GridPortalError
from scheduling.jobs.core import parameters, ranks
from scheduling.jobs.core.launcher import is_open_mpi
from scheduling.jobs.models import Application

_OPEN_MPI = "mpirun.openmpi"
_SHOWN = {"python": "python", "run_dir": "."}


def command(application: Application) -> str:
    """`gridportal trace monitor` for it with the defaults of its parameters; a parameter without one stays {name}."""
    declared = parameters.parse(application.parameters)
    values = {one.name: f"{{{one.name}}}" if one.default is None else one.default for one in declared}
    count = ranks.nearest(application.rank_limits, 4)
    try:
        argv = parameters.render(
            application.command, {**values, **_SHOWN, "ranks": count, "shares": ",".join(["1"] * count)}
        )
    except GridPortalError:
        argv = list(application.command)
    nodes = ",".join(f"n{number}" for number in range(1, count + 1))
    typed = [word for name, value in values.items() if value != "" for word in ("--param", f"{name}={value}")]
    launcher = ["--launcher", starter] if (starter := _starter(application)) else []
    monitor = ["gridportal", "trace", "monitor", "--nodes", nodes, *launcher, "--keep", application.slug, *typed, "--"]
    return shlex.join([*monitor, *argv])


def _starter(application: Application) -> str:
    """What starts its ranks, where MPICH's mpiexec does not. On the Grid the first mpirun is MPICH's too."""
    if application.launcher:
        return str(application.launcher[0])
    return _OPEN_MPI if is_open_mpi(application.mpi) else ""
