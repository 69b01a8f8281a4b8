"""What strangers and clever people try: shells, templates, other people's jobs, paths, forged fields and requests."""

from __future__ import annotations

import shlex

import pytest
from django.test import Client

from scheduling.jobs.models import Job
from scheduling.runs.models import Run

JSON = "application/json"
NASTY = (
    "; rm -rf /tmp/x",
    "$(touch /tmp/x)",
    "`id`",
    "a' && id #",
    '" | id',
    "{x.__class__}",
    "{python}",
    "%(x)s ${HOME}",
    "<script>alert(1)</script>",
)


@pytest.mark.parametrize("text", NASTY)
def test_a_parameter_reaches_the_script_as_one_quoted_word(client_as, application, text):
    body = {"application": "ep", "node_count": 2, "parameters": {"note": text}}
    answer = client_as("user").post("/api/preview", body, content_type=JSON)
    assert answer.status_code == 200
    script = answer.json()["script"]
    words = [shlex.split(line, comments=False) for line in script.splitlines() if "--note" in line]
    assert any(line[line.index("--note") + 1] == text for line in words)
    assert shlex.quote(text) in script


@pytest.mark.parametrize("text", ["two\nlines", "nul\0", "escape\x1b[2J", "-rf", "x" * 201])
def test_text_that_no_parameter_takes_is_refused(client_as, application, text):
    body = {"application": "ep", "node_count": 2, "parameters": {"note": text}}
    answer = client_as("user").post("/api/jobs", body, content_type=JSON)
    assert (answer.status_code, list(answer.json())) == (400, ["note"])


@pytest.mark.parametrize("text", ["x\nid", "$(id)", "'; id; '", "{x.__class__}"])
def test_a_job_name_never_reaches_the_script_unquoted(client_as, application, text):
    body = {"application": "ep", "node_count": 2, "name": text}
    answer = client_as("user").post("/api/preview", body, content_type=JSON)
    script = answer.json().get("script", "")
    code = "\n".join(line for line in script.splitlines() if not line.startswith("#"))
    assert answer.status_code == 400 or text not in code.replace(shlex.quote(text), "")


def test_fields_that_are_not_the_callers_to_say_are_refused(client_as, application, people):
    forged = {
        "owner": people["administrator"].pk,
        "owner_id": people["administrator"].pk,
        "state": "succeeded",
        "reason": "because",
        "attempts": 9,
        "id": 4711,
        "resubmitted_from": 1,
        "lease_holder": "me",
    }
    body = {"application": "ep", "node_count": 2} | forged
    answer = client_as("user").post("/api/jobs", body, content_type=JSON)
    assert answer.status_code == 400
    (sentence,) = answer.json()["owner"]
    assert sentence.startswith("owner, owner_id, state,")
    assert "is not known here; accepted are application, parameters, node_count" in sentence
    assert not Job.objects.exists()


def test_a_requirement_that_nobody_knows_is_named(client_as, application):
    body = {"application": "ep", "node_count": 2, "requirements": {"min_cpus": 2}}
    answer = client_as("user").post("/api/jobs", body, content_type=JSON)
    assert answer.json()["requirements"]["min_cpus"][0].startswith("min_cpus is not known here; accepted are min_band")


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ({"pins": {"0": "n1"}}, "pins belongs in specification."),
        ({"require": {"site": "utk"}}, "require belongs in requirements."),
        ({"requirements": {"mem_gb": ">=16"}}, 'mem_gb belongs in require. An example: {"min_cpu": 0.5, "require": {'),
    ],
)
def test_what_stands_in_the_wrong_object_is_said_to_belong_elsewhere(client_as, application, more, hint):
    answer = client_as("user").post("/api/jobs", {"application": "ep", "node_count": 2, **more}, content_type=JSON)
    assert answer.status_code == 400
    said = answer.json()
    while isinstance(said, dict):
        ((_, said),) = said.items()
    assert hint in said[0]


def test_nobody_becomes_more_than_they_are_through_the_api(client_as, people):
    body = {"username": "user", "role": "administrator", "is_superuser": True}
    for method in ("post", "put", "patch"):
        assert getattr(client_as("user"), method)("/api/me", body, content_type=JSON).status_code == 405
    body = {"name": "t", "user": people["administrator"].pk, "digest": "0" * 64, "prefix": "x"}
    answer = client_as("user").post("/api/tokens", body, content_type=JSON)
    assert answer.status_code == 400
    assert not people["administrator"].tokens.exists()
    answer = client_as("user").post("/api/tokens", {"name": "t"}, content_type=JSON)
    assert answer.json()["token"].startswith(answer.json()["prefix"])
    assert not people["administrator"].tokens.exists()


@pytest.mark.parametrize(
    "query",
    [
        "",
        "owner=user",
        "q=zanzibar",
        "q=user",
        "state=running",
        "application=ep",
        "ordering=owner",
        "method=pattern",
        "owner__username=user",
        "limit=500&offset=0",
        "id=1",
    ],
)
def test_no_filter_shows_other_peoples_jobs(client_as, make_job, people, query):
    make_job(people["user"], "running", name="zanzibar-plan")
    other = client_as("other")
    assert other.get(f"/api/jobs?{query}").json()["results"] == []
    assert "zanzibar-plan" not in other.get(f"/jobs/?{query}").content.decode()
    assert b"zanzibar-plan" not in other.get(f"/jobs.csv?{query}").getvalue()


def test_a_job_of_another_cannot_be_told_from_one_that_is_not_there(client_as, make_job, people):
    job = make_job(people["user"], "running", name="hidden")
    theirs, none = (client_as("other").get(f"/api/jobs/{pk}") for pk in (job.pk, job.pk + 1))
    assert theirs.status_code == none.status_code == 404
    assert theirs.json() == none.json()


@pytest.mark.parametrize("place", ["/etc", "/", "..", "../..", "/proc/self", ""])
def test_a_run_directory_elsewhere_is_never_read(client_as, make_job, people, place, tmp_path):
    job = make_job(people["user"], "succeeded")
    Run.objects.filter(job=job).update(run_dir=place)
    answer = client_as("user").get(f"/api/jobs/{job.pk}/log?offset=0").json()
    assert (answer["text"], answer["end"]) == ("", 0)
    assert client_as("user").get(f"/jobs/{job.pk}/log/tail?offset=0").json()["text"] == ""


def test_a_link_that_the_program_put_in_place_of_its_log_is_not_followed(client_as, make_job, people, tmp_path):
    from pathlib import Path

    secret = tmp_path / "secret"
    secret.write_text("the secret")
    job = make_job(people["user"], "succeeded")
    log = Path(job.runs.get().run_dir) / "output.log"
    log.unlink()
    log.symlink_to(secret)
    client = client_as("user")
    for address in (f"/api/jobs/{job.pk}/log?offset=0", f"/jobs/{job.pk}/log/tail?offset=0", f"/jobs/{job.pk}/log"):
        answer = client.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert b"the secret" not in body, address


@pytest.mark.parametrize(
    "path", ["/api/jobs/../../etc/passwd", "/api/jobs/1%2f..%2flog", "/api/jobs/1/log/..%2f..%2fx"]
)
def test_addresses_do_not_walk_out_of_the_api(client_as, make_job, people, path):
    make_job(people["user"], "succeeded")
    assert client_as("user").get(path).status_code == 404


@pytest.mark.parametrize("address", ["/jobs/", "/jobs/{pk}/", "/jobs/{pk}/live"])
def test_a_job_name_is_escaped_on_every_page(client_as, make_job, people, address):
    job = make_job(people["user"], "failed", name="<script>alert(1)</script>")
    page = client_as("user").get(address.format(pk=job.pk)).content.decode()
    assert "<script>alert(1)" not in page


def test_a_log_cannot_close_its_element(client_as, make_job, people):
    from pathlib import Path

    job = make_job(people["user"], "failed")
    (Path(job.runs.get().run_dir) / "output.log").write_text("</pre><script>alert(2)</script>\n")
    assert "<script>alert(2)" not in client_as("user").get(f"/jobs/{job.pk}/").content.decode()


def test_a_session_needs_the_csrf_token_to_change_anything_and_a_token_does_not(client_as, application, people):
    from gridportal.accounts.services import create_token

    body = {"application": "ep", "node_count": 2}
    client = client_as("user", enforce_csrf_checks=True)
    for address in ("/api/jobs", "/api/preview", "/api/tokens"):
        assert client.post(address, body, content_type=JSON).status_code == 403
    assert client.post("/submit/", body).status_code == 403
    assert Job.objects.count() == 0
    bearer = {"Authorization": f"Bearer {create_token(people['user'], 'ci')[1]}"}
    assert (
        Client(enforce_csrf_checks=True, headers=bearer).post("/api/jobs", body, content_type=JSON).status_code == 201
    )


def test_every_answer_forbids_foreign_scripts_and_frames(client_as):
    for address in ("/account/", "/api/me", "/api/docs", "/nowhere"):
        answer = client_as("user").get(address)
        assert "script-src 'self'" in answer["Content-Security-Policy"]
        assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("depth", [50, 5000])
def test_deeply_nested_documents_are_refused_not_crashed_on(client_as, application, depth):
    body = '{"application": "ep", "node_count": 2, "pattern_graph": ' + '{"a":' * depth + "1" + "}" * depth + "}"
    assert client_as("user").post("/api/jobs", body, content_type=JSON).status_code == 400
