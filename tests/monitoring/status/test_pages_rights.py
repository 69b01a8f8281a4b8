"""Administrators see on the telemetry page what a job may do; others do not."""

from __future__ import annotations

import pytest

from monitoring.clusters.models import Cluster
from tests.markup import markup


@pytest.mark.parametrize(
    ("level", "says"),
    [
        ("own-user", "a user of their owner&#x27;s own"),
        ("none", "open to jobs: this machine permits no better"),
        ("", "the Grid has not said how far it keeps jobs apart"),
    ],
)
def test_administrators_see_what_a_job_may_do(client_as, star, level: str, says: str) -> None:
    Cluster.objects.filter(name="grid").update(facts={"isolation": level} if level else {})
    page = markup(client_as("administrator").get("/telemetry/?cluster=grid"))
    assert "What a job may do" in page
    assert says in page
    for role in ("user", "operator"):
        assert "What a job may do" not in markup(client_as(role).get("/telemetry/?cluster=grid"))
