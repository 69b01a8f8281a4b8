"""Whoever asks for a measurement is told when it has ended, by the address that asked."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(client_as, star, monkeypatch):
    """The page to which a request to measure leads, and the cluster."""
    monkeypatch.setattr("monitoring.tasks.measure_network.delay_on_commit", lambda *_: None)
    client = client_as("operator")
    return client, client.post("/topology/measure", {"cluster": star.name})["Location"], star


def test_the_page_says_that_the_network_is_measured_and_links_to_itself(asked):
    client, address, cluster = asked
    assert parse_qs(urlsplit(address).query)["cluster"] == [cluster.name]
    page = markup(client.get(address))
    assert f"The network of {cluster.name}</a> is being measured. This page says when it has ended." in page
    assert f"The network of {cluster.name} is being measured. Asked for" in page
    assert ">just now</time>" in page


def test_the_page_says_when_the_measurement_ended(asked):
    client, address, cluster = asked
    began = timezone.now() + timedelta(seconds=1)
    type(cluster).objects.filter(pk=cluster.pk).update(measured_at=began, probe_seconds=2.0)
    ended = began + timedelta(seconds=2)
    live = markup(client.get(address, headers={"hx-request": "true"}))
    assert f"The measurement of {cluster.name} ended at {ended:%H:%M:%S} UTC." in live


def test_the_page_says_that_the_measurement_failed(asked):
    client, address, cluster = asked
    failed = timezone.now() + timedelta(seconds=1)
    type(cluster).objects.filter(pk=cluster.pk).update(error="The Grid does not answer.", error_at=failed)
    assert f"The measurement of {cluster.name} failed at {failed:%H:%M:%S} UTC." in markup(client.get(address))


@pytest.mark.parametrize("asked_at", ["2001-01-01T00:00:00Z", "2190-01-01T00:00:00Z", "soon"])
def test_an_address_of_another_time_tells_of_no_measurement(client_as, star, asked_at):
    page = markup(client_as("user").get(f"/topology/?asked={asked_at}"))
    assert "being measured" not in page
    assert "The measurement of" not in page
