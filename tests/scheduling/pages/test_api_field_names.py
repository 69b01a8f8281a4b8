"""A sentence of REST names the field that the caller sent."""

from __future__ import annotations

import pytest

from monitoring.telemetry.services import sweeps
from scheduling.notices.models import Notice

pytestmark = pytest.mark.django_db
GRAPH = {"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 9}]}


def send(client, path, document, method="post"):
    return getattr(client, method)(path, document, content_type="application/json")


@pytest.mark.parametrize(
    ("sent", "field", "sentence"),
    [
        (
            {"ranks": 4, "pattern": "mesh-2d:3x3"},
            "ranks",
            "ranks is 4; accepted is 9, the number of ranks of the pattern",
        ),
        ({"node_count": 4, "pattern": "mesh-2d:3x3"}, "node_count", "node_count is 4; accepted is 9"),
        (
            {"ranks": 2, "pattern_graph": {"x": 1}},
            "pattern_graph",
            "accepted is an object with the lists nodes and links",
        ),
        ({"ranks": 2, "pattern_graph": GRAPH}, "pattern_graph.links[0].target", "is 9; accepted is a rank from 0 to 1"),
        ({"ranks": 2, "pattern_graph": {"nodes": [], "links": []}}, "pattern_graph.nodes", "is 0; accepted is"),
    ],
)
def test_a_job(client_as, application, sent, field, sentence):
    answer = send(client_as("user"), "/api/jobs", {"application": application.slug, **sent})
    assert answer.status_code == 400
    assert [*answer.json()] == [field]
    assert sentence in answer.json()[field][0]


def test_more_ranks_than_nodes(client_as, application, fake_grid):
    asked = {"application": application.slug, "ranks": 8, "ranks_per_node": 1}
    sweeps.measure()
    sentence = "ranks is 8; accepted is at most 4, for the cluster has 4 nodes."
    assert send(client_as("user"), "/api/jobs", asked).json() == {"ranks": [sentence]}


@pytest.mark.parametrize(
    ("axes", "start"), [({"x": [1, 2]}, "sweep is 'x'; accepted is one of"), ({}, "sweep is empty")]
)
def test_a_sweep(client_as, application, axes, start):
    answer = send(client_as("user"), "/api/sweeps", {"application": application.slug, "sweep": axes})
    assert answer.json()["sweep"][0].startswith(start)


def test_a_share(client_as, people, make_job):
    job = make_job(people["user"], "succeeded")
    answer = send(client_as("user"), f"/api/jobs/{job.pk}/shares", {"whom": "nobody"})
    assert answer.json() == {"whom": ["whom is 'nobody'; accepted is the user name of another person."]}


def test_a_change_of_a_budget_says_what_is_missing(client_as):
    manager = client_as("manager")
    send(client_as("administrator"), "/api/projects", {"name": "alpha"})
    new = {"project": "alpha", "node_hours": 5, "begins": "2026-01-01", "ends": "2026-12-31", "reason": "for tests"}
    where = f"/api/budgets/{send(manager, '/api/budgets', new).json()['id']}"
    answer = send(manager, where, {"node_hours": 7}, "patch")
    assert answer.json() == {"reason": ["reason is empty; accepted is a reason of 3 to 500 characters."]}
    answer = send(manager, where, {"node_hours": 7, "reason": "for tests"}, "patch")
    assert answer.json()["version"][0].startswith("version is empty; accepted is the version of the budget")


def test_new_names_of_projects_and_people(client_as, people):
    administrator = client_as("administrator")
    assert send(administrator, "/api/projects", {"name": "ALPHA"}).status_code == 201
    for name, accepted in (("-1", "begins with a letter"), ("NaN", "begins with"), ("alpha", "there is ALPHA")):
        answer = send(administrator, "/api/projects", {"name": name})
        assert (answer.status_code, accepted in answer.json()["name"][0]) == (400, True), name
    for name in ("-1", "NaN", "null"):
        answer = send(administrator, "/api/people", {"username": name, "role": "user"})
        assert (answer.status_code, "begins with a letter" in answer.json()["username"][0]) == (400, True), name


def test_names_that_are_there_stay(client_as, people):
    from scheduling.jobs.project_models import Project

    Project.objects.create(name="-1")
    Project.objects.create(name="nan")
    administrator = client_as("administrator")
    assert [row["name"] for row in administrator.get("/api/projects").json()["results"]] == ["-1", "nan"]
    answer = send(administrator, "/api/projects/nan", {"description": "kept"}, "patch")
    assert (answer.status_code, answer.json()["description"]) == (200, "kept")


def test_a_notice_names_its_project(client_as, people):
    from scheduling.jobs.project_models import Project

    Notice.objects.create(person=people["user"], kind="budget", project=Project.objects.create(name="ocean"))
    assert client_as("user").get("/api/notices").json()["results"][0]["project"] == "ocean"


def test_a_notice_names_its_program(client_as, people, application):
    Notice.objects.create(person=people["user"], kind="model", application=application)
    told = client_as("user").get("/api/notices").json()["results"][0]
    assert (told["application"], told["job"]) == (application.slug, None)
