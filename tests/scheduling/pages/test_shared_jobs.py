"""Jobs shared to be read: with whom, by a link, what is open to them and what is not, and how it ends."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.accounts.services import switch
from gridportal.base.errors import InputError
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.selectors import befores_of, is_shared_with, waiting_reason
from scheduling.jobs.services import sharing_jobs
from scheduling.jobs.share_models import JobShare, JobShareVisit
from scheduling.messages import message
from tests.markup import markup

pytestmark = pytest.mark.django_db
PAGES = (
    "",
    "live",
    "log",
    "log/tail",
    "script",
    "requirements/",
    "runs/1/",
    "runs/1/live",
    "runs/1/log",
    "runs/1/script",
)
DEEDS = ("cancel", "hold", "release", "requeue", "take", "move", "propose-move", "move-policy", "share")
API = ("", "/events", "/log", "/script", "/placement", "/phases", "/runs", "/runs/1", "/requirements")
API_DEEDS = ("cancel", "hold", "release", "requeue", "take", "move", "shares")


@pytest.fixture
def job(people, make_job):
    return make_job(people["user"], "running", name="tides")


def shared(job, people, kind: str, **options):
    """Shared with `other`, in one of three ways."""
    if kind == "person":
        return sharing_jobs.share_job(people["user"], job, "other", **options)
    if kind == "group":
        group = Group.objects.create(name="chemists")
        for name in ("user", "other"):
            people[name].groups.add(group)
        return sharing_jobs.share_job(people["user"], job, "chemists", **options)
    share, secret = sharing_jobs.make_link(people["user"], job, **options)
    assert sharing_jobs.open_link(people["other"], secret) == job
    return share


@pytest.mark.parametrize("kind", ["person", "group", "link"])
def test_the_pages_are_open_and_nothing_can_be_done(client_as, people, job, kind):
    client = client_as("other")
    assert client.get(f"/jobs/{job.pk}/").status_code == 404
    share = shared(job, people, kind)
    assert {path: client.get(f"/jobs/{job.pk}/{path}").status_code for path in PAGES} == dict.fromkeys(PAGES, 200)
    refused = {deed: client.post(f"/jobs/{job.pk}/{deed}").status_code for deed in DEEDS}
    assert refused == dict.fromkeys(DEEDS, 403)
    assert client.get(f"/jobs/{job.pk}/share").status_code == 403
    assert client.get(f"/jobs/{job.pk}/runs/1/files/").status_code == 403
    page = markup(client.get(f"/jobs/{job.pk}/"))
    assert "user shares this job with you, to read, without the files of its runs." in page
    assert 'id="cancel"' not in page
    assert 'id="share"' not in page
    sharing_jobs.stop_sharing_job(people["user"], share)
    assert {client.get(f"/jobs/{job.pk}/{path}").status_code for path in PAGES} == {404}


@pytest.mark.parametrize("kind", ["person", "link"])
def test_over_rest_the_same_is_open(client_as, people, job, kind):
    client = client_as("other")
    assert client.get(f"/api/jobs/{job.pk}").status_code == 404
    shared(job, people, kind)
    answers = {path: client.get(f"/api/jobs/{job.pk}{path}").status_code for path in API}
    assert answers == dict.fromkeys(API, 200)
    refused = {
        deed: client.post(f"/api/jobs/{job.pk}/{deed}", {}, "application/json").status_code for deed in API_DEEDS
    }
    assert set(refused.values()) <= {403, 404}
    assert client.get(f"/api/jobs/{job.pk}/runs/1/files").status_code == 403
    assert client.get("/api/jobs").json()["count"] == 0, "the list stays the own jobs"
    job.refresh_from_db()
    assert job.state == "running"


def test_files_are_open_only_where_the_owner_says_so(client_as, people, job):
    client = client_as("other")
    shared(job, people, "person", with_files=True)
    assert client.get(f"/jobs/{job.pk}/runs/1/files/").status_code == 200
    assert client.get(f"/jobs/{job.pk}/runs/1/file?path=output.log").status_code == 200
    assert client.get(f"/api/jobs/{job.pk}/runs/1/files").status_code == 200
    sharing_jobs.share_job(people["user"], job, "other")
    assert client.get(f"/jobs/{job.pk}/runs/1/files/").status_code == 403
    assert job.shares.count() == 1


def test_a_link_asks_to_sign_in_and_leads_to_the_page(client_as, people, job):
    _, secret = sharing_jobs.make_link(people["user"], job)
    asked = client_as("anonymous").get(f"/shared/{secret}")
    assert asked.status_code == 302
    assert asked["Location"].startswith("/sign-in/?next=/shared/")
    client = client_as("other")
    assert client.get(f"/shared/{secret}")["Location"] == f"/jobs/{job.pk}/"
    assert client.get(f"/shared/{secret}").status_code == 302
    assert JobShareVisit.objects.count() == 1
    assert client.get(f"/jobs/{job.pk}/").status_code == 200


def test_an_expired_a_withdrawn_and_a_made_up_link_open_nothing(client_as, people, job):
    share, secret = sharing_jobs.make_link(people["user"], job, days=1)
    client = client_as("other")
    client.get(f"/shared/{secret}")
    JobShare.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(f"/jobs/{job.pk}/").status_code == 404
    assert client.get(f"/shared/{secret}").status_code == 404
    sharing_jobs.stop_sharing_job(people["user"], share)
    for text in (secret, "x", "\u00e9", share.digest):
        assert client.get(f"/shared/{text}").status_code == 404
    assert "It has expired or was withdrawn." in markup(client.get("/shared/x"))


def test_of_a_link_only_a_hash_is_kept_and_it_is_shown_once(client_as, job):
    client = client_as("user")
    page = markup(client.post(f"/jobs/{job.pk}/share", {"link": "1", "days": "7"}))
    secret = re.search(r"/shared/([\w-]+)", page)[1]
    share = JobShare.objects.get()
    assert secret not in {share.digest, *map(str, AuditEvent.objects.values_list("detail", flat=True))}
    assert (share.expires_at - timezone.now()).days in (6, 7)
    assert secret not in markup(client.get(f"/jobs/{job.pk}/share"))


def test_the_list_says_who_made_what_and_who_opened_it(client_as, people, job):
    shared(job, people, "link")
    for role in ("user", "operator"):
        page = markup(client_as(role).get(f"/jobs/{job.pk}/share"))
        assert "a link" in page
        assert "other" in page.partition('id="shares"')[2]
    assert client_as("manager").get(f"/jobs/{job.pk}/share").status_code == 403
    share = job.shares.get()
    assert client_as("manager").post(f"/jobs/{job.pk}/share/{share.pk}/stop").status_code == 403
    assert client_as("operator").post(f"/jobs/{job.pk}/share", {"with": "manager"}).status_code == 403
    assert client_as("operator").post(f"/jobs/{job.pk}/share/{share.pk}/stop").status_code == 302
    assert not job.shares.exists()
    assert set(AuditEvent.objects.filter(action__startswith="job.").values_list("action", flat=True)) == {
        "job.share",
        "job.unshare",
    }


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"with": "nobody"}, "Enter the user name of another person."),
        ({"with": "user"}, "Enter the user name of another person."),
        ({"with": "operator "}, "is shared with operator."),
        ({"link": "1", "days": "0"}, "Enter a whole number from 1 to 365."),
        ({"link": "1", "days": "366"}, "Enter a whole number from 1 to 365."),
    ],
)
def test_what_is_filled_in_is_answered_in_words(client_as, job, sent, sentence):
    assert sentence in markup(client_as("user").post(f"/jobs/{job.pk}/share", sent, follow=True))


def test_the_shared_jobs_are_a_list_of_their_own(client_as, people, job, make_job):
    client = client_as("other")
    assert "Shared with you" not in markup(client.get("/jobs/"))
    shared(job, people, "person")
    assert "?shared=1" in markup(client.get("/jobs/"))
    page = markup(client.get("/jobs/?shared=1"))
    assert f'href="/jobs/{job.pk}/"' in page
    assert 'id="many"' not in page
    lines = client.get("/jobs.csv?shared=1").getvalue().decode().splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["tides"]
    assert len(client.get("/jobs.csv").getvalue().decode().splitlines()) == 1


def test_a_job_can_start_after_one_that_is_shared(client_as, people, job):
    body = {"application": "ep", "ranks": 1, "pattern": "ring", "after": [job.pk]}
    client = client_as("other")
    assert client.post("/api/jobs", body, content_type="application/json").status_code == 400
    shared(job, people, "person")
    assert client.post("/api/jobs", body, content_type="application/json").status_code == 201


def test_over_rest_a_job_is_shared_listed_and_shared_no_more(client_as, people, job):
    client, address = client_as("user"), f"/api/jobs/{job.pk}/shares"
    made = client.post(address, {"whom": "other"}, content_type="application/json")
    assert (made.status_code, made.json()["whom"], made.json()["link"]) == (201, "other", None)
    link = client.post(address, {"days": 2, "with_files": True}, content_type="application/json").json()
    assert "/shared/" in link["link"]
    rows = client.get(address).json()
    assert [(row["is_link"], row["with_files"], row["link"]) for row in rows] == [
        (False, False, None),
        (True, True, None),
    ]
    assert client_as("other").delete(f"{address}/{rows[0]['id']}").status_code in (403, 404)
    assert client.delete(f"{address}/{rows[0]['id']}").status_code == 204
    assert client.get(address).json()[0]["is_link"]
    assert client.post(address, {"whom": "nobody"}, content_type="application/json").status_code == 400


def test_there_are_so_many_shares_at_most(people, job, monkeypatch):
    monkeypatch.setattr(sharing_jobs, "MOST", 1)
    sharing_jobs.share_job(people["user"], job, "other")
    sharing_jobs.share_job(people["user"], job, "other", with_files=True)
    with pytest.raises(InputError, match="at most 1"):
        sharing_jobs.make_link(people["user"], job)


def test_the_database_takes_no_share_of_two_kinds_and_no_link_without_an_end(people, job):
    whom = {"job": job, "made_by": people["user"]}
    for fields in ({}, {"person": people["other"], "digest": "x", "expires_at": timezone.now()}, {"digest": "x"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            JobShare.objects.create(**whom, **fields)
    assert not is_shared_with(people["other"], job)


def test_a_link_ends_with_the_account_of_who_made_it(client_as, people, job):
    _, secret = sharing_jobs.make_link(people["user"], job)
    client = client_as("other")
    assert client.get(f"/shared/{secret}").status_code == 302
    assert client.get(f"/jobs/{job.pk}/").status_code == 200
    switch(people["user"], False)
    assert client.get(f"/jobs/{job.pk}/").status_code == 404
    assert client.get(f"/shared/{secret}").status_code == 404
    switch(people["user"], True)
    assert client.get(f"/jobs/{job.pk}/").status_code == 200


@pytest.mark.parametrize("with_files", [False, True])
def test_names_of_input_files_go_with_the_files(client_as, people, job, with_files):
    job.inputs = [{"name": "secret-mesh.dat", "digest": "ab" * 32, "size": 7}]
    job.save(update_fields=["inputs"])
    shared(job, people, "person", with_files=with_files)
    client = client_as("other")
    page, document = markup(client.get(f"/jobs/{job.pk}/")), client.get(f"/api/jobs/{job.pk}").json()
    compared = markup(client.get(f"/jobs/compare/?runs={job.pk},{job.pk}"))
    seen = ["secret-mesh.dat" in text for text in (page, json.dumps(document), compared)]
    assert seen[:2] == [with_files] * 2
    assert not seen[2] or with_files
    assert (document["inputs"] is None) is not with_files
    assert "1 input file came with it" in page


def test_a_job_that_waits_tells_no_state_of_one_that_is_shared_no_more(client_as, people, job, make_job):
    share = shared(job, people, "person")
    follower = make_job(people["other"], "waiting", after=[job.pk])
    JobDependency.objects.create(job=follower, on=job)
    client = client_as("other")
    assert f"job {job.pk}, tides" in markup(client.get(f"/jobs/{follower.pk}/"))
    assert befores_of([follower.pk])[follower.pk][0].state_shown == "running"
    sharing_jobs.stop_sharing_job(people["user"], share)
    page = markup(client.get(f"/jobs/{follower.pk}/"))
    assert f"job {job.pk}, which you may not see." in page
    assert "tides" not in page
    (before,) = befores_of([follower.pk])[follower.pk]
    assert message(waiting_reason([before])) == f"Waiting for job {job.pk}."
    assert message(Reason.of(Code.AFTER_NEVER, job=job.pk, state="")) == (
        f"It was to start only if job {job.pk} succeeded, and job {job.pk} did not. Resubmit it to start it anyway."
    )


def test_a_job_of_a_private_program_is_not_submitted_again_by_who_may_not_use_it(job, people, client_as, application):
    shared(job, people, "person")
    page = markup(client_as("other").get(f"/jobs/{job.pk}/"))
    assert f'href="/jobs/{job.pk}/resubmit"' in page
    assert "private-program" not in page
    application.owner = people["user"]
    application.save(update_fields=["owner"])
    page = markup(client_as("other").get(f"/jobs/{job.pk}/"))
    assert f'href="/jobs/{job.pk}/resubmit"' not in page
    assert "its program is private to user and not shared with you" in page
    assert "private-program" not in markup(client_as("user").get(f"/jobs/{job.pk}/"))
