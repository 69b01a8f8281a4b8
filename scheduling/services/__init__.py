"""Everything that changes a job, by what it is about."""

from scheduling.services.applications import install_catalogue, register_application
from scheduling.services.jobs import cancel_job, prefill, submit_job
from scheduling.services.placing import place_job
from scheduling.services.preview import Preview, preview
from scheduling.services.queue import hold_job, release_job, requeue_job
from scheduling.services.recovery import advance_jobs
from scheduling.services.requests import JobRequest
from scheduling.services.running import cancel_run, clusters_with_runs, poll_runs
from scheduling.services.starting import start_run
from scheduling.services.transitions import move

__all__ = [
    "JobRequest",
    "Preview",
    "advance_jobs",
    "cancel_job",
    "cancel_run",
    "clusters_with_runs",
    "hold_job",
    "install_catalogue",
    "move",
    "place_job",
    "poll_runs",
    "prefill",
    "preview",
    "register_application",
    "release_job",
    "requeue_job",
    "start_run",
    "submit_job",
]
