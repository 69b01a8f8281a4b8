"""A short job that tries a program which somebody has brought."""

from __future__ import annotations

import uuid

from gridportal.accounts.models import User
from monitoring.clusters import selectors
from scheduling.jobs.core import ranks
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services import program_clusters
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services import submission

#: Two ranks are the fewest that have to find each other.
_RANKS, _SECONDS = 2, 120


def submit_test(person: User, application: Application) -> Job:
    """Submit it, on the first cluster that takes programs of users. Raises GridPortalError where it is refused."""
    open_ones = [name for name, why in program_clusters.hindrances().items() if why is None]
    asked = JobSpec(
        application,
        ranks=ranks.nearest(application.rank_limits, _RANKS),
        method="balanced",
        time_limit=_SECONDS,
        name=f"test of {application.name}"[:120],
        request_key=uuid.uuid4(),
        cluster=(open_ones or [selectors.default_cluster()])[0],
    )
    return submission.submit_job(person, asked)
