"""What workers do for experiments. It may be lost, run twice or be killed half way: the service sees to that."""

from __future__ import annotations

from gridportal.celery import task
from gridportal.experiments.services import tending


@task(name="experiments.tasks.tend_experiments")
def tend_experiments() -> None:
    """Follow the experiment that runs, and start the next; the work itself is done by a process of its own."""
    tending.tend()
