"""What workers do for the network."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings

from gridportal.errors import BackendError
from monitoring import services

log = logging.getLogger(__name__)


@shared_task(name="monitoring.tasks.measure_network")
def measure_network(cluster: str = "grid", max_age: float | None = None) -> None:
    """Measure unless the last sweep is younger than `max_age` (KNOBS.measure_every) seconds; 0 measures always."""
    age = settings.KNOBS.measure_every if max_age is None else max_age
    try:
        services.measure(cluster, max_age=age)
    except BackendError as error:
        log.info("The network was not measured: %s", error)
