"""The portal's own figures, and who may read them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from monitoring.clusters.models import Cluster
from monitoring.telemetry.models import Source

pytestmark = pytest.mark.django_db


def told(client: Client | None = None, **headers: str) -> dict[tuple[str, ...], float]:
    answer = (client or Client()).get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    families = text_string_to_metric_families(answer.content.decode())
    return {(s.name, *sorted(s.labels.values())): s.value for family in families for s in family.samples}


def test_requests_are_counted_by_the_name_of_their_address():
    key = ("gridportal_requests_total", "200", "GET", "healthz")
    before = told().get(key, 0)
    for _ in range(3):
        Client().get("/healthz")
    after = told()
    assert after[key] == before + 3
    assert after["gridportal_request_seconds_count", "healthz"] >= 3


def test_strange_methods_and_addresses_make_no_series_of_their_own():
    Client().generic("BREW", "/healthz")
    Client().get("/no/such/thing")
    found = told()
    assert ("gridportal_requests_total", "405", "healthz", "other") in found
    assert not any("BREW" in key or "/no/such/thing" in key for key in found)


def test_jobs_are_counted_by_state(people, make_job):
    for state in ("running", "running", "failed"):
        make_job(people["user"], state)
    found = told()
    assert found["gridportal_jobs", "running"] == 2
    assert found["gridportal_jobs", "failed"] == 1
    assert found["gridportal_jobs", "queued"] == 0


def test_sources_tell_age_lag_and_cost_and_one_that_never_answered_has_no_age():
    cluster = Cluster.objects.create(name="grid")
    heard = timezone.now() - timedelta(seconds=40)
    Source.objects.create(cluster=cluster, name="agent", kind="agent", last_ok=heard, lag=0.5, total_bytes=900)
    Source.objects.create(cluster=cluster, name="mute", kind="slurm", error="It is silent.")
    found = told()
    assert found["gridportal_source_age_seconds", "agent", "agent", "grid"] == pytest.approx(40, abs=20)
    assert found["gridportal_source_lag_seconds", "agent", "agent", "grid"] == 0.5
    assert found["gridportal_source_cost_bytes_total", "agent", "agent", "grid"] == 900
    assert found["gridportal_source_stale", "grid", "mute", "slurm"] == 1
    assert ("gridportal_source_age_seconds", "grid", "mute", "slurm") not in found


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("192.0.2.7", {}),
        ("", {}),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.7"}),
        ("127.0.0.1", {"Forwarded": "for=192.0.2.7"}),
    ],
)
def test_others_than_this_machine_are_refused_without_a_token(address, headers):
    answer = Client(REMOTE_ADDR=address).get("/metrics", headers=headers)
    assert answer.status_code == 403
    assert b"gridportal_" not in answer.content
    assert told(Client(REMOTE_ADDR="::1"))


def test_with_a_token_only_who_has_it_may_read_from_anywhere(monkeypatch):
    monkeypatch.setattr(settings.PORTAL, "metrics_token", "s3cret-word")
    assert told(Client(REMOTE_ADDR="192.0.2.7"), Authorization="Bearer s3cret-word")
    for word in ("", "Bearer s3cret-wor", "Bearer ", "Basic s3cret-word", "Bearer \xe9"):
        assert Client().get("/metrics", headers={"Authorization": word}).status_code == 403
