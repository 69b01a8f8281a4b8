"""The door for Celery's beat. It sends tasks by their names: it imports neither them nor any model or page, which would
take a second of a processor and a hundred megabytes."""

from __future__ import annotations

from django.conf import settings
from django.utils.log import configure_logging

from gridportal.celery import app


def begin() -> list[object]:
    """What Celery calls in place of importing all tasks: logs are written as the settings say, and nothing else."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    return []


app.loader.import_default_modules = begin  # type: ignore[method-assign]
