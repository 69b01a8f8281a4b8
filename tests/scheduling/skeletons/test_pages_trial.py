"""What people see of skeletons and trials, and what they do with them: pages, form and API."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.jobs.services import job_spec
from scheduling.jobs.services.advance import advance
from scheduling.placing.services import rounds
from scheduling.skeletons.core.skeleton_run_states import SkeletonState
from scheduling.skeletons.models import Skeleton
from tests.markup import markup
from tests.scheduling.placing.trial_grid import keep_skeleton, to_starting

pytestmark = pytest.mark.django_db


@pytest.fixture
def tried(submit, fake_grid, application):
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    keep_skeleton(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    return Job.objects.get(pk=job.pk)


def page(client, address):
    answer = client.get(address)
    assert answer.status_code == 200
    return markup(answer)


def ticked(shown):
    (box,) = re.findall(r'<input[^>]*name="skeleton"[^>]*>', shown)
    return " checked" in box


def test_the_page_of_a_job_shows_the_groups_while_they_are_tried(client_as, tried):
    shown = page(client_as("user"), f"/jobs/{tried.pk}/")
    assert "Its skeleton on the candidate groups" in shown
    assert shown.count('<td class="keep">runs') == 3
    assert "Take a group now" in shown
    assert "What the selection ranks first" in shown
    assert "Take a group now" not in page(client_as("manager"), f"/jobs/{tried.pk}/")


def test_a_group_whose_skeleton_is_missing_says_so_on_the_page_and_in_rest(client_as, tried):
    assert advance(tried.skeleton_runs.get(candidate=0), SkeletonState.MISSING)
    assert '<td class="keep">missing at its cluster' in page(client_as("user"), f"/jobs/{tried.pk}/")
    rows = client_as("user").get(f"/api/jobs/{tried.pk}/placement").json()["trial"]["rows"]
    assert [(row["state"], row["words"]) for row in rows][:2] == [
        ("missing", "missing at its cluster"),
        ("running", "runs"),
    ]


def test_the_page_shows_prediction_seconds_and_choice_of_each_group_afterwards(client_as, tried, fake_grid):
    first, second, third = (" ".join(one.nodes) for one in tried.placements.get().candidates)
    to_starting(tried, fake_grid, {first: 40.0, second: 31.0, third: 45.0})
    shown = page(client_as("user"), f"/jobs/{tried.pk}/")
    assert "won 9 s over the selection alone" in shown
    assert f"taken:</span> 2: {second}" in shown
    assert "its skeleton predicts 45 s, 14 s more" in shown
    assert "trial-figure" in shown
    assert "Take a group now" not in shown


def test_the_page_tells_how_many_groups_were_compared_and_what_was_over_budget(client_as, tried, fake_grid):
    to_starting(tried, fake_grid, {})
    shown = page(client_as("user"), f"/jobs/{tried.pk}/")
    assert "<dt>Groups compared</dt><dd>3 of 3</dd>" in shown
    assert " over)</span>" not in shown
    placement = tried.placements.get()
    outcome = replace(placement.trial.outcome, spent=25.93, compared=0, ended=1, by="selection")
    placement.trial = replace(placement.trial, outcome=outcome)
    placement.save()
    shown = page(client_as("user"), f"/jobs/{tried.pk}/")
    assert "<dt>Groups compared</dt><dd>none of 3</dd>" in shown
    assert "(5.93 s over)</span>" in shown
    assert "because its skeleton could not compare two groups." in shown
    told = client_as("user").get(f"/api/jobs/{tried.pk}/placement").json()["trial"]
    assert (told["compared"], told["groups"], told["overrun"]) == (0, 3, pytest.approx(5.93))


def test_a_trial_of_before_is_shown_without_what_was_not_kept_then(client_as, tried, fake_grid):
    to_starting(tried, fake_grid, {})
    placement = tried.placements.get()
    kept = placement.trial.document()
    placement.trial = {name: kept[name] for name in kept if name not in ("ran", "ended", "compared", "overrun")}
    placement.save()
    placement.skeleton_runs.update(cause="", allowed=None)
    shown = page(client_as("user"), f"/jobs/{tried.pk}/")
    assert "Groups compared" not in shown
    assert "Time spent" in shown


def test_the_page_of_a_job_that_is_done_sets_what_was_predicted_beside_what_it_took(client_as, tried, fake_grid):
    first, second, third = (" ".join(one.nodes) for one in tried.placements.get().candidates)
    to_starting(tried, fake_grid, {first: 80.0, second: 67.2, third: 75.0})
    words = "It took 73 s there; its skeleton predicted 67.2 s, 8 % less."
    assert words not in page(client_as("user"), f"/jobs/{tried.pk}/")
    began = timezone.now()
    times = {"started_at": began, "ended_at": began + timedelta(seconds=73)}
    tried.runs.update(state="succeeded", **times)
    Job.objects.filter(pk=tried.pk).update(state="succeeded", **times)
    assert words in page(client_as("user"), f"/jobs/{tried.pk}/")
    tried.runs.update(state="failed")
    assert words not in page(client_as("user"), f"/jobs/{tried.pk}/"), "what broke off tells nothing"


def test_the_page_of_a_recorded_job_leads_to_the_profile_made_of_it(client_as, tried, fake_grid):
    to_starting(tried, fake_grid, {})
    Job.objects.filter(pk=tried.pk).update(trace=True)
    client, row = client_as("user"), Skeleton.objects.get().profile
    address = f"/applications/ep/profile?profile={row.pk}"
    assert address not in page(client, f"/jobs/{tried.pk}/")
    row.run = tried.runs.get()
    row.save()
    assert address in page(client, f"/jobs/{tried.pk}/")
    assert client.get(address).status_code == 200


def test_a_group_is_taken_on_the_page_with_a_reason(client_as, tried):
    address = f"/jobs/{tried.pk}/take"
    client = client_as("operator")
    answer = client.post(address, {"candidate": "1", "reason": ""}, follow=True)
    assert "for whoever looks at the job later" in markup(answer)
    client.post(address, {"candidate": "1", "reason": "the others are noisy"})
    tried.refresh_from_db()
    assert tried.placements.get().decision.by == "operator"
    assert client_as("other").post(address, {"candidate": "1", "reason": "mine now"}).status_code == 404


def test_the_api_tells_of_the_trial_and_takes_a_group(client_as, tried):
    client = client_as("user")
    told = client.get(f"/api/jobs/{tried.pk}/placement").json()["trial"]
    assert [row["state"] for row in told["rows"]] == ["running"] * 3
    assert (told["over"], told["budget"]) == (False, 20.0)
    body = {"candidate": 2, "reason": "it is mine"}
    answer = client.post(f"/api/jobs/{tried.pk}/take", json.dumps(body), content_type="application/json")
    assert answer.status_code == 200
    assert client.get(f"/api/jobs/{tried.pk}/placement").json()["override"]["candidate"] == 2


def test_the_page_says_why_no_group_was_tried(client_as, submit, fake_grid, application):
    keep_skeleton(application, seconds=10.0)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    assert "Its skeleton was not run: on two groups it takes 3 s" in page(client_as("user"), f"/jobs/{job.pk}/")


def test_the_form_offers_the_skeleton_where_there_is_one(client_as, application):
    client = client_as("user")
    assert "Choose by its skeleton" not in page(client, "/submit/?application=ep")
    keep_skeleton(application)
    shown = page(client, "/submit/?application=ep")
    assert ticked(shown)
    assert '<div id="skeleton-field" hidden>' in shown  # it was made on 2 ranks, and the form begins with 4


def test_the_form_shows_the_skeleton_while_it_fits(client_as, application, submit, fake_grid):
    keep_skeleton(application)
    client, job = client_as("user"), submit(2)
    assert 'id="skeleton-field" hidden' not in page(client, f"/submit/?application=ep&from={job.pk}")
    form = {"application": "ep", "method": "pattern", "candidates": 3, "seed": 0, "request_key": str(uuid.uuid4())}
    form |= {"param-klass": "S", "param-seed": 1, "param-note": "", "skeleton": "on"}
    tasks.place_jobs(job.cluster)  # measures
    for ranks, fits in ((2, "yes"), (4, "no")):
        shown = markup(client.post("/submit/preview", form | {"ranks": ranks}))
        assert f'data-fits-skeleton="{fits}"' in shown


@pytest.mark.parametrize(
    ("sent", "nodes", "method", "said"),
    [
        ("on", 4, "pattern", True),
        ("on", 4, "balanced", True),
        ("", 4, "balanced", False),
        ("on", 2, "balanced", False),
    ],
)
def test_the_preview_says_that_a_skeleton_is_wanted_and_none_is_there(
    client_as, application, fake_grid, submit, sent, nodes, method, said
):
    words = "There is no skeleton for these parameters on 4 ranks, so the network alone chooses."
    form = {"application": "ep", "node_count": nodes, "method": method, "candidates": 3, "seed": 0}
    form |= {"param-klass": "S", "param-seed": 1, "param-note": "", "request_key": str(uuid.uuid4())}
    form |= {"skeleton": sent} if sent else {}
    tasks.place_jobs(submit(2).cluster)  # measures
    preview = lambda: markup(client_as("user").post("/submit/preview", form))  # noqa: E731
    assert words not in preview()
    keep_skeleton(application)
    assert (words in preview()) is said


def test_the_page_of_a_job_says_that_there_was_no_skeleton_for_its_parameters(
    client_as, submit, fake_grid, application
):
    keep_skeleton(application)
    job = submit(4)
    tasks.place_jobs(job.cluster)
    assert "There is no skeleton for these parameters on 4 ranks" in page(client_as("user"), f"/jobs/{job.pk}/")


def test_the_page_and_the_preview_say_that_only_one_group_was_free(client_as, submit, fake_grid, application):
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    keep_skeleton(application, ranks=4)
    tasks.place_jobs(submit(2).cluster)  # which takes two of the six nodes
    form = {"application": "ep", "node_count": 4, "method": "pattern", "candidates": 3, "seed": 0, "skeleton": "on"}
    form |= {"param-klass": "S", "param-seed": 1, "param-note": "", "request_key": str(uuid.uuid4())}
    shown = markup(client_as("user").post("/submit/preview", form))
    assert "Its skeleton would not be run: there is only one group of free nodes to compare." in shown
    job = submit(4)
    tasks.place_jobs(job.cluster)
    words = "Its skeleton was not run: there was only one group of free nodes to compare."
    assert words in page(client_as("user"), f"/jobs/{job.pk}/")


def test_the_page_and_the_preview_say_why_no_skeleton_could_be_made(client_as, submit, fake_grid, application):
    why = Reason.of(Code.SKELETON_NOT_BUILT, error="2 threads of rank 0 called MPI")
    keep_skeleton(application, document=None, expected=None, problem=why)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    words = "No skeleton could be made for these parameters on 2 ranks, so the network alone chooses: 2 threads of"
    assert words in page(client_as("user"), f"/jobs/{job.pk}/")
    form = {"application": "ep", "node_count": 2, "method": "pattern", "candidates": 3, "seed": 0}
    form |= {"param-klass": "S", "param-seed": 1, "param-note": "", "request_key": str(uuid.uuid4())}
    preview = lambda sent: markup(client_as("user").post("/submit/preview", form | sent))  # noqa: E731
    assert words in preview({})
    assert words not in preview({"param-klass": "W"})


@pytest.mark.parametrize(("sent", "nodes", "kept"), [("on", 2, True), ("", 2, False), ("on", 4, None)])
def test_the_form_keeps_what_was_chosen(client_as, application, sent, nodes, kept):
    keep_skeleton(application)
    form = {"application": "ep", "node_count": nodes, "method": "pattern", "candidates": 3, "seed": 0}
    form |= {"param-klass": "S", "param-seed": 1, "param-note": "", "request_key": str(uuid.uuid4())}
    client_as("user").post("/submit/", form | ({"skeleton": sent} if sent else {}))
    job = Job.objects.get()
    assert job.skeleton is kept
    assert job_spec.JobSpec.from_row(job).skeleton is kept
    shown = page(client_as("user"), f"/submit/?application=ep&from={job.pk}")
    assert ticked(shown) is (kept is not False)


def test_the_page_of_a_skeleton_shows_its_segments_and_its_file(client_as, application):
    row = keep_skeleton(application)
    client = client_as("user")
    shown = page(client, f"/applications/ep/skeletons/{row.pk}")
    assert "2 barrier" in shown
    assert "No job that you may see has run it." in shown
    assert client.get(f"/applications/ep/skeletons/{row.pk}.json").json() == row.document
    assert "in use" in page(client, "/applications/ep/profile")
    application.command = ["other"]
    application.save()
    assert "The application has been changed since" in page(client, f"/applications/ep/skeletons/{row.pk}")


def test_a_skeleton_is_built_by_operators_only_and_only_from_a_trace(client_as, application):
    row = keep_skeleton(application)
    body = {"profile": row.profile_id}
    answer = client_as("operator").post("/applications/ep/skeletons/build", body, follow=True)
    assert "a profile that was traced" in markup(answer)
    assert client_as("user").post("/applications/ep/skeletons/build", body).status_code == 403
    assert Skeleton.objects.count() == 1


def test_the_page_offers_another_group_while_the_job_waits_in_the_queue_of_its_cluster(client_as, submit, fake_queue):
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    client = client_as("user")
    shown = page(client, f"/jobs/{job.pk}/")
    assert "Take another group" in shown
    assert "joins it again with the group that you take" in shown
    client.post(f"/jobs/{job.pk}/take", {"candidate": "1", "reason": "nearer to my data"})
    shown = page(client, f"/jobs/{job.pk}/")
    assert "user took group 2: nearer to my data" in shown
    assert "Take another group" not in shown
