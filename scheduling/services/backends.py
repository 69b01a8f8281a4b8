"""Which backend runs the jobs of a cluster."""

from __future__ import annotations

from django.conf import settings

from scheduling.adapters import grid
from scheduling.adapters.base import Backend


def backend(cluster: str = "grid") -> Backend:
    """The backend of `cluster`; BackendError comes from its verbs, not from here."""
    return grid.connect(settings.KNOBS.grid_state_dir)
