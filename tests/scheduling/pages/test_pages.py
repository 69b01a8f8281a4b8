"""Every page renders for who may see it, and says what it should."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import subprocess
import sys
import uuid
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from gridportal.runtime.progress_events import Phase
from gridportal.web.templatetags.state_marks import ramp
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services import readings
from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup, RankPair
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Application, Job
from scheduling.pages import own_program, selectors
from scheduling.profiles.charts import picture
from scheduling.runs.core import progress
from scheduling.runs.services import phase_totals
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def crossbar(db):
    """Four nodes on a crossbar, every ordered pair measured; n1 to n2 is the slowest."""
    now = timezone.now()
    cluster = Cluster.objects.create(name="grid", kind="pairs", directed=True, topology="crossbar4", measured_at=now)
    nodes = [
        Node.objects.create(cluster=cluster, name=f"n{i}", position=i, cpu=1.0, load=0.0, labels={"site": "here"})
        for i in range(1, 5)
    ]
    for a in nodes:
        for b in nodes:
            if a != b:
                rate = 20e6 if (a.name, b.name) == ("n1", "n2") else 90e6
                Link.objects.create(cluster=cluster, source=a, target=b, capacity=100e6, bandwidth=rate, latency=1e-4)
    at = now.timestamp()
    readings.record_readings("grid", "probes", [Sample("n1>n2", "bandwidth", at, 20e6), Sample("n1", "cpu", at, 0.5)])
    return cluster


@pytest.mark.parametrize(
    "address",
    [
        *("/jobs/", "/submit/?application=ep", "/applications/", "/applications/ep/", "/topology/", "/help/"),
        *("/topology/nodes/n1/", "/topology/links/n1/n2/", "/topology/links/n1/n2/?since=15m"),
    ],
)
def test_a_page_renders_for_a_plain_user(client_as, application, crossbar, address):
    response = client_as("user").get(address)
    assert response.status_code == 200
    assert "<h1>" in markup(response)
    assert "</html>" in markup(response)


@pytest.mark.parametrize("address", ["/jobs/", "/topology/", "/applications/", "/submit/"])
def test_a_page_renders_when_there_is_nothing_at_all(client_as, address):
    response = client_as("user").get(address)
    assert response.status_code == 200
    assert 'class="empty"' in markup(response)


@pytest.mark.parametrize(
    "state", ["queued", "placing", "waiting", "starting", "running", "cancelling", "succeeded", "failed", "cancelled"]
)
def test_the_page_of_a_job_renders_in_every_state(client_as, people, make_job, crossbar, state):
    job = make_job(people["user"], state)
    client = client_as("user")
    page = markup(client.get(f"/jobs/{job.pk}/"))
    part = markup(client.get(f"/jobs/{job.pk}/live"))
    assert f"</span> {state}</span>" in page
    assert ("data-final" in part) == job.is_final
    assert ("Cancel job" in page) == (state in ("queued", "placing", "waiting", "starting", "running"))


def test_the_page_of_a_job_names_it_in_its_title(client_as, people, make_job):
    job = make_job(people["user"], "running")
    assert f"<title>Job {job.pk} · NAS EP · GridPortal</title>" in markup(client_as("user").get(f"/jobs/{job.pk}/"))


def test_a_failed_job_shows_its_reason_and_the_last_lines_of_its_log(client_as, people, make_job):
    job = make_job(people["user"], "failed", reason=text_reason("The program ended with exit code 1."))
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "The program ended with exit code 1." in page
    assert 'id="last-lines"' in page
    assert "third line" in page


def test_phases_are_charted_and_tabled(client_as, people, make_job):
    job = make_job(people["user"], "running")
    run = job.runs.get()
    phase_totals.add_phases(run, [Phase("conj_grad", 2.0, i, 3, communicate=0.5) for i in range(1, 4)])
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "conj grad takes 100 % of the time of all phases, 25 % of it communicating." in page
    figure = json.loads(page.split('id="phase-figure" type="application/json">')[1].split("</script>")[0])
    assert [trace["name"] for trace in figure["data"]] == ["compute", "communicate"]
    assert "3 of 3" in page


def test_the_log_is_read_from_a_byte_on(client_as, people, make_job):
    job = make_job(people["user"], "succeeded")
    part = client_as("user").get(f"/jobs/{job.pk}/log/tail?offset=11").json()
    assert part == {"text": "second line\nthird line\n", "end": 34, "complete": True, "more": False}


def test_the_log_and_the_script_are_downloaded(client_as, people, make_job):
    job = make_job(people["user"], "succeeded")
    client = client_as("user")
    assert b"".join(client.get(f"/jobs/{job.pk}/log").streaming_content).startswith(b"first line\n")
    first, *comments, last = client.get(f"/jobs/{job.pk}/script").content.decode().splitlines()
    assert (first, last) == ("#!/bin/bash", "true")
    assert comments[0].startswith("# By hand, on the Grid: gridportal testbed run ")


@pytest.mark.parametrize("where", ["", "live", "log", "log/tail", "script"])
def test_another_persons_job_is_told_as_one_that_is_not_there(client_as, people, make_job, where):
    job = make_job(people["other"], "succeeded")
    response = client_as("user").get(f"/jobs/{job.pk}/{where}")
    assert response.status_code == 404
    assert f"There is no job {job.pk} that you can see" in markup(response)


def test_a_job_that_is_not_there_is_not_found_in_words(client_as):
    response = client_as("user").get("/jobs/424242/")
    assert response.status_code == 404
    assert "There is nothing at this address" in markup(response)


def test_cancelling_needs_a_post_and_answers_with_a_message(client_as, people, make_job):
    job = make_job(people["user"], "waiting")
    client = client_as("user")
    client.get(f"/jobs/{job.pk}/cancel")
    job.refresh_from_db()
    assert job.state == "waiting"
    page = markup(client.post(f"/jobs/{job.pk}/cancel", follow=True))
    assert f'<a href="{job.get_absolute_url()}">Job {job.pk}</a> is cancelled.' in page
    again = markup(client.post(f"/jobs/{job.pk}/cancel", follow=True))
    assert f'">Job {job.pk}</a> is cancelled already. There was nothing to cancel.' in again


def test_a_manager_sees_but_neither_submits_nor_cancels(client_as, people, make_job):
    job = make_job(people["user"], "running")
    client = client_as("manager")
    assert "Cancel job" not in markup(client.get(f"/jobs/{job.pk}/"))
    assert client.post(f"/jobs/{job.pk}/cancel").status_code == 403
    assert client.get("/submit/").status_code == 403
    assert client.post("/topology/measure", {"cluster": "grid"}).status_code == 403


def form_of(application, **changes):
    values = {
        "application": application.slug,
        "request_key": str(uuid.uuid4()),
        "node_count": "2",
        "method": "balanced",
        "pattern": "",
        "pattern_graph": "",
        "candidates": "3",
        "seed": "0",
        "name": "",
        "require": "",
        "min_bandwidth": "",
        "min_cpu": "",
        "compute_priority": "",
        "time_limit": "",
        "param-klass": "S",
        "param-seed": "7",
        "param-note": "",
    }
    return values | changes


def test_submitting_makes_one_job_however_often_the_form_is_sent(client_as, application, crossbar):
    client, form = client_as("user"), form_of(application, name="mine", min_bandwidth="5")
    first, second = client.post("/submit/", form), client.post("/submit/", form)
    job = Job.objects.get()
    assert first.url == second.url == f"/jobs/{job.pk}/"
    assert (job.name, job.parameters["seed"], job.requirements) == ("mine", 7, Requirements(min_bandwidth=5e6))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"param-seed": "1001"}, "a whole number from 0 to 1,000"),
        ({"node_count": "3"}, "3 is not possible. Enter 1, 2, 4 or 8 for"),
        ({"require": "utk"}, "&#x27;utk&#x27; is not possible. Enter label=value"),
        ({"require": "mem_gb>=x and rack=1"}, "&#x27;mem_gb&gt;=x&#x27; is not possible. Enter a number after &gt;=."),
        ({"pattern": "own", "pattern_graph": "{"}, "Line 1, column 2"),
        ({"min_cpu": "2"}, "Enter a number from 0 to 1."),
        ({"require": "site=mars"}, "0 of 4 have it"),
    ],
)
def test_an_error_stands_beside_its_field_and_what_was_typed_is_kept(client_as, application, crossbar, changes, words):
    response = client_as("user").post("/submit/", form_of(application, name="keep me", **changes))
    assert response.status_code == 422
    assert words in markup(response)
    assert 'value="keep me"' in markup(response)
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("method", "kept"), [("communication", {"flows": True}), ("balanced", {"flows": True}), ("compute", {})]
)
def test_that_all_pairs_talk_at_once_is_kept_where_the_method_knows_it(client_as, application, crossbar, method, kept):
    client = client_as("user")
    client.post("/submit/", form_of(application, method=method, pattern="ring", flows="on"))
    job = Job.objects.get()
    assert job.requirements.document() == kept
    page = markup(client.get(client.get(f"/jobs/{job.pk}/resubmit").url))
    assert ("checked" in page.split('name="flows"')[1].split(">")[0]) == bool(kept)
    assert ("all at once" in markup(client.get(f"/jobs/{job.pk}/"))) == bool(kept)


def test_a_refused_form_leads_to_the_fields_that_need_another_value(client_as, application, crossbar):
    """They may be in a part of the form that is closed."""
    wrong = form_of(application, require="utk", **{"param-seed": "x"})
    page = markup(client_as("user").post("/submit/", wrong))
    assert "Nothing was submitted: 2 fields need another value:" in page
    assert '<a href="#id_require">Node labels</a>' in page
    assert '<a href="#id_param-seed">Seed</a>' in page


@pytest.mark.parametrize(("latency", "is_told"), [(None, True), (1e-4, False)])
def test_a_latency_that_nobody_knows_is_told_at_the_preview_and_on_the_page(
    client_as, application, crossbar, latency, is_told
):
    Link.objects.update(latency=latency)
    words = "No latency is known of any path here, so each counts as 0 s: latency<=0.001 decides nothing."
    client = client_as("user")
    asked = form_of(application, method="communication", require="latency<=0.001")
    assert (html.escape(words) in markup(client.post("/submit/preview", asked))) == is_told
    sent = {"application": "ep", "node_count": 2, "method": "communication"}
    sent |= {"parameters": {"klass": "S"}, "requirements": {"require": {"latency": "<=0.001"}}}
    shown = client.post("/api/preview", sent, content_type="application/json").json()
    assert (words in shown["warning"]) == is_told


def test_a_form_that_is_refused_as_a_whole_blames_no_field(client_as, application, crossbar):
    page = markup(client_as("user").post("/submit/", form_of(application, require="site=mars")))
    assert "<p>Nothing was submitted.</p>" in page
    assert "0 of 4 have it" in page


def test_the_form_is_filled_from_an_old_job(client_as, people, make_job, crossbar):
    job = make_job(people["user"], "failed", parameters={"klass": "W", "seed": 99, "note": "hello"}, name="old one")
    client = client_as("user")
    page = markup(client.get(client.get(f"/jobs/{job.pk}/resubmit").url))
    assert 'value="99"' in page
    assert 'value="hello"' in page
    assert '<option value="W" selected>' in page
    assert f"job {job.pk}" in page


def test_the_preview_shows_candidates_and_the_script_and_writes_nothing(client_as, application, crossbar):
    page = markup(
        client_as("user").post("/submit/preview", form_of(application, method="communication", pattern="ring"))
    )
    assert "Candidate groups" in page
    assert "#!/bin/bash" in page
    assert not Job.objects.exists()


def test_the_preview_of_a_wrong_form_says_what_is_missing(client_as, application, crossbar):
    page = markup(client_as("user").post("/submit/preview", form_of(application, **{"param-seed": "x"})))
    assert "a field needs another value" in page
    assert "a whole number from 0 to 1,000" in page


def test_the_map_highlights_a_job_and_tables_the_same_facts(client_as, people, make_job, crossbar):
    job = make_job(people["user"], "running")
    page = markup(client_as("user").get(f"/topology/?job={job.pk}"))
    assert "n1–n2 is the slowest: 20 of 100 Mbit/s" in page
    assert page.count('class="marked"') == 2
    assert "matrix-figure" in page


def test_a_job_of_another_person_is_not_highlighted(client_as, people, make_job, crossbar):
    job = make_job(people["other"], "running")
    assert client_as("user").get(f"/topology/?job={job.pk}").status_code == 404


def test_five_thousand_nodes_are_summarised_not_drawn(client_as, crossbar, django_assert_max_num_queries):
    crossbar.links.all().delete()
    Cluster.objects.update(kind="links", directed=False)
    switch = Node.objects.create(cluster=crossbar, name="switch", kind="network", position=9999)
    Node.objects.bulk_create(Node(cluster=crossbar, name=f"m{i}", position=10 + i) for i in range(5000))
    Link.objects.bulk_create(
        Link(cluster=crossbar, source=node, target=switch, capacity=1e9, bandwidth=6e8)
        for node in crossbar.nodes.filter(kind="compute")
    )
    client = client_as("user")
    with django_assert_max_num_queries(19):
        page = markup(client.get("/topology/"))
    assert "too many to draw" in page
    assert "map-figure" not in page
    assert len(page) < 300_000


def test_the_warning_of_a_cluster_is_on_every_page(client_as, crossbar):
    Cluster.objects.update(warning="This machine cannot shape links.")
    for address in ("/jobs/", "/help/", "/applications/", "/topology/"):
        assert "This machine cannot shape links." in markup(client_as("user").get(address))


def test_the_range_of_a_history_is_in_the_address(client_as, crossbar):
    client = client_as("user")
    assert "20.0 Mbit/s at the only reading in the last hour" in markup(client.get("/topology/links/n1/n2/?since=1h"))
    past = "?start=2001-01-01T00:00:00&until=2001-01-02T00:00:00"
    assert "No reading in the chosen stretch." in markup(client.get(f"/topology/links/n1/n2/{past}"))


FIELDS = {
    "name": "Wave",
    "slug": "wave",
    "description": "",
    "command": "{python} -m wave --size {size}",
    "parameters": '[{"name": "size", "type": "int", "min": 1, "max": 9, "default": 3}]',
    "environment": "",
    "pattern": "ring",
    "ranks": '{"min": 2, "max": 8}',
    "phases": "step, exchange",
    "enabled": "on",
}


def test_an_administrator_registers_and_changes_an_application(client_as):
    client = client_as("administrator")
    page = markup(client.post("/applications/new", FIELDS, follow=True))
    assert "Wave</a> is registered." in page
    assert "a whole number from 1 to 9" in page
    page = markup(client.post("/applications/wave/edit", FIELDS | {"name": "Waves"}, follow=True))
    assert "Waves</a> is changed." in page
    twin = client.post("/applications/new", FIELDS | {"slug": "twin", "name": "WAVES"})
    assert twin.status_code == 422
    assert "Enter a name that no other application has." in twin.context["form"].errors["name"][0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": "[{]"}, "Line 1, column"),
        ({"parameters": '{"name": "size"}'}, "This is not a list."),
        ({"command": "{python} {nothing}"}, "nothing"),
        ({"command": 'a "b'}, "cannot be separated"),
        ({"ranks": '{"min": 0}'}, "whole numbers from 1 to 4096"),
    ],
)
def test_a_wrong_application_is_refused_beside_the_field(client_as, changes, words):
    response = client_as("administrator").post("/applications/new", FIELDS | changes)
    assert response.status_code == 422
    assert words in markup(response)
    assert 'value="Wave"' in markup(response)


@pytest.mark.parametrize("role", ["user", "operator", "manager"])
def test_only_administrators_register_applications(client_as, application, role):
    client = client_as(role)
    assert client.get("/applications/new").status_code == 403
    assert client.post("/applications/ep/edit", FIELDS).status_code == 403
    assert "Edit</a>" not in markup(client.get("/applications/ep/"))


def test_what_a_person_typed_is_never_markup(client_as, people, make_job, crossbar):
    job = make_job(people["user"], "failed", name="<b>bold</b>", reason=text_reason("<script>alert(1)</script>"))
    run = job.runs.get()
    run.script = "</script><script>alert(2)</script>"
    run.save(update_fields=["script"])
    client = client_as("user")
    for address in ("/jobs/", f"/jobs/{job.pk}/", f"/jobs/{job.pk}/live"):
        page = markup(client.get(address))
        assert "<b>bold" not in page
        assert "<script>alert" not in page


def rows_of(response):
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_the_csv_holds_exactly_what_the_filter_lets_through(client_as, people, make_job):
    for state in ("failed", "succeeded", "failed", "queued"):
        make_job(people["user"], state, name=f"a {state} one")
    make_job(people["other"], "failed")
    found = rows_of(client_as("user").get("/jobs.csv?state=failed&sort=id"))
    ids = list(Job.objects.filter(owner=people["user"], state="failed").order_by("pk").values_list("pk", flat=True))
    assert [int(row["id"]) for row in found] == ids
    assert {row["owner"] for row in found} == {"user"}


def test_a_cell_of_the_csv_is_never_a_formula(client_as, people, make_job):
    make_job(people["user"], "queued", name="=1+1")
    assert rows_of(client_as("user").get("/jobs.csv"))[0]["name"] == "'=1+1"


def test_the_from_to_filter_narrows_by_time(client_as, people, make_job):
    old, new = make_job(people["user"]), make_job(people["user"])
    Job.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=3))
    assert [int(row["id"]) for row in rows_of(client_as("user").get("/jobs.csv?since=24h"))] == [new.pk]
    until = (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S")
    assert [int(row["id"]) for row in rows_of(client_as("user").get(f"/jobs.csv?until={until}"))] == [old.pk]


def test_the_state_the_note_and_the_bar_of_a_job_are_of_one_moment(client_as, people, make_job, monkeypatch):
    """The job moves on while its page is read: between the row of the job and its events."""
    job = make_job(people["user"], "queued")
    real = selectors.job_story

    def moves_on(seen):
        if not job.events.filter(to_state="placing").exists():
            Job.objects.filter(pk=job.pk).update(state="placing")
            job.events.create(from_state="queued", to_state="placing")
        return real(seen)

    monkeypatch.setattr(selectors, "job_story", moves_on)
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "</span> placing</span>" in page.split('class="spread"')[0]
    assert "Accepted; a worker starts on it" not in page
    assert 'class="now"><span class="key t-placing">' in page


def test_a_job_that_has_just_taken_a_step_is_asked_after_more_often(client_as, people, make_job):
    job = make_job(people["user"], "running")
    client = client_as("user")
    assert 'data-pace="600"' in markup(client.get(f"/jobs/{job.pk}/live"))
    job.events.update(at=timezone.now() - timedelta(minutes=1))
    assert "data-pace" not in markup(client.get(f"/jobs/{job.pk}/live"))


@pytest.mark.parametrize(
    ("state", "hosts", "words", "count"),
    [("running", [], "not reported yet", 2), ("failed", ["n1"], "not reported before it ended", 1)],
)
def test_a_rank_without_a_host_name_says_whether_one_may_come(client_as, people, make_job, state, hosts, words, count):
    job = make_job(people["user"], state)
    job.runs.update(hosts=hosts)
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert page.count(words) == count
    assert "Host name reported" in page


def test_a_program_that_ended_without_any_host_name_has_no_column_for_them(client_as, people, make_job):
    job = make_job(people["user"], "succeeded")
    job.runs.update(hosts=[])
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "Nodes, rank by rank" in page
    assert "Host name reported" not in page
    assert "not reported before it ended" not in page


def test_the_reason_of_a_failure_is_told_once_without_what_the_launcher_says(client_as, people, make_job):
    why = Reason.of(Code.OVER_TIME_LIMIT, limit=4)
    end = {"exit_code": 143, "verified": None, "why": why, "fault": "", "log": ["third line"], "wrote": True}
    reason = Reason.of(Code.ENDED, **end)
    job = make_job(people["user"], "failed", reason=reason)
    job.events.create(to_state="failed", reason=reason)
    log = "first line\nthird line\n=   EXIT CODE: 15\nPlease see the FAQ page for debugging suggestions\n"
    with open(f"{job.runs.get().run_dir}/output.log", "w", encoding="utf-8") as file:
        file.write(log)
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert page.count("It ran over its time limit of 4 s and was stopped.") == 1
    assert '<a href="#reason">the reason above</a>' in page
    assert "EXIT CODE" not in page.split('id="last-lines"')[1].split("</pre>")[0]
    assert "quoted-lines" not in page


def test_an_error_that_is_not_among_the_last_lines_is_shown_before_them(client_as, people, make_job):
    end = {"exit_code": 3, "verified": None, "why": NOTHING, "fault": "", "log": ["ERROR: no mesh"], "wrote": True}
    job = make_job(people["user"], "failed", reason=Reason.of(Code.ENDED, **end))
    with open(f"{job.runs.get().run_dir}/output.log", "w", encoding="utf-8") as file:
        file.write("ERROR: no mesh\n" + "".join(f"cleaning up {i}\n" for i in range(20)))
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "ERROR: no mesh" in page.split('id="quoted-lines"')[1].split("</pre>")[0]


def edge(ranks, source, target, rate):
    return RankPair(tuple(ranks), source, target, rate, 1.0)


def group(nodes, edges, bottleneck):
    return CandidateGroup(tuple(nodes), bottleneck=Bottleneck(bottleneck), edges=tuple(edges))


@pytest.mark.parametrize(("method", "talks"), [("pattern", True), ("balanced", False)])
def test_pairs_talk_only_where_a_pattern_says_so(client_as, people, make_job, crossbar, method, talks):
    job = make_job(people["user"], "running", method=method, pattern="ring", node_count=3)
    placement = job.placements.get()
    slow = edge([0, 1], "n1", "n2", 20e6)
    edges = (slow, edge([1, 2], "n2", "n3", 99.9e6))
    placement.candidates = [replace(placement.candidates[0], bottleneck=Bottleneck(slow), edges=edges)]
    placement.save()
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert ("every other pair that talks has 99.9 or more." in page) == talks
    assert ("each of the 2 pairs that talk gets" in page) == talks
    assert ('<span class="soft">pattern</span> ring' in page) == talks
    assert "n1–n2 is the bottleneck: 20 of 100 Mbit/s; every other pair" in page


def test_one_pair_is_not_called_each_of_the_pairs():
    assert picture.pairs_that_talk(1, talks=True) == "the only pair that talks"


def test_of_many_equal_pairs_the_slowest_are_drawn_and_the_rest_is_counted():
    nodes = [f"n{i}" for i in range(1, 10)]
    edges = [edge([a, b], nodes[a], nodes[b], 1e6 * (a + b)) for a in range(9) for b in range(a + 1, 9)]
    drawn = picture.picture(group(nodes, edges, edges[0]), {}, talks=False)
    assert (len(drawn.lines), drawn.left_out) == (12, 24)
    whole = picture.picture(group(nodes, edges, edges[0]), {}, talks=True)
    assert (len(whole.lines), whole.left_out) == (36, 0)


def test_the_figure_at_the_bottleneck_does_not_cover_a_node():
    nodes = [f"n{i}" for i in range(1, 10)]
    for a in range(9):
        for b in range(a + 1, 9):
            worst = edge([a, b], nodes[a], nodes[b], 1e6)
            many = [edge([i, (i + 1) % 9], nodes[i], nodes[(i + 1) % 9], 5e6) for i in range(9) if i != a]
            drawn = picture.picture(group(nodes, [*many, worst], worst), {})
            line = next(line for line in drawn.lines if line.bottleneck)
            assert all(abs(dot.x - line.label_x) > 24 or abs(dot.y - line.label_y) > 18 for dot in drawn.dots)


def test_the_map_counts_by_the_rates_that_it_shows(client_as, crossbar):
    Link.objects.update(bandwidth=90e6)
    Link.objects.filter(source__name="n1", target__name="n4").update(bandwidth=49.96e6)
    page = markup(client_as("user").get("/topology/"))
    assert "n1–n4 is the slowest: 50 of 100 Mbit/s; all 6 pairs, each by its worse direction, offer at least" in page
    Link.objects.filter(source__name="n1", target__name="n4").update(bandwidth=49.9e6)
    assert "; 1 of 6 pairs, each by its worse direction, offers less than half of its peak" in markup(
        client_as("user").get("/topology/")
    )


@pytest.mark.parametrize(("share", "step"), [(0.596, "3"), (0.594, "2"), (1.0, "4"), (0.0, "0"), (None, "-none")])
def test_the_colour_of_a_share_is_that_of_the_percent_shown(share, step):
    assert ramp(share) == step


def test_the_form_opens_on_what_the_person_ran_last_else_on_cg(client_as, people, make_job, application, crossbar):
    for slug in ("aaa", "nas-cg", "zzz"):
        Application.objects.create(slug=slug, name=slug.upper(), command=["true"], ranks={"min": 1})
    client = client_as("user")
    assert "<h1>Submit NAS-CG</h1>" in markup(client.get("/submit/"))
    make_job(people["other"], "failed", application=Application.objects.get(slug="zzz"))
    make_job(people["user"], "failed")
    assert "<h1>Submit NAS EP</h1>" in markup(client.get("/submit/"))
    Application.objects.filter(slug="ep").update(enabled=False)
    assert "<h1>Submit NAS-CG</h1>" in markup(client.get("/submit/"))


def test_few_programs_are_tabs_and_many_a_list_to_choose_from(client_as, application):
    client = client_as("user")
    assert 'aria-current="true">NAS EP</a>' in markup(client.get("/submit/?application=ep"))
    for number in range(6):
        Application.objects.create(slug=f"p{number}", name=f"P {number}", command=["true"])
    page = markup(client.get("/submit/?application=ep"))
    assert '<option value="ep" selected>NAS EP</option>' in page
    assert 'aria-current="true">NAS EP</a>' not in page


@pytest.mark.parametrize(
    ("ranks", "first", "words"),
    [
        ({"choices": [1, 2, 4, 8]}, '<option value="4" selected>4</option>', '<option value="8">8</option>'),
        ({"choices": [1, 2, 9]}, '<option value="2" selected>2</option>', '<option value="9">9</option>'),
        ({"min": 1, "max": 64}, 'value="4"', "From 1 to 64. Processes of the program."),
        ({}, 'value="4"', "From 1 to 4096."),
        ({"min": 2, "max": 3}, 'value="3"', "From 2 to 3."),
    ],
)
def test_ranks_have_the_limits_of_the_program_and_nodes_those_of_the_cluster(
    client_as, application, crossbar, ranks, first, words
):
    Application.objects.filter(pk=application.pk).update(ranks=ranks)
    page = markup(client_as("user").get("/submit/?application=ep"))
    field = page.split('for="id_ranks"')[1].split("</div>")[0]
    assert first in field
    assert words in field
    nodes = page.split('for="id_node_count"')[1].split("</div>")[0]
    assert 'max="4"' in nodes
    assert "Empty: as many as the ranks need; grid has 4." in nodes


def test_a_wrong_number_of_nodes_is_refused_with_the_numbers_that_would_do(client_as, application, crossbar):
    Application.objects.filter(pk=application.pk).update(ranks={"min": 1, "max": 64})
    page = markup(client_as("user").post("/submit/", form_of(application, node_count="11")))
    assert "Enter a whole number from 1 to 4." in page
    assert "node_count is" not in page


def test_a_wrong_parameter_is_named_by_its_label_alone(client_as, application, crossbar):
    page = markup(client_as("user").post("/submit/preview", form_of(application, **{"param-seed": "1001"})))
    assert "1001 is not possible. Enter a whole number from 0 to 1,000." in page
    assert "seed is" not in page
    said = json.loads(page.split('id="field-errors" type="application/json">')[1].split("</script>")[0])
    assert list(said) == ["id_param-seed"]


def test_an_own_graph_that_is_not_begun_is_not_an_unreadable_one(client_as, application, crossbar):
    form = form_of(application, pattern="own", method="pattern")
    page = markup(client_as("user").post("/submit/preview", form))
    assert "Write the graph here, in the form that is shown below." in page
    assert "Line 1" not in page


def test_the_preview_of_what_cannot_be_had_speaks_of_no_job_and_shows_no_script(client_as, application, crossbar):
    form = form_of(application, method="communication", pattern="ring", min_bandwidth="95")
    page = markup(client_as("user").post("/submit/preview", form))
    assert "The job would wait until new figures allow it. To start now: lower minimum bandwidth" in page
    assert "cancel it" not in page
    assert "#!/bin/bash" not in page
    assert page.count("<h2>What would be chosen now</h2>") == 1


def test_a_command_comes_back_as_it_was_written(client_as):
    client = client_as("administrator")
    command = "{python} -c \"import os; print(os.environ.get('FOO'))\" --size={size}"
    parameters = '[{"name": "size", "type": "int", "default": 1}]'
    form = {"name": "Own", "slug": "own", "command": command, "parameters": parameters, "enabled": "on"}
    assert client.post("/applications/new", form).status_code == 302
    for address in ("/applications/own/", "/applications/own/edit"):
        assert html.escape(command) in markup(client.get(address))


def test_a_wrong_entry_of_the_parameters_is_pointed_at(client_as):
    form = {
        "name": "Own",
        "slug": "own",
        "command": "true",
        "parameters": '[{"name": "a"}, {"name": "b", "type": "x"}]',
    }
    page = markup(client_as("administrator").post("/applications/new", form))
    assert "Entry 2, type: &#x27;x&#x27; is not possible. Enter choice, int, float, text or bool." in page
    page = markup(client_as("administrator").post("/applications/new", form | {"slug": "Own Ring", "parameters": ""}))
    assert "Enter up to 60 small letters, digits and dashes." in page


def test_the_worked_example_of_the_help_can_be_registered_and_run(client_as, people, tmp_path, crossbar):
    """The script as it is shown, started by mpiexec as the portal would, says what it promises."""
    client = client_as("administrator")
    assert client.post("/applications/new", own_program.FIELDS | {"enabled": "on"}).status_code == 302
    assert Application.objects.get(slug="ring").pattern == "ring"
    page = markup(client.get("/help/"))
    assert html.escape(own_program.SCRIPT) in page
    assert "GRIDPORTAL_RUN_DIR" in page
    tmp_path.joinpath("ring.py").write_text(own_program.SCRIPT, encoding="utf-8")
    mpiexec = Path(sys.executable).parent / "mpiexec"
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py", str(tmp_path / "ring.py"), "5"]
    subprocess.run(command, check=True, timeout=60, env={**os.environ, "GRIDPORTAL_RUN_DIR": str(tmp_path)})
    for lines, hosts, phases in (
        (tmp_path.joinpath("progress.jsonl").read_bytes(), 3, 5),
        (own_program.LINES.encode(), 2, 1),
    ):
        progress_read = progress.read(lines)
        assert (len(progress_read.hosts), len(progress_read.phases), progress_read.garbage) == (hosts, phases, 0)
        assert progress_read.result.verified is True


def test_the_account_does_not_steal_the_focus_and_each_page_offers_signing_out_and_help(client_as):
    client = client_as("user")
    page = markup(client.get("/account/"))
    assert "autofocus" not in page.split('id="password"')[1].split("</form>")[0]
    rail = markup(client.get("/jobs/")).split("<main")[0]
    assert 'action="/sign-out/"' in rail
    assert 'href="/help/#jobs"' in rail
    made = markup(client.post("/account/tokens", {"name": "mine", "days": "3"}))
    assert 'href="/account/" aria-current="page"' in made


def test_the_audit_offers_the_actions_that_occur(client_as):
    client = client_as("operator")
    AuditEvent.objects.create(actor_name="x", action="job.cancel")
    page = markup(client.get("/audit/?action=job"))
    assert '<option value="job.cancel">cancelled a job</option>' in page
    assert '<option value="job" selected>job</option>' in page
    assert '<dd class="mono">job.cancel</dd>' in page


def test_the_api_documentation_leads_back(client_as):
    assert 'href="/jobs/"' in markup(client_as("user").get("/api/docs"))


def test_the_bar_and_the_list_tell_the_same_running_time(client_as, people, make_job):
    """The portal hears of a start and an end a little later; both go by what the backend says."""
    job = make_job(people["user"], "succeeded")
    job.events.all().delete()
    now = timezone.now()
    times = (("queued", -20), ("starting", -12), ("running", -9.5), ("succeeded", -3.5))
    for state, at in times:
        event = job.events.create(to_state=state)
        job.events.filter(pk=event.pk).update(at=now + timedelta(seconds=at))
    begun, over = now - timedelta(seconds=10), now - timedelta(seconds=4.75)
    Job.objects.filter(pk=job.pk).update(started_at=begun, ended_at=over)
    client = client_as("user")
    page = markup(client.get(f"/jobs/{job.pk}/"))
    for state, seconds in (("queued", "8.00 s"), ("starting", "2.00 s"), ("running", "5.25 s")):
        assert f'<span class="key t-{state}"></span>{state} {seconds}</li>' in page
    assert ">5.25</td>" in markup(client.get("/jobs/"))


def test_the_figures_of_lines_that_cross_do_not_cover_each_other():
    nodes = ["a", "b", "c", "d"]
    crossing = [edge([0, 2], "a", "c", 50e6), edge([1, 3], "b", "d", 33e6), edge([0, 1], "a", "b", 99e6)]
    lines = picture.picture(group(nodes, crossing, crossing[1]), {}).lines
    for one in lines:
        for other in lines:
            assert one is other or abs(one.label_x - other.label_x) > 60 or abs(one.label_y - other.label_y) > 15
