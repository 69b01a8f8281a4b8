"""Where runs keep their files."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def runs_home(cluster: str = "") -> Path:
    """The folder of all run directories of a cluster: its own setting, else one for all."""
    configured = settings.CLUSTERS.get(cluster)
    return configured.runs if configured and configured.runs else Path(settings.PORTAL.home) / "runs"


def job_dir(key: str, cluster: str = "") -> Path:
    """The folder of the job with this key, which lives over all its runs."""
    return runs_home(cluster) / "jobs" / key


def run_dir(key: str, cluster: str = "") -> Path:
    """The directory of the run with this key."""
    return runs_home(cluster) / key
