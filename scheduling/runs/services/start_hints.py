"""What speaks against how the program of a run is started, by its file."""

from __future__ import annotations

from gridportal.base.reasons import Reason
from monitoring.clusters import selectors
from scheduling.runs.models import Run
from scheduling.runs.services.program_warnings import start_warnings
from scheduling.runs.services.scripts import launcher_of


def start_hints(run: Run) -> list[Reason]:
    """The warnings of its application as the run had it; none of one that was changed since."""
    application, cluster = run.job.application, selectors.configured().get(run.job.cluster)
    if cluster is None or application.updated_at > run.created_at:
        return []
    return start_warnings(application, launcher_of(application, cluster))
