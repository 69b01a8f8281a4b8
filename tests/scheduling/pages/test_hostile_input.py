"""Whatever is sent, the answer is a page or a document in words: never a failure of the portal."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from scheduling.jobs.models import Job
from tests.markup import markup
from tests.scheduling.pages.test_pages import crossbar

__all__ = ["crossbar"]

JSON = "application/json"
HUGE = 10**400
TWO = [{"id": 0}, {"id": 1}]
GRAPHS = {
    "deep": "[" * 20_000,
    "long number": "1" * 5000,
    "huge weight": json.dumps({"nodes": TWO, "links": [{"source": 0, "target": 1, "weight": 10**290}]}),
    "infinite sum": json.dumps({"nodes": TWO, "links": [{"source": 0, "target": 1, "weight": 1e308}] * 2}),
    "not a number": '{"nodes": [0, 1], "links": [{"source": 0, "target": 1, "weight": NaN}]}',
    "half a letter": '{"nodes": [0, 1], "links": [], "graph": {"name": "\\ud800"}}',
}
MOMENTS = (
    "start=9999-12-31T23:59:59-14:00",
    "until=0001-01-01T00:00:00%2B01:00",
    "until=0001-01-01",
    "start=1969-12-31",
)


def form(**changes: Any) -> dict[str, Any]:
    fields = {
        "request_key": str(uuid.uuid4()),
        "application": "ep",
        "node_count": "2",
        "method": "pattern",
        "pattern": "own",
        "candidates": "3",
        "seed": "0",
        "param-klass": "S",
        "param-seed": "1",
        "param-note": "",
    }
    return fields | changes


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_hostile_graph_is_said_beside_its_field(client_as, application, crossbar, graph):
    answer = client_as("user").post("/submit/", form(pattern_graph=graph))
    assert answer.status_code == 422
    assert len(answer.context["form"].errors["pattern_graph"]) == 1
    assert client_as("user").post("/submit/preview", form(pattern_graph=graph)).status_code == 200
    assert not Job.objects.exists()


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("address", ["/api/jobs", "/api/preview"])
def test_a_hostile_graph_is_refused_by_the_api(client_as, application, address, graph):
    body = '{"application": "ep", "node_count": 2, "method": "pattern", "pattern_graph": ' + graph + "}"
    answer = client_as("user").post(address, body, content_type=JSON)
    assert answer.status_code == 400
    assert len(answer.content) < 1000


@pytest.mark.parametrize(
    "field", ["node_count", "candidates", "seed", "time_limit", "min_bandwidth", "min_cpu", "compute_priority"]
)
@pytest.mark.parametrize("number", [HUGE, -HUGE, 10**299, "9" * 5000, "1e999", "nan", True])
def test_a_number_beyond_all_bounds_is_refused_by_the_api(client_as, application, field, number):
    wish = field in ("min_bandwidth", "min_cpu", "compute_priority")
    body = {"application": "ep", "node_count": 2} | ({"requirements": {field: number}} if wish else {field: number})
    answer = client_as("user").post("/api/jobs", body, content_type=JSON)
    assert answer.status_code == 400 or (number is True and answer.status_code == 201)
    assert len(answer.content) < 2000


@pytest.mark.parametrize("query", MOMENTS)
def test_a_date_at_the_ends_of_the_calendar_is_said_and_narrows_nothing(client_as, people, make_job, crossbar, query):
    job = make_job(people["user"])
    client = client_as("user")
    assert client.get(f"/api/jobs?{query}").status_code == 400
    page = client.get(f"/jobs/?{query}")
    assert f"/jobs/{job.pk}/" in markup(page)
    assert "Enter a date and time from 1970 to 2199" in markup(page)
    refused = client.get(f"/jobs.csv?{query}")
    assert (refused.status_code, "from 1970 to 2199" in refused.content.decode()) == (400, True)
    for address in ("/topology/nodes/n1/", "/topology/links/n1/n2/"):
        assert client.get(f"{address}?{query}").status_code == 200


@pytest.mark.parametrize("query", [query.replace("start", "since") for query in MOMENTS])
def test_such_a_date_does_no_harm_to_the_audit_trail(client_as, query):
    client = client_as("operator")
    assert client.get(f"/audit/?{query}").status_code == 200
    assert client.get(f"/audit.csv?{query}").status_code == 400
    assert client.get(f"/api/audit?{query}").status_code in (200, 400)


@pytest.mark.parametrize("query", ["offset=99999999999999999999999", "limit=" + "9" * 5000, "offset=-1", "limit=x"])
def test_an_offset_beyond_all_bounds_is_an_answer(client_as, people, make_job, query):
    job = make_job(people["user"], "succeeded")
    client = client_as("user")
    assert client.get(f"/api/jobs?{query}").status_code == (200 if query.startswith("offset=9") else 400)
    assert client.get(f"/api/jobs/{job.pk}/log?{query}").status_code in (200, 400)
    assert client.get(f"/jobs/{job.pk}/log/tail?{query}").status_code in (200, 400)


@pytest.mark.parametrize(
    "address", ["/jobs/{}/", "/jobs/{}/live", "/api/jobs/{}", "/topology/?job={}", "/submit/?from={}"]
)
@pytest.mark.parametrize("number", ["9" * 17, "9" * 30, "9" * 5000])
def test_a_number_that_no_job_has_is_answered_in_words(client_as, application, address, number):
    assert client_as("user").get(address.format(number)).status_code in (200, 404)


@pytest.mark.parametrize("end", ["min", "max"])
def test_a_bound_that_fits_no_float_is_said_beside_its_field(client_as, end):
    listed = json.dumps([{"name": "n", "type": "int", end: HUGE}])
    body = f'{{"slug": "x", "name": "X", "command": ["x"], "parameters": {listed}}}'
    client = client_as("administrator")
    assert client.post("/api/applications", body, content_type=JSON).status_code == 400
    answer = client.post("/applications/new", {"name": "X", "slug": "x", "command": "x", "parameters": listed})
    assert answer.status_code == 422
    assert len(answer.context["form"].errors["parameters"]) == 1


@pytest.mark.parametrize("slug", ["nope", ""])
def test_a_form_for_an_application_that_is_not_there_is_a_page_in_words(client_as, application, crossbar, slug):
    answer = client_as("user").post("/submit/", form(application=slug))
    assert answer.status_code == 404
    assert "No application has this name" in markup(answer)
    assert client_as("user").get("/submit/?application=nope").status_code == 404
    assert not Job.objects.exists()


def test_an_application_keeps_its_address(client_as, application):
    answer = client_as("administrator").patch("/api/applications/ep", {"slug": "pe"}, content_type=JSON)
    assert (answer.status_code, list(answer.json())) == (400, ["slug"])
    assert client_as("administrator").get("/api/applications/ep").status_code == 200
    same = {"slug": "ep", "name": "New name"}
    assert client_as("administrator").patch("/api/applications/ep", same, content_type=JSON).status_code == 200
