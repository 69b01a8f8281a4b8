"""The fake Slurm cluster of the scheduling tests, for telemetry; a small network with history, for pages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from tests.monitoring.status import page_world
from tests.scheduling.conftest import fake_queue

__all__ = ["fake_queue"]


@pytest.fixture
def now() -> datetime:
    """A whole second, so that addresses can name it."""
    return timezone.now().replace(microsecond=0)


@pytest.fixture
def star(db: None, now: datetime) -> Any:
    """The network of page_world."""
    return page_world.build(now)
