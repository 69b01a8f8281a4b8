"""What was recorded, over REST with a token."""

from __future__ import annotations

import pytest
from django.utils import timezone

from gridportal.accounts.services import create_token
from monitoring.clusters.models import Cluster, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.models import Source
from monitoring.telemetry.services.readings import record_readings


@pytest.fixture
def recorded(db):
    cluster = Cluster.objects.create(name="grid", topology="two", mode="root")
    Node.objects.create(cluster=cluster, name="n1", position=0)
    Source.objects.create(cluster=cluster, name="agents", kind="agents", last_ok=timezone.now(), error="n1 is silent")
    now = timezone.now().timestamp()
    for back in range(20, 0, -1):
        record_readings("grid", "agent", [Sample("n1", "cpu", now - 30 * back, 0.25 + 0.5 * (back % 2))])
    return now


@pytest.fixture
def asked(client, people, recorded):
    token = create_token(people["user"], "mine")[1]

    def get(address: str):
        return client.get(address, headers={"Authorization": f"Bearer {token}"})

    return get


def test_a_series_has_its_readings_and_the_forecast_of_the_next(asked, recorded):
    found = asked("/api/network/series?subject=n1&metric=cpu&since=5m").json()
    assert (found["cluster"], found["subject"], found["metric"], found["resolution"]) == ("grid", "n1", "cpu", "raw")
    assert [point["value"] for point in found["points"]] == [0.25 + 0.5 * (back % 2) for back in range(9, 0, -1)]
    assert found["points"][-1]["at"] == pytest.approx(recorded - 30, abs=0.01)
    assert 30 <= found["age"] < 600
    assert 0.0 <= found["forecast"]["value"] <= 1.0
    assert found["forecast"]["predictor"]
    hours = asked("/api/network/series?subject=n1&metric=cpu&since=2h&resolution=hour").json()
    assert {(point["low"], point["high"]) for point in hours["points"]} <= {(0.25, 0.75), (0.25, 0.25), (0.75, 0.75)}


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("subject=n1", 400, "metric"),
        ("subject=n1&metric=cpu&since=7x", 400, "since is '7x'; accepted is a time such as 90s, 15m, 1h or 7d."),
        ("subject=n1&metric=cpu&start=2030-01-01T00:00:00Z", 400, "start is '2030-01-01T00:00:00+00:00'; accepted is"),
        (
            "subject=n1&metric=cpu&since=1h&start=2020-01-01T00:00:00Z",
            400,
            "since is '1h'; accepted is either since or",
        ),
        ("subject=n1&metric=cpu&resolution=day", 400, "resolution"),
        ("subject=n1&metric=cpu&sinse=1h", 400, "sinse"),
        ("subject=n9&metric=cpu", 404, "Nothing was ever recorded of 'cpu' of 'n9' on 'grid'."),
        ("subject=n1&metric=cpu&cluster=mars", 404, "mars"),
    ],
)
def test_a_question_that_cannot_be_answered_is_told_in_a_sentence(asked, query, status, words):
    answer = asked(f"/api/network/series?{query}")
    assert answer.status_code == status
    assert words in answer.content.decode()


def test_sources_tell_age_and_trouble(asked):
    found = asked("/api/network/telemetry").json()
    source = next(one for one in found["sources"] if one["name"] == "agents")
    assert source["stale"]
    assert "n1 is silent" in source["reason"]
    assert found["store"]["samples"] == 20
