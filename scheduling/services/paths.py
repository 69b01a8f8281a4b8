"""Where runs keep their files."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def runs_home() -> Path:
    """The folder of all run directories."""
    return Path(settings.KNOBS.home) / "runs"


def run_dir(key: str) -> Path:
    """The directory of the run with this key."""
    return runs_home() / key
