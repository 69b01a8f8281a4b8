"""Experiments over REST: everybody reads them, operators and administrators start, cancel and resume them."""

from __future__ import annotations

import csv
import io

import pytest

from gridportal.accounts.models import AuditEvent
from gridportal.base.reasons import Code, Reason
from gridportal.experiments import registry, selectors, tasks
from gridportal.experiments.models import Experiment
from tests.gridportal.experiments import recorded

pytestmark = pytest.mark.django_db
JSON = "application/json"
ROLES = ("anonymous", "user", "manager", "operator", "administrator")
READS = (401, 200, 200, 200, 200)
WRITES = (401, 403, 403)


@pytest.fixture(autouse=True)
def enqueued(monkeypatch):
    """How often the doors asked the workers to look."""
    seen = []
    monkeypatch.setattr(tasks.tend_experiments, "delay_on_commit", lambda: seen.append(1))
    return seen


@pytest.fixture(autouse=True)
def base(tmp_path, monkeypatch):
    """A folder of its own for the experiments that are started."""
    monkeypatch.setattr(selectors, "base", lambda: tmp_path / "experiments")


@pytest.fixture
def row(tmp_path):
    """A slowdown experiment that has ended, with its folder."""
    folder = tmp_path / "kept"
    result = recorded.keep("slowdown", folder)
    count = len(recorded.trials("slowdown"))
    return Experiment.objects.create(
        name="slowdown", folder=str(folder), state="done", result=result, done=count, of=count
    )


@pytest.mark.parametrize(
    ("method", "address", "state", "codes"),
    [
        ("get", "/api/experiments", "done", READS),
        ("get", "/api/experiments/{pk}", "done", READS),
        ("get", "/api/experiments/{pk}/trials.csv", "done", READS),
        ("post", "/api/experiments", "done", (*WRITES, 201, 201)),
        ("post", "/api/experiments/{pk}/cancel", "queued", (*WRITES, 200, 200)),
        ("post", "/api/experiments/{pk}/resume", "stopped", (*WRITES, 200, 200)),
    ],
)
def test_each_role_may_do_what_it_may_on_the_pages(client_as, row, enqueued, method, address, state, codes):
    Experiment.objects.filter(pk=row.pk).update(state=state)
    for role, code in zip(ROLES, codes, strict=True):
        Experiment.objects.filter(pk=row.pk).update(state=state)
        body = {} if method == "get" else {"data": {"name": "telemetry", "seed": ROLES.index(role)}}
        kind = {} if method == "get" else {"content_type": JSON}
        answer = getattr(client_as(role), method)(address.format(pk=row.pk), **body, **kind)
        assert answer.status_code == code, (role, answer.content)
    assert len(enqueued) == sum(code in (200, 201) for code in codes) * (method == "post")


def test_the_list_has_findings_and_one_has_its_summary_too(client_as, row):
    listed = client_as("user").get("/api/experiments").json()
    listed = listed.get("results", listed) if isinstance(listed, dict) else listed
    one = client_as("user").get(f"/api/experiments/{row.pk}").json()
    assert [each["id"] for each in listed] == [row.pk]
    assert (one["name"], one["state"], one["started_by"], one["done"]) == ("slowdown", "done", None, row.of)
    assert one["finding"] == listed[0]["finding"] != ""
    assert "result" not in listed[0]
    assert one["result"] == row.result


def test_the_csv_is_that_of_the_page(client_as, row):
    answer = client_as("user").get(f"/api/experiments/{row.pk}/trials.csv")
    page = client_as("user").get(f"/experiments/{row.pk}/trials.csv")
    assert answer["Content-Type"].startswith("text/csv")
    assert answer.content == page.content
    assert len(list(csv.DictReader(io.StringIO(answer.content.decode())))) == len(recorded.trials("slowdown"))


def test_one_is_started_cancelled_and_resumed(client_as):
    client = client_as("operator")
    made = client.post("/api/experiments", {"name": "slowdown", "seed": 7, "full": True}, content_type=JSON).json()
    address = f"/api/experiments/{made['id']}"
    assert (made["state"], made["seed"], made["full"], made["started_by"]) == ("queued", 7, True, "operator")
    assert client.post(f"{address}/cancel").json()["state"] == "stopped"
    assert client.post(f"{address}/resume").json()["state"] == "queued"
    actions = AuditEvent.objects.filter(actor_name="operator").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["experiment.start", "experiment.cancel", "experiment.resume"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "nothing"}, "name"),
        ({}, "name"),
        ({"name": "slowdown", "seed": -1}, "seed"),
        ({"name": "slowdown", "seed": "many"}, "seed"),
        ({"name": "slowdown", "full": "perhaps"}, "full"),
        ({"name": "slowdown", "foreign": True}, "foreign"),
        ({"name": "skeletons", "foreign": True, "only": "cg"}, "only"),
    ],
)
def test_what_cannot_be_started_is_said_beside_its_field(client_as, body, field):
    answer = client_as("operator").post("/api/experiments", body, content_type=JSON)
    assert (answer.status_code, list(answer.json())) == (400, [field])
    assert not Experiment.objects.exists()


def test_programs_of_others_are_asked_for_and_told(client_as):
    asked = {"name": "skeletons", "foreign": True, "only": "halo"}
    made = client_as("operator").post("/api/experiments", asked, content_type=JSON).json()
    assert (made["foreign"], made["only"], made["of"]) == (True, "halo", 13)
    assert str(Experiment.objects.get()) == "skeletons, seed 1, foreign, only halo"


def test_what_cannot_be_done_is_said_in_words(client_as, row):
    client = client_as("operator")
    refused = client.post(f"/api/experiments/{row.pk}/cancel")
    assert refused.status_code == 400
    assert "this one is done" in refused.json()["experiment"][0]
    again = {"name": registry.names()[0], "seed": 3}
    assert client.post("/api/experiments", again, content_type=JSON).status_code == 201
    assert list(client.post("/api/experiments", again, content_type=JSON).json()) == ["seed"]
    assert client.get("/api/experiments/999").status_code == 404


def test_why_one_failed_is_a_sentence_on_its_page_and_a_code_beside_it_over_rest(client_as, row):
    reason = Reason.of(Code.EXPERIMENT_FAILED, exit_code=1, error="The Grid could not be built: no tc.")
    Experiment.objects.filter(pk=row.pk).update(state="failed", reason=reason)
    found = client_as("user").get(f"/api/experiments/{row.pk}").json()
    assert (found["reason"], found["reason_code"]) == ("The Grid could not be built: no tc.", "experiment_failed")
    assert found["reason_facts"] == {"exit_code": 1, "error": "The Grid could not be built: no tc."}
    assert "The Grid could not be built: no tc." in client_as("user").get(row.get_absolute_url()).content.decode()
