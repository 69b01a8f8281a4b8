"""The one job that the demo submits, through the same service as everyone's."""

from __future__ import annotations

from django.contrib.auth import get_user_model

from gridportal.serve.demo.choices import JOB_NODES
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.placing.services.submission import submit_job
from scheduling.tasks import place_soon


def submit_demo_job(klass: str) -> Job:
    """NAS CG on 4 nodes for user1, placed by its communication pattern."""
    application = Application.objects.get(slug="nas-cg")
    request = JobSpec(
        application=application,
        parameters={"class": klass},
        node_count=JOB_NODES,
        method="pattern",
        pattern=application.pattern,
        name=f"Demo: NAS CG class {klass}",
    )
    job = submit_job(get_user_model().objects.get(username="user1"), request)
    place_soon(job)
    return job
