"""The contract on the page of a job, over REST, and the models on the page of an application."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scheduling.contracts.models import Contract
from scheduling.contracts.services.tending import tend_contracts
from scheduling.jobs.models import Job
from scheduling.pages.charts.timeline import timeline
from scheduling.rescheduling.services.rescheduler import answer_calls
from scheduling.runs.models import Run
from scheduling.runs.services.reading_progress import ingest
from tests.markup import markup
from tests.scheduling.contracts.reported import end, report


@pytest.fixture
def slow(make_run: Any) -> Run:
    """One that takes five times as long as the one before."""
    before = make_run()
    report(before, *[1.0] * 100)
    end(before)
    run: Run = make_run()
    report(run, *[5.0] * 10)
    ingest(run)
    tend_contracts()
    return run


def text_of(answer: Any) -> str:
    """What a page shows, without its marks and line breaks."""
    return " ".join(re.sub(r"<[^>]*>", " ", markup(answer)).split())


def signed_in(client: Client, people: Any) -> Client:
    client.force_login(people["user"])
    return client


def test_the_page_of_the_job_says_what_was_promised_and_what_it_gets(client: Client, people: Any, slow: Run) -> None:
    page = text_of(signed_in(client, people).get(f"/jobs/{slow.job_id}/"))
    assert "It gets less than it was promised: 1.00 s were promised for each step, and it takes 5.00 s." in page
    assert "Calls to the rescheduler" in page
    assert "The rescheduler is called." in page
    assert "Contract" in text_of(client.get(f"/jobs/{slow.job_id}/runs/1/"))


def test_one_that_is_slower_within_its_limits_is_not_said_to_get_what_was_promised(
    client: Client, people: Any, make_run: Any
) -> None:
    before = make_run()
    report(before, *[1.0] * 100)
    end(before)
    run: Run = make_run()
    report(run, *[1.43] * 10)
    ingest(run)
    tend_contracts()
    page = text_of(signed_in(client, people).get(f"/jobs/{run.job_id}/"))
    kept = "It is slower than promised, within its limits: 1.00 s were promised for each step, and it takes 1.43 s."
    assert kept in page


def test_the_last_update_waits_until_the_contract_is_closed(client: Client, people: Any, slow: Run) -> None:
    end(slow)
    Job.objects.filter(pk=slow.job_id).update(state="succeeded", ended_at=timezone.now())
    parts = [reverse("job-live", args=[slow.job_id]), reverse("job-run-live", args=[slow.job_id, 1])]
    for part in parts:
        open_still = signed_in(client, people).get(part)
        assert "data-final" not in open_still.content.decode()
        assert "The run is over. Its phases took 5.00 times as long as promised." in text_of(open_still)
        assert "Expected to take still, by its last report" not in text_of(open_still)
    tend_contracts()
    assert all("data-final" in client.get(part).content.decode() for part in parts)


def test_nobody_waits_for_ever_for_a_contract_that_is_not_closed(client: Client, people: Any, slow: Run) -> None:
    end(slow)
    long_ago = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(pk=slow.pk).update(ended_at=long_ago)
    Job.objects.filter(pk=slow.job_id).update(state="succeeded", ended_at=long_ago)
    page = signed_in(client, people).get(reverse("job-live", args=[slow.job_id]))
    assert "data-final" in page.content.decode()


def test_of_a_run_that_is_over_nothing_is_promised_any_more(client: Client, people: Any, make_run: Any) -> None:
    run = make_run()
    Contract.objects.create(run=run)
    address = f"/jobs/{run.job_id}/"
    assert "Nothing is promised yet:" in text_of(signed_in(client, people).get(address))
    end(run)
    over = "Nothing was promised: no model knew this program, and no run like it that reported phases had ended well."
    assert over in text_of(client.get(address))


def test_rest_has_the_contract(client: Client, people: Any, slow: Run) -> None:
    answer_calls()
    found = signed_in(client, people).get(f"/api/jobs/{slow.job_id}/contract/").json()
    assert (found["standing"], found["model"], found["average"]) == ("violated", "past-runs", pytest.approx(5.0))
    assert found["complete"] == pytest.approx(0.1)
    assert found["ret_current"] == pytest.approx(450.0)
    assert found["phases"][0]["ratio"] == pytest.approx(5.0)
    assert (found["adjustments"][0]["cause"], found["given"]) == ("refused", {"lower": 0.7, "upper": 2.0})
    assert len(found["calls"]) == 1, "while nobody has answered it is not called again"
    again = client.get(f"/api/jobs/{slow.job_id}/runs/1/contract/").json()
    assert again | {"refined_seconds": 0} == found | {"refined_seconds": 0}


def test_a_run_without_a_contract_has_none(client: Client, people: Any, make_run: Any) -> None:
    run = make_run()
    answer = signed_in(client, people).get(f"/api/jobs/{run.job_id}/contract/")
    assert answer.status_code == 404
    assert "Contract" not in text_of(client.get(f"/jobs/{run.job_id}/"))


def test_models_that_failed_are_told_in_their_own_words(client: Client, people: Any, make_run: Any) -> None:
    run = make_run()
    Contract.objects.create(run=run, problems=[{"model": "sweep", "message": "No benchmark of m-7."}])
    page = text_of(signed_in(client, people).get(f"/jobs/{run.job_id}/"))
    assert "The performance model sweep gave no prediction: No benchmark of m-7." in page


def test_the_page_of_the_application_has_the_errors_of_its_models(client: Client, people: Any, slow: Run) -> None:
    end(slow)
    tend_contracts()
    page = text_of(signed_in(client, people).get(f"/applications/{slow.job.application.slug}/"))
    assert "Performance models" in page
    assert "past-runs step 1 400 % 5.00" in page


def test_calls_are_no_steps_of_the_timeline(slow: Run) -> None:
    """The bar has the stays of the job in its states; the start of the run stays where it was."""
    began = timezone.now() - timedelta(minutes=5)
    events = list(slow.job.events.all())
    assert len(events) == 3
    assert [step.state for step in timeline(events, timezone.now(), began)] == ["queued", "running"]
