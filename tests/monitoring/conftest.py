"""The fake Slurm cluster of the scheduling tests, for telemetry."""

from tests.scheduling.conftest import fake_queue

__all__ = ["fake_queue"]
