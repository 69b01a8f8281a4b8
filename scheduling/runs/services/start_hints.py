"""What speaks against how the program of a run is started, by its file and by what its launcher wrote."""

from __future__ import annotations

from gridportal.base.reasons import Code, Reason
from monitoring.clusters import selectors
from scheduling.runs.models import Run
from scheduling.runs.services.output_check import log_end
from scheduling.runs.services.program_warnings import start_warnings
from scheduling.runs.services.scripts import launcher_of

#: What Open MPI's mpirun writes where a rank calls it.
_CALLED_AGAIN = "mpirun does not support recursive calls"


def start_hints(run: Run) -> list[Reason]:
    """The warnings of its application as the run had it; none of one that was changed since."""
    application, cluster = run.job.application, selectors.configured().get(run.job.cluster)
    if cluster is None or application.updated_at > run.created_at:
        return []
    return start_warnings(application, launcher_of(application, cluster))


def called_inside(run: Run) -> str:
    """What its program starts ranks with by itself, although a launcher starts the program; empty for none."""
    if any(_CALLED_AGAIN in line for line in log_end(run)):
        return "mpirun"
    hints = (reason for reason in start_hints(run) if reason.code is Code.STARTS_RANKS_ITSELF)
    return next((str(reason.facts["launcher"]) for reason in hints), "")
