"""How a profile of an application can be had from outside: the command that watches its nodes' connections."""

from __future__ import annotations

import shlex

from django.conf import settings

from gridportal.base import rank_places
from gridportal.base.errors import GridPortalError
from monitoring.clusters import selectors as clusters
from scheduling.jobs.core import parameters, ranks
from scheduling.jobs.core.launcher import is_open_mpi
from scheduling.jobs.models import Application
from scheduling.runs.models import Run

#: Ranks that are shown where no run says how many.
_USUAL = 4
_OPEN_MPI = "mpirun.openmpi"
_SHOWN = {"python": "python", "run_dir": "."}


def grids() -> list[str]:
    """The emulated Grids, whose nodes can be watched."""
    return [name for name, cluster in settings.CLUSTERS.items() if cluster.traits.shows_connections]


def shares_nodes(run: Run) -> bool:
    """Whether some of its ranks are on one node: what these send to each other nobody sees."""
    return len(rank_places.distinct(run.placement.nodes)) < len(run.placement.nodes)


def can_be_watched(application: Application, run: Run) -> bool:
    """Whether one rank on each of its nodes would tell who talks to whom."""
    count = len(rank_places.distinct(run.placement.nodes))
    return not shares_nodes(run) or (count > 1 and ranks.nearest(application.rank_limits, count) == count)


def command(application: Application, run: Run | None = None) -> str:
    """`gridportal trace monitor` for it, on the nodes and with the parameters of `run`, one rank on each node.

    Without one: on nodes of the first Grid, and with the defaults; a parameter without one stays {name}. Empty for
    a run whose nodes would tell nothing.
    """
    if run is not None and not can_be_watched(application, run):
        return ""
    declared = parameters.parse(application.parameters)
    values = {one.name: f"{{{one.name}}}" if one.default is None else one.default for one in declared}
    if run is not None:
        values |= {name: value for name, value in run.job.parameters.items() if name in values}
    usual = ranks.nearest(application.rank_limits, _USUAL)
    nodes = list(rank_places.distinct(run.placement.nodes)) if run else _free_choice(usual)
    count = len(nodes)
    try:
        argv = parameters.render(
            application.command, {**values, **_SHOWN, "ranks": count, "shares": ",".join(["1"] * count)}
        )
    except GridPortalError:
        argv = list(application.command)
    typed = [word for name, value in values.items() if value != "" for word in ("--param", f"{name}={value}")]
    launcher = ["--launcher", starter] if (starter := _starter(application)) else []
    monitor = [
        "gridportal",
        "trace",
        "monitor",
        "--nodes",
        ",".join(nodes),
        *launcher,
        "--keep",
        application.slug,
        *typed,
        "--",
    ]
    return shlex.join([*monitor, *argv])


def _free_choice(count: int) -> list[str]:
    """The first nodes of the first Grid; a place for each name where there are not so many."""
    states = [state for name in grids()[:1] for state in clusters.compute_states(name)]
    return [state.name for state in states[:count]] if len(states) >= count else ["NODE"] * count


def _starter(application: Application) -> str:
    """What starts its ranks, where MPICH's mpiexec does not. On the Grid the first mpirun is MPICH's too."""
    if application.launcher:
        return str(application.launcher[0])
    return _OPEN_MPI if is_open_mpi(application.mpi) else ""
