"""Everything that changes a job, by what it is about."""

from scheduling.services.applications import install_catalogue, register_application
from scheduling.services.job_spec import JobSpec
from scheduling.services.jobs import cancel_job, submit_job, submit_once
from scheduling.services.preview import Preview, preview
from scheduling.services.queue import hold_job, release_job, requeue_job
from scheduling.services.recovery import advance_jobs
from scheduling.services.rounds import place_and_start_all
from scheduling.services.running import cancel_run, clusters_with_runs, poll_runs
from scheduling.services.starting import start_batches, start_runs
from scheduling.services.starts import outlook
from scheduling.services.taking import take_candidate, takeable
from scheduling.services.transitions import move
from scheduling.services.trying import try_jobs

__all__ = [
    "JobSpec",
    "Preview",
    "advance_jobs",
    "cancel_job",
    "cancel_run",
    "clusters_with_runs",
    "hold_job",
    "install_catalogue",
    "move",
    "outlook",
    "place_and_start_all",
    "poll_runs",
    "preview",
    "register_application",
    "release_job",
    "requeue_job",
    "start_batches",
    "start_runs",
    "submit_job",
    "submit_once",
    "take_candidate",
    "takeable",
    "try_jobs",
]
