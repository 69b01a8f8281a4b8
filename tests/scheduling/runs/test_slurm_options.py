"""What Slurm is asked for in the name of a cluster's setting, where a job says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.clusters import Cluster
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.runs.services.backends import slurm_options


@pytest.mark.parametrize(
    ("setting", "asked", "expected"),
    [
        ({}, {}, False),
        ({}, {"exclusive": True}, True),
        ({"share_nodes": False}, {}, True),
        ({"share_nodes": True}, {}, False),
        ({"share_nodes": True}, {"exclusive": True}, True),
    ],
)
def test_whole_nodes_are_asked_for_where_jobs_do_not_share_them(
    setting: dict[str, Any], asked: dict[str, Any], expected: bool, settings: Any
) -> None:
    settings.CLUSTERS = {"hpc": Cluster(name="hpc", backend="slurm", **setting)}
    options = slurm_options(ClusterOptions(**asked), "hpc")
    assert options is not None
    assert options.exclusive is expected
