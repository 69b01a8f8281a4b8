"""Writing down what the clusters are and what is measured on them."""

from __future__ import annotations

from monitoring.services.clusters import is_idle, note_error, note_poll, refresh_cluster
from monitoring.services.compaction import age, compact
from monitoring.services.polling import poll
from monitoring.services.reach import provide_slurm, telemetry
from monitoring.services.readings import record_readings
from monitoring.services.sources import note_source, sources_of
from monitoring.services.sweeps import measure, record, refresh_loads

__all__ = [
    "age",
    "compact",
    "is_idle",
    "measure",
    "note_error",
    "note_poll",
    "note_source",
    "poll",
    "provide_slurm",
    "record",
    "record_readings",
    "refresh_cluster",
    "refresh_loads",
    "sources_of",
    "telemetry",
]
