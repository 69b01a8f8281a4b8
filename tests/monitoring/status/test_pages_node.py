"""The page of a node: figures, its jobs told apart from others, interfaces, charts, and any series as CSV."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.utils.html import strip_tags

from monitoring.clusters.models import Node
from monitoring.history.core.samples import Sample
from monitoring.history.services.compaction import age, compact
from monitoring.telemetry.services.readings import record_readings
from monitoring.telemetry.services.sources import note_source
from tests.markup import markup

pytestmark = pytest.mark.django_db
DAY = 86400.0


def rows(response):
    return list(csv.DictReader(io.StringIO(markup(response))))


def test_a_node_shows_what_is_measured_of_it_and_by_what(client_as, star):
    page = markup(client_as("user").get("/topology/nodes/a/?since=1h"))
    for words in ("Node a", "50 %", "4.0 GB of 8.0 GB", "30.0", "eth0", "agent,"):
        assert words in page
    for chart in ("cpu-figure", "load-figure", "memory_free-figure", "Traffic of eth0"):
        assert chart in page


def test_devices_that_only_some_nodes_have_get_charts_where_they_are(client_as, star, now):
    at = now.timestamp()
    figures = {("b:mlx5_0", "ib_tx"): 8e9, ("b:mlx5_0", "ib_rx"): 6e9, ("b", "gpu"): 0.5}
    figures |= {("b", "gres_gpu"): 4.0, ("b", "gres_used_gpu"): 3.0}
    record_readings("grid", "prometheus", [Sample(*series, at, value) for series, value in figures.items()])
    page = markup(client_as("user").get("/topology/nodes/b/?since=1h"))
    for words in ("Traffic of InfiniBand mlx5_0", "Use of the GPUs", "gpu in use"):
        assert words in page
    other = markup(client_as("user").get("/topology/nodes/a/?since=1h"))
    assert "InfiniBand" not in other
    assert "gpu in use" not in other


def test_what_a_job_takes_is_told_apart_from_what_others_take(client_as, star, people, make_job):
    job = make_job(people["user"], "running")
    job.runs.update(backend_id="job-1-run-1")
    page = markup(client_as("user").get("/topology/nodes/a/"))
    table = page[page.index("What jobs take of it now") : page.index("Interfaces</h2>")]
    assert f"/jobs/{job.pk}/" in table
    mine, others = table.split("everybody else")
    assert ">0.75<" in mine
    assert ">20.0<" in mine
    assert ">0.25<" in others
    assert ">10.0<" in others


def test_a_run_that_ended_is_not_shown_and_who_holds_the_node_is(client_as, star, people, make_job, now):
    Node.objects.create(cluster=star, name="n1", position=5)
    over, job = make_job(people["user"], "succeeded"), make_job(people["user"], "running")
    over.runs.update(backend_id="job-3-run-1-24085817", ended_at=now)
    record_readings("grid", "agent", [Sample("n1@job-3-run-1-24085817", "load", now.timestamp(), 1.5)])
    page = markup(client_as("user").get("/topology/nodes/n1/"))
    assert "job-3-run-1" not in page
    table = page[page.index("What jobs take of it now") : page.index("everybody else")]
    assert f'<a href="/jobs/{job.pk}/">job {job.pk}</a>' in table


def test_a_run_of_which_only_the_load_is_known_yet_shows_no_rate(client_as, star, now):
    record_readings("grid", "agent", [Sample("b@run-9", "load", now.timestamp(), 0.5)])
    page = markup(client_as("user").get("/topology/nodes/b/"))
    table = page[page.index("What jobs take of it now") : page.index('id="links"')]
    assert "run-9" in table
    assert ">0.50<" in table
    assert ">0.0<" not in table


def test_jobs_of_a_node_are_those_that_the_person_may_see(client_as, star, people, make_job):
    Node.objects.create(cluster=star, name="n1", position=5)
    mine, other = make_job(people["user"], "succeeded"), make_job(people["other"], "failed")
    seen = markup(client_as("user").get("/topology/nodes/n1/"))
    assert f'<a href="/jobs/{mine.pk}/">' in seen
    assert f'<a href="/jobs/{other.pk}/">' not in seen
    assert f'<a href="/jobs/{other.pk}/">' in markup(client_as("operator").get("/topology/nodes/n1/"))


def test_from_a_node_one_gets_to_the_form_with_it_pinned_or_excluded(client_as, star):
    seen = markup(client_as("user").get("/topology/nodes/a/"))
    assert 'href="/submit/?cluster=grid&amp;pins=0%3Da"' in seen
    assert 'href="/submit/?cluster=grid&amp;exclude=a"' in seen
    assert "/submit/?cluster" not in markup(client_as("manager").get("/topology/nodes/a/"))


def test_a_node_that_nobody_tells_of_says_where_to_look(client_as, star):
    Node.objects.create(cluster=star, name="new", position=7)
    page = markup(client_as("user").get("/topology/nodes/new/"))
    assert "Nothing is known of this node yet" in page
    assert "No reading in the last hour." in page
    assert "0 %" not in page[page.index("<main") : page.index("</main>")]


@pytest.mark.parametrize(("days", "since"), [(5, "7d"), (20, "30d")])
def test_ranges_of_days_show_what_was_rolled_up(client_as, star, now, days, since):
    first = now.timestamp() - days * DAY
    record_readings("grid", "agent", [Sample("b", "cpu", first + 60 * i, 0.1 + 0.01 * i) for i in range(30)])
    compact("grid", everything=True)
    age("grid", now=now.timestamp())
    page = markup(client_as("user").get(f"/topology/nodes/b/?since={since}"))
    assert "No reading" not in page
    assert "means of hours" in page
    assert "cpu-figure" in page
    found = rows(client_as("user").get(f"/topology/series/b/cpu.csv?since={since}"))
    assert found
    assert min(float(row["low"]) for row in found) == pytest.approx(0.1, abs=0.001)
    assert max(float(row["high"]) for row in found) == pytest.approx(0.39, abs=0.002)


def test_any_series_is_there_as_csv_over_the_range_in_the_address(client_as, star, now):
    client = client_as("user")
    response = client.get("/topology/series/a>b/bandwidth.csv?since=15m")
    assert response["Content-Type"].startswith("text/csv")
    assert response["Content-Disposition"] == 'attachment; filename="grid-a-b-bandwidth.csv"'
    found = rows(response)
    assert [float(row["value"]) for row in found] == [80e6, 80e6, 40e6, 40e6, 40e6]
    assert found[0]["at"].endswith("+00:00")
    ends = (
        f"start={now - timedelta(seconds=130):%Y-%m-%dT%H:%M:%S}&until={now - timedelta(seconds=50):%Y-%m-%dT%H:%M:%S}"
    )
    assert len(rows(client.get(f"/topology/series/a>b/bandwidth.csv?{ends}"))) == 2
    assert rows(client.get("/topology/series/a:eth0/tx.csv?since=1h"))[0]["value"] == "30000000.0"


def test_a_series_that_is_not_there_is_404_and_a_wrong_resolution_400(client_as, star):
    client = client_as("user")
    assert client.get("/topology/series/a/nothing.csv").status_code == 404
    wrong = client.get("/topology/series/a/cpu.csv?resolution=second")
    assert wrong.status_code == 400
    assert "accepted is one of auto" in markup(wrong)


def test_the_addresses_of_the_csv_on_the_page_lead_to_it(client_as, star):
    import html
    import re

    client = client_as("user")
    page = markup(client.get("/topology/nodes/a/?since=1h"))
    found = re.findall(r'href="([^"]+\.csv[^"]*)"', page)
    assert len(found) >= 6
    for address in found:
        assert len(rows(client.get(html.unescape(address)))) == 5


def test_a_gap_in_the_readings_is_drawn_as_one():
    import numpy as np

    from monitoring.history.charts.history import Line, figure
    from monitoring.history.core.samples import History

    at = np.array([0.0, 30, 60, 90, 3000, 3030])
    values = np.arange(6.0)
    drawn = figure([Line("x", History(at, values, values, values, "raw", 1.0))], "u")
    assert drawn["data"][-1]["y"] == [0.0, 1.0, 2.0, 3.0, None, 4.0, 5.0]


def test_a_node_whose_agent_is_silent_says_since_when_and_why(client_as, star, now):
    client, at = client_as("user"), now.timestamp()
    record_readings("grid", "agent", [Sample("b", "clock_offset", at - 300, 0.0), Sample("b", "agent_up", at, 1.0)])
    assert "The agent of b" not in markup(client.get("/topology/nodes/b/"))
    record_readings("grid", "agent", [Sample(node, "agent_up", at + 1, 0.0) for node in "bc"])
    note_source("grid", "agent", ok_at=at, error="b for 300 s (no answer within 5 s)")
    page = strip_tags(markup(client.get("/topology/nodes/b/")))
    assert "The agent of b last answered 5 min ago" in page
    assert "says: b for 300 s (no answer within 5 s)." in page
    assert "The agent of c has not answered yet" in markup(client.get("/topology/nodes/c/"))
    assert "The agent of a" not in markup(client.get("/topology/nodes/a/"))
