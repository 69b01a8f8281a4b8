"""Jobs and applications over REST: submit, watch, cancel, resubmit, preview."""

from __future__ import annotations

import uuid

import pytest

from gridportal.accounts.models import AuditEvent
from scheduling.jobs.models import Application, Job

JSON = "application/json"
ASKED = {"application": "ep", "node_count": 2, "parameters": {"klass": "W"}, "name": "first"}


@pytest.fixture
def enqueued(monkeypatch) -> list[tuple[str, int]]:
    """What the doors hand to the workers."""
    from scheduling import tasks

    seen: list[tuple[str, int]] = []
    monkeypatch.setattr(tasks, "place_soon", lambda job: seen.append(("place_soon", job.pk)))
    monkeypatch.setattr(tasks.cancel_run, "delay_on_commit", lambda pk: seen.append(("cancel_run", pk)))
    return seen


def submit(client, **changes):
    headers = changes.pop("headers", {})
    return client.post("/api/jobs", ASKED | changes, content_type=JSON, headers=headers)


def test_a_job_is_submitted_enqueued_and_audited(client_as, enqueued, application):
    answer = submit(client_as("user"), requirements={"min_bandwidth": 1e6}, seed=7)
    assert answer.status_code == 201
    job = Job.objects.get()
    assert (job.owner.username, job.parameters["klass"], job.seed) == ("user", "W", 7)
    assert answer.json() | {"id": job.pk, "state": "queued", "owner": "user", "name": "first"} == answer.json()
    assert answer.json()["explanation"]
    assert enqueued == [("place_soon", job.pk)]
    assert AuditEvent.objects.filter(action="job.submit", object_id=str(job.pk), actor_name="user").count() == 1


def test_the_same_key_in_body_or_header_makes_one_job(client_as, enqueued, application):
    client, key = client_as("user"), str(uuid.uuid4())
    first = submit(client, request_key=key)
    assert submit(client, request_key=key).json()["id"] == first.json()["id"]
    assert submit(client, headers={"Idempotency-Key": key}).status_code == 200
    words = [submit(client, headers={"Idempotency-Key": "run of monday"}) for _ in range(2)]
    assert [answer.status_code for answer in words] == [201, 200]
    assert Job.objects.count() == 2


def test_a_key_of_another_action_is_refused(client_as, enqueued, application):
    client, key = client_as("user"), {"Idempotency-Key": "monday"}
    job = submit(client, headers=key).json()["id"]
    again = client.post(f"/api/jobs/{job}/resubmit", {}, content_type=JSON, headers=key)
    assert again.status_code == 409
    assert f"This request_key has made job {job} already, by another request" in again.json()["detail"]
    sweep = ASKED | {"sweep": {"klass": ["S", "W"]}}
    assert client.post("/api/sweeps", sweep, content_type=JSON, headers=key).status_code == 409
    of_sweep = {"Idempotency-Key": "tuesday"}
    assert client.post("/api/sweeps", sweep, content_type=JSON, headers=of_sweep).status_code == 201
    assert submit(client, headers=of_sweep).status_code == 409
    assert Job.objects.count() == 3
    other = {"Idempotency-Key": "wednesday"}
    made = [client.post(f"/api/jobs/{job}/resubmit", {}, content_type=JSON, headers=other) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 200]
    assert submit(client, headers=other).status_code == 409


def test_two_keys_that_differ_are_refused(client_as, enqueued, application):
    client, key = client_as("user"), str(uuid.uuid4())
    answer = submit(client, request_key=key, headers={"Idempotency-Key": str(uuid.uuid4())})
    assert answer.status_code == 400
    assert "the key of the header Idempotency-Key" in answer.json()["request_key"][0]
    many = {"do": "resubmit", "jobs": [1], "request_key": key}
    answer = client.post("/api/jobs/many", many, content_type=JSON, headers={"Idempotency-Key": "monday"})
    assert answer.status_code == 400
    assert not Job.objects.exists()
    assert submit(client, request_key=key, headers={"Idempotency-Key": key}).status_code == 201


def test_another_persons_key_gives_nothing_away(client_as, enqueued, application):
    key = str(uuid.uuid4())
    submit(client_as("user"), request_key=key, name="secret plan")
    answer = submit(client_as("other"), request_key=key)
    assert answer.status_code == 400
    assert "secret plan" not in answer.content.decode()
    assert submit(client_as("user"), headers={"Idempotency-Key": "monday"}).status_code == 201
    assert submit(client_as("other"), headers={"Idempotency-Key": "monday"}).status_code == 201


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"application": "nope"}, "application"),
        ({"node_count": 0}, "node_count"),
        ({"node_count": 3}, "node_count"),
        ({"node_count": "many"}, "node_count"),
        ({"parameters": {"klass": "Z"}}, "klass"),
        ({"parameters": {"unknown": 1}}, "parameters"),
        ({"parameters": ["klass"]}, "parameters"),
        ({"method": "magic"}, "method"),
        ({"pattern": "knot"}, "pattern"),
        ({"candidates": 99}, "candidates"),
        ({"time_limit": 0}, "time_limit"),
        ({"request_key": "abc"}, "request_key"),
        ({"requirements": {"min_cpu": 2}}, "requirements"),
        ({"requirements": {"gpu": 1}}, "requirements"),
        ({"cluster": "elsewhere"}, "cluster"),
        ({"name": "x" * 121}, "name"),
        ({"name": "two\nlines"}, "name"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_written(
    client_as, enqueued, application, changes, field
):
    answer = submit(client_as("user"), **changes)
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert Job.objects.count() == 0
    assert enqueued == []


def test_text_that_is_no_json_is_refused(client_as, application):
    answer = client_as("user").post("/api/jobs", "{not json", content_type=JSON)
    assert answer.status_code == 400


def test_a_running_job_is_cancelled_once_and_the_worker_told(client_as, enqueued, make_job, people):
    job = make_job(people["user"], "running")
    client = client_as("user")
    assert client.post(f"/api/jobs/{job.pk}/cancel").json()["state"] == "cancelling"
    assert client.post(f"/api/jobs/{job.pk}/cancel").status_code == 200
    assert AuditEvent.objects.filter(action="job.cancel").count() == 1
    assert ("cancel_run", job.pk) in enqueued


def test_a_queued_job_is_cancelled_at_once_by_an_operator(client_as, enqueued, make_job, people):
    job = make_job(people["user"])
    answer = client_as("operator").post(f"/api/jobs/{job.pk}/cancel").json()
    assert (answer["state"], answer["cancel_requested_by"]) == ("cancelled", "operator")
    assert AuditEvent.objects.get(action="job.cancel").actor_name == "operator"


def test_a_finished_job_stays_as_it_is_when_cancelled(client_as, enqueued, make_job, people):
    job = make_job(people["user"], "succeeded")
    assert client_as("user").post(f"/api/jobs/{job.pk}/cancel").json()["state"] == "succeeded"
    assert enqueued == []


def test_a_job_is_resubmitted_with_what_is_to_differ(client_as, enqueued, make_job, people):
    old = make_job(people["user"], "failed", seed=5, name="again")
    answer = client_as("operator").post(f"/api/jobs/{old.pk}/resubmit", {"node_count": 4}, content_type=JSON)
    assert answer.status_code == 201
    new = Job.objects.get(pk=answer.json()["id"])
    assert (new.owner.username, new.node_count, new.seed, new.name) == ("operator", 4, 5, "again")
    assert new.resubmitted_from == old
    assert new.parameters == old.parameters


def test_one_job_tells_its_whole_story(client_as, make_job, people):
    job = make_job(people["user"], "succeeded")
    client = client_as("user")
    base = f"/api/jobs/{job.pk}"
    told = client.get(base).json()
    assert (told["nodes"], told["verified"], told["seconds"]) == (["n1", "n2"], True, 1.5)
    assert told["runs"][0]["hosts"] == ["n1", "n2"]
    assert [event["to_state"] for event in client.get(f"{base}/events").json()] == ["queued", "succeeded"]
    assert client.get(f"{base}/script").json()["script"].startswith("#!/bin/bash")
    assert client.get(f"{base}/placement").json()["candidates"][0]["nodes"] == ["n1", "n2"]
    assert client.get(f"{base}/phases").json() == []


def test_the_log_is_read_on_from_where_one_was(client_as, make_job, people):
    job = make_job(people["user"], "succeeded")
    client = client_as("user")
    first = client.get(f"/api/jobs/{job.pk}/log?offset=0&limit=11").json()
    assert first == {"text": "first line\n", "offset": 0, "end": 11, "complete": False}
    rest = client.get(f"/api/jobs/{job.pk}/log?offset={first['end']}").json()
    assert (rest["text"], rest["complete"]) == ("second line\nthird line\n", True)
    assert client.get(f"/api/jobs/{job.pk}/log?offset=99999999999999").json()["text"] == ""
    assert list(client.get(f"/api/jobs/{job.pk}/log?offset=-1").json()) == ["offset"]


def test_a_job_without_a_run_says_so(client_as, make_job, people):
    job = make_job(people["user"])
    answer = client_as("user").get(f"/api/jobs/{job.pk}/log")
    assert answer.status_code == 404
    assert "no run yet" in answer.json()["detail"]


def test_the_list_is_filtered_ordered_and_paged(client_as, make_job, people):
    jobs = [make_job(people["user"], name=f"job {number}") for number in range(5)]
    make_job(people["other"], "failed", name="of other")
    client = client_as("manager")
    assert client.get("/api/jobs").json()["count"] == 6
    page = client.get("/api/jobs?owner=user&ordering=id&limit=2&offset=2").json()
    assert (page["count"], [job["id"] for job in page["results"]]) == (5, [jobs[2].pk, jobs[3].pk])
    assert [job["name"] for job in client.get("/api/jobs?state=failed").json()["results"]] == ["of other"]
    assert client.get("/api/jobs?q=job+3").json()["results"][0]["name"] == "job 3"
    assert client.get("/api/jobs?start=2001-01-01T00:00:00&until=2002-01-01T00:00:00").json()["count"] == 0
    assert client.get("/api/jobs?state=dreaming").status_code == 400


def test_a_page_never_holds_more_than_500(client_as, make_job, people):
    Job.objects.bulk_create(
        Job(
            owner=people["user"],
            application=make_job(people["user"]).application,
            node_count=1,
            ranks=1,
            request_key=uuid.uuid4(),
        )
        if number == 0
        else Job(owner=people["user"], application_id=Job.objects.first().application_id, node_count=1, ranks=1)
        for number in range(510)
    )
    assert len(client_as("user").get("/api/jobs?limit=100000").json()["results"]) == 500
    assert client_as("user").get("/api/jobs?offset=99999999999999999999").json()["results"] == []


def test_the_list_takes_the_same_number_of_queries_for_any_number_of_jobs(
    client_as, make_job, people, django_assert_max_num_queries
):
    for _ in range(30):
        make_job(people["user"], "succeeded")
    client = client_as("user")
    with django_assert_max_num_queries(8):
        assert len(client.get("/api/jobs").json()["results"]) == 30


def test_a_preview_writes_nothing(client_as, application, enqueued):
    answer = client_as("user").post("/api/preview", ASKED, content_type=JSON)
    assert answer.status_code == 200
    assert "#!/bin/bash" in answer.json()["script"]
    assert answer.json()["problem"]
    assert Job.objects.count() == 0
    assert enqueued == []


def test_an_administrator_registers_and_changes_an_application(client_as, application):
    client = client_as("administrator")
    fields = {"slug": "hello", "name": "Hello", "command": ["echo", "{word}"]}
    wrong = client.post("/api/applications", fields, content_type=JSON)
    assert (wrong.status_code, list(wrong.json())) == (400, ["command"])
    fields["parameters"] = [{"name": "word", "type": "text", "default": "x"}]
    assert client.post("/api/applications", fields, content_type=JSON).status_code == 201
    again = client.post("/api/applications", fields, content_type=JSON)
    assert (again.status_code, list(again.json())) == (400, ["slug"])
    twin = client.post("/api/applications", fields | {"slug": "twin", "name": "HELLO"}, content_type=JSON)
    assert (twin.status_code, list(twin.json())) == (400, ["name"])
    changed = client.patch("/api/applications/hello", {"enabled": False}, content_type=JSON)
    assert changed.json()["enabled"] is False
    assert submit(client, application="hello", parameters={}).status_code == 400
    actions = list(AuditEvent.objects.filter(object_type="application").values_list("action", flat=True))
    assert actions == ["application.change", "application.register"]


def test_an_unknown_application_is_told_those_that_can_run(client_as, application):
    for number in range(23):
        Application.objects.create(slug=f"p{number:02}", name=f"P {number}", command=["true"])
    Application.objects.create(slug="a-switched-off", name="Off", command=["true"], enabled=False)
    Application.objects.create(slug="a-of-a-log", name="Of a log", command=[])
    answer = client_as("user").post("/api/jobs", {"application": "nope"}, content_type="application/json")
    (sentence,) = answer.json()["application"]
    assert sentence.startswith("application is 'nope'; accepted is one of ep, p00, p01")
    assert sentence.endswith("p18 and 4 more.")


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        ({"cluster": "nope"}, "cluster is 'nope'; accepted is"),
        ({"owner": "nope"}, "owner is 'nope'; accepted is the name of a person"),
        ({"application": "nope"}, "application is 'nope'; accepted is"),
        ({"state": "nope"}, "state is 'nope'; accepted is"),
    ],
)
def test_a_filter_that_names_what_is_not_there_is_refused(client_as, make_job, people, filters, sentence):
    make_job(people["user"])
    answer = client_as("operator").get("/api/jobs", filters)
    assert answer.status_code == 400
    assert sentence in answer.content.decode()


def test_the_cluster_is_a_filter_over_rest(client_as, make_job, people):
    job = make_job(people["user"])
    make_job(people["user"], cluster="gone-since")
    for cluster, expected in ((job.cluster, 1), ("gone-since", 1)):
        assert client_as("user").get("/api/jobs", {"cluster": cluster}).json()["count"] == expected
    assert client_as("user").get("/api/jobs", {"owner": "no-such-person"}).json()["count"] == 0


@pytest.mark.parametrize("value", [True, False, [True]])
@pytest.mark.parametrize("field", ["ranks", "node_count", "time_limit"])
def test_true_is_no_number(client_as, application, field, value):
    answer = submit(client_as("user"), **{field: value})
    assert answer.status_code == 400
    assert "accepted is a whole number" in answer.content.decode()


def test_true_is_no_number_inside_either_and_a_text_of_a_number_is_one(client_as, enqueued, application):
    answer = submit(client_as("user"), requirements={"min_cpu": True})
    assert answer.status_code == 400
    assert "requirements.min_cpu is true; accepted is a number" in answer.content.decode()
    made = submit(client_as("user"), node_count="2", parameters={"seed": "7"})
    assert made.status_code == 201, made.content
    assert (made.json()["node_count"], made.json()["parameters"]["seed"]) == (2, 7)


def test_who_may_not_submit_is_told_the_permission(client_as, application):
    answer = submit(client_as("manager"))
    assert answer.status_code == 403
    assert (
        "Your role manager does not allow this: it needs the permission scheduling.submit_job."
        in answer.json()["detail"]
    )
