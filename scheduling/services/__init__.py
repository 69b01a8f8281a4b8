"""Everything that changes a job, by what it is about."""

from scheduling.services.applications import install_catalogue, register_application
from scheduling.services.jobs import cancel_job, prefill, submit_job
from scheduling.services.requests import JobRequest
from scheduling.services.transitions import move

__all__ = ["JobRequest", "cancel_job", "install_catalogue", "move", "prefill", "register_application", "submit_job"]
