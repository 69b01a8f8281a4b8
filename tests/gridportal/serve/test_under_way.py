"""Who stops a portal is told what becomes of the jobs under way."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from rich.console import Console

from gridportal.base.clusters import Cluster
from gridportal.base.portal_settings import PortalSettings
from gridportal.serve import under_way
from gridportal.serve.portal_set import PortalSet


@pytest.fixture
def jobs(make_job: Callable[..., Any], people: dict[str, Any], settings: Any) -> None:
    settings.CLUSTERS = {
        "grid": Cluster(name="grid", backend="grid"),
        "hpc": Cluster(name="hpc", backend="slurm"),
    }
    for cluster, state in (("grid", "running"), ("hpc", "starting"), ("hpc", "running"), ("grid", "succeeded")):
        make_job(people["user"], state, cluster=cluster)
    make_job(people["user"], "waiting")


def test_jobs_of_the_own_grid_end_and_others_go_on(jobs: None) -> None:
    assert under_way.sentence(ends_grid=True) == (
        "1 job ends with the emulated Grid. 2 jobs go on and are followed again at the next start. "
        "1 job waits and is placed after the next start."
    )
    assert under_way.sentence(ends_grid=False).startswith("3 jobs go on and are followed again")


def test_nothing_is_said_where_nothing_is_under_way(db: None) -> None:
    assert under_way.sentence(ends_grid=True) == ""


def test_a_database_that_is_gone_does_not_keep_the_portal_from_stopping(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(**_: object) -> str:
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(under_way, "sentence", refuse)
    out = StringIO()
    PortalSet(PortalSettings(home=tmp_path), Console(file=out)).say_stopping(ends_grid=False)
    assert "Stopping. Jobs under way are followed again at the next start." in " ".join(out.getvalue().split())
