"""How telemetry goes, as a page and on the command line."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags
from typer.testing import CliRunner

from gridportal.cli import app
from monitoring.clusters.models import Cluster
from monitoring.history.core.samples import Sample
from monitoring.history.services.compaction import compact
from monitoring.status.selectors.health import health, probing, store_size
from monitoring.telemetry.models import Source
from monitoring.telemetry.services.readings import record_readings
from monitoring.telemetry.services.sources import note_source
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr("monitoring.status.commands.telemetry.database", nullcontext)
    return CliRunner()


def test_sources_are_shown_with_state_age_and_cost(client_as, star, now):
    note_source("grid", "agent", ok_at=now.timestamp(), lag=0.25, cost_bytes=7000, cost_seconds=0.5)
    page = markup(client_as("user").get("/topology/")) and markup(client_as("user").get("/telemetry/"))
    assert "All 2 sources answer" in page
    for words in ("agent", "probes", "0.25 s", "7.0 kB", "/metrics", "/readyz"):
        assert words in page


def test_a_source_that_fails_is_stale_with_its_reason(client_as, star):
    note_source("grid", "agent", error="No agent answers: a for 60 s (connection refused).")
    page = markup(client_as("operator").get("/telemetry/"))
    assert "1 of 2 sources is stale: agent." in page
    assert "connection refused" in page
    assert "▲ stale" in page


def test_a_source_that_missed_its_questions_says_for_how_long(client_as, star, now):
    Source.objects.filter(name="probes").update(last_ok=now - timedelta(hours=2))
    assert "No answer for 2 h: three questions were missed" in markup(client_as("user").get("/telemetry/"))


def test_what_probing_takes_of_links_stands_beside_its_bound(client_as, star, now):
    shares = [Sample("a>s", "probe_share", now.timestamp(), 0.004), Sample("s>b", "probe_share", now.timestamp(), 0.01)]
    record_readings("grid", "agent", shares)
    page = markup(client_as("user").get("/telemetry/"))
    assert "s–b carries the most probes: 1 % of its peak. The limit is 2 %." in page
    assert page.index("s–b</a>") < page.index("a–s</a>")


def test_links_that_transfers_at_once_told_of_say_what_these_had(client_as, star, now):
    at = now.timestamp()
    shares = [Sample(subject, "probe_share", at, 0.004) for subject in ("a>s", "s>b")]
    record_readings("grid", "agent", [*shares, Sample("s>b", "bandwidth", at, 60e6)])
    assert {(cost.source, cost.together) for cost in probing(star)} == {("a", None), ("s", 60e6)}
    page = markup(client_as("user").get("/telemetry/"))
    assert "Rate of all at once" in page
    assert "60.0 Mbit/s" in page


def test_sweeps_are_estimated_link_by_link(star):
    """Six ordered pairs of 1 MB each, every minute: four directed flows cross each link, two each way."""
    Cluster.objects.update(probe_bytes=6_000_000, probe_seconds=1.0)
    star.refresh_from_db()
    costs = probing(star)
    assert len(costs) == 6
    assert {round(cost.share, 6) for cost in costs} == {round(2 * 8e6 / 60 / 100e6, 6)}
    assert all(cost.at is None for cost in costs)


def test_the_store_is_counted_before_and_after_compaction(star):
    before = store_size(star)
    compact("grid", everything=True)
    after = store_size(star)
    assert before.samples == after.samples == 60
    assert after.bytes < before.bytes
    assert after.bytes_per_sample == after.bytes / 60
    assert health(star).store.samples == 60


def test_no_cluster_and_no_source_say_what_to_do(client_as, db):
    client = client_as("manager")
    assert "No cluster is known yet" in markup(client.get("/telemetry/"))
    Cluster.objects.create(name="grid")
    assert "No source was asked yet" in markup(client.get("/telemetry/"))


def test_the_rail_leads_operators_and_managers_there(client_as, star):
    link = '<a class="item" href="/telemetry/"'
    assert [link in markup(client_as(role).get("/jobs/")) for role in ("user", "operator", "manager")] == [
        False,
        True,
        True,
    ]


def test_the_command_prints_the_same_and_fails_when_a_source_is_stale(command, star):
    found = command.invoke(app, ["telemetry", "status", "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.output)
    assert {row["name"]: row["stale"] for row in told["sources"]} == {"agent": False, "probes": False}
    assert told["store"]["samples"] == 60
    assert told["probing"]["bound"] == 0.02
    note_source("grid", "agent", error="No agent answers.")
    failed = command.invoke(app, ["telemetry", "status"], env={"COLUMNS": "160"})
    assert failed.exit_code == 1
    assert "stale: No agent answers." in failed.output


def test_the_command_says_of_how_many_links_it_shows_those_that_bear_most(command, star, now):
    shares = [Sample(f"{a}>s", "probe_share", now.timestamp(), 0.001) for a in "abc"]
    record_readings("grid", "agent", shares)
    assert "that bear most" not in command.invoke(app, ["telemetry", "status"], env={"COLUMNS": "160"}).output
    shares = [Sample(f"s>{a}", "probe_share", now.timestamp(), 0.002) for a in "abc"]
    record_readings("grid", "agent", shares)
    found = command.invoke(app, ["telemetry", "status"], env={"COLUMNS": "160"}).output
    assert "these are the 5 of 6 links that bear most; --json has all" in found
    assert found.count("of the peak for probes") == 5


def test_trouble_lasts_since_it_was_first_told(client_as, star, now):
    first = now - timedelta(minutes=7)
    Source.objects.filter(name="agent").update(error="b for 60 s (no answer within 5 s)", error_at=first)
    note_source("grid", "agent", ok_at=now.timestamp(), error="b for 90 s (no answer within 5 s)")
    note_source("grid", "agent", error="No agent answers.")
    assert Source.objects.get(name="agent").error_at == first
    assert "No agent answers. Since 7 min ago." in strip_tags(markup(client_as("user").get("/telemetry/")))
    note_source("grid", "agent", ok_at=now.timestamp() + 1)
    assert Source.objects.get(name="agent").error_at is None


def test_a_source_of_which_some_answered_says_so(client_as, command, star, now):
    note_source("grid", "agent", ok_at=timezone.now().timestamp(), error="b for 60 s (no answer within 5 s)")
    found = command.invoke(app, ["telemetry", "status"], env={"COLUMNS": "200"}).output
    assert found.count(", in part") == markup(client_as("user").get("/telemetry/")).count(", in part") == 1
    Source.objects.filter(name="agent").update(last_ok=now - timedelta(minutes=5))
    assert ", in part" not in markup(client_as("user").get("/telemetry/"))
