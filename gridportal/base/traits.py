"""What is true of every cluster of one kind, known from its setting without asking it: a line for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gridportal.base.reasons import Code, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """How clusters of one kind behave, each fact for those who need just that one.

    `label`: what people call the kind. `silent`, `away`, `forgotten`: why a job waits while its cluster does not
    answer, why nothing new is known of one that is there, and what became of one that the cluster does not know.
    """

    label: str
    #: Jobs wait for busy nodes in a queue of the cluster's own; without one they wait in the portal, which then is
    #: the only one to give the nodes away.
    has_queue: bool = False
    #: Jobs may ask for a partition, an account, memory and so on.
    has_options: bool = False
    #: The cluster may not know a run for a while that it has, or has just taken.
    shows_runs_late: bool = False
    #: It knows the end of every run that it saw end; of others the exit record may tell.
    remembers_ends: bool = False
    #: It may start a run's script a second time.
    starts_again: bool = False
    #: An answer takes a tenth of a second and more: many runs are submitted at a time, and one poll asks for all.
    answers_slowly: bool = False
    #: It tells a job when it will be ended, which may be changed while that waits.
    tells_ends: bool = False
    #: It keeps the log of a run within its bound, so that the script need not.
    bounds_logs: bool = False
    #: On its nodes PATH leads to the mpiexec beside the portal's Python.
    has_own_mpiexec: bool = False
    #: All its nodes share the processors of one machine.
    one_machine: bool = False
    #: Its nodes talk over a network of which some paths may be better than others, so it counts which are taken.
    has_network: bool = True
    #: The connections of its nodes can be watched from outside, by `gridportal trace monitor`.
    shows_connections: bool = False
    #: Its nodes are slots of one host: launchers are told this name in place of theirs.
    host: str = ""
    #: It says of nodes whether they are closed, or busy with what others submitted.
    tells_node_states: bool = False
    #: It is one of the portal's own parts, which starts, watches and ends it; messages need not name it.
    part_of_portal: bool = False
    silent: Code = Code.CLUSTER_SILENT
    away: Code = Code.CLUSTER_AWAY
    forgotten: Code = Code.FORGOTTEN_THERE

    @property
    def has_slots(self) -> bool:
        """Whether its nodes are so many slots of one host as its setting says."""
        return bool(self.host)

    def reason(self, code: Code, **facts: Any) -> Reason:
        """One of its codes with those of `facts` that the code has."""
        return Reason.of(code, **{name: facts[name] for name in code.facts})


GRID = Traits(
    label="emulated Grid",
    shows_connections=True,
    remembers_ends=True,
    bounds_logs=True,
    has_own_mpiexec=True,
    one_machine=True,
    part_of_portal=True,
    silent=Code.GRID_SILENT,
    away=Code.GRID_AWAY,
    forgotten=Code.GRID_RESTARTED,
)
SLURM = Traits(
    label="Slurm",
    has_queue=True,
    has_options=True,
    shows_runs_late=True,
    starts_again=True,
    answers_slowly=True,
    tells_ends=True,
    tells_node_states=True,
)
LOCAL = Traits(label="this machine", has_own_mpiexec=True, one_machine=True, has_network=False, host="localhost")
#: By the word for `backend` in GRIDPORTAL_CLUSTERS.
TRAITS = {"grid": GRID, "slurm": SLURM, "local": LOCAL}
