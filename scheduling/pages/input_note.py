"""How many input files may come with a job, and how much of a person's room for them is taken."""

from __future__ import annotations

from django.conf import settings

from gridportal.accounts.models import User
from scheduling.jobs.core.input_files import MOST, size_text
from scheduling.jobs.services.job_inputs import used_by


def inputs_note(person: User) -> str:
    """Beside the field for them."""
    limits = settings.PORTAL
    return (
        f"They lie in the folder where the job runs. At most {MOST} files, {size_text(limits.job_input_bytes)} "
        f"together. Yours take {size_text(used_by(person))} of {size_text(limits.person_input_bytes)}."
    )
