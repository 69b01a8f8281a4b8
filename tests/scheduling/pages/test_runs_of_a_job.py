"""A job may have several runs: each has a page, a log, a script, phases and its place in the API."""

from __future__ import annotations

import html
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gridportal.base.reasons import text_reason
from gridportal.runtime.progress_events import Phase
from gridportal.web.templatetags.state_marks import STATE_MARKS
from scheduling.jobs.models import Job
from scheduling.pages.views.pages import RUN_STATES
from scheduling.placing.models import Placement
from scheduling.runs.core.run_states import RUN_LIFE, RunState
from scheduling.runs.models import Run
from scheduling.runs.services import phase_totals
from tests.markup import markup


@pytest.fixture
def moved(people: Any, make_job: Any) -> Job:
    """A job whose first run left its queue before it started, and whose second goes on, on other nodes."""
    job: Job = make_job(people["user"], "running")
    first = job.runs.get()
    second = again(first, nodes=["n3", "n4"])
    now = timezone.now()
    phase_totals.add_phases(first, [Phase("setup", 2.0)])
    phase_totals.add_phases(second, [Phase("step", 0.5, at, 9) for at in (1, 2, 3)])
    why = text_reason("Node n1 is down.")
    Run.objects.filter(pk=first.pk).update(state="recalled", started_at=None, ended_at=now, reason=why)
    return job


def again(first: Run, nodes: list[str]) -> Run:
    """One more run of the same job, with a directory of its own."""
    job, kept = first.job, first.placement
    directory = Path(first.run_dir).with_name(f"{job.pk}-2")
    directory.mkdir(exist_ok=True)
    directory.joinpath("output.log").write_text("of the second run\n", encoding="utf-8")
    placement = Placement.objects.create(
        job=job, method=kept.method, nodes=nodes, objective=kept.objective, candidates=[], seconds=0.01
    )
    Run.objects.filter(pk=first.pk).update(state="recalled", ended_at=timezone.now() - timedelta(minutes=1))
    return Run.objects.create(
        job=job,
        number=2,
        placement=placement,
        key=f"job-{job.pk}-run-2",
        state="running",
        run_dir=str(directory),
        script="#!/bin/bash\nsecond\n",
        started_at=timezone.now(),
    )


def test_the_job_page_lists_its_runs_and_shows_the_newest(client_as: Any, moved: Job) -> None:
    page = markup(client_as("user").get(f"/jobs/{moved.pk}/"))
    table = page.split('aria-label="Runs"')[1].split("</table>")[0]
    assert table.index(f'href="/jobs/{moved.pk}/runs/1/"') < table.index(f'href="/jobs/{moved.pk}/runs/2/"')
    assert "n1 n2" in table
    assert "n3 n4" in table
    assert "recalled" in table
    assert "Node n1 is down." in table
    assert "are those of run 2." in page
    assert "of the second run" in page
    assert "first line" not in page
    assert f'data-log="/jobs/{moved.pk}/log/tail"' in page


def test_a_job_without_a_run_lists_none(client_as: Any, people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "queued")
    assert 'aria-label="Runs"' not in client_as("user").get(f"/jobs/{job.pk}/").content.decode()


def test_each_run_has_a_page_of_its_own(client_as: Any, moved: Job) -> None:
    first, second = (markup(client_as("user").get(f"/jobs/{moved.pk}/runs/{number}/")) for number in (1, 2))
    assert "first line" in first
    assert "setup takes 100 %" in first
    assert "data-final" in first  # nothing goes on in this run, whatever its job does
    assert f'href="/jobs/{moved.pk}/runs/2/"' in first
    assert f'data-log="/jobs/{moved.pk}/runs/1/log/tail"' in first
    assert "of the second run" in second
    assert "3 of 9" in second
    assert "data-final" not in second
    assert "#!/bin/bash\nsecond" in second


def test_the_log_of_a_run_is_followed_to_its_own_end(client_as: Any, moved: Job) -> None:
    client = client_as("user")
    first, second = (client.get(f"/jobs/{moved.pk}/runs/{number}/log/tail").json() for number in (1, 2))
    assert (first["text"].splitlines()[0], first["complete"]) == ("first line", True)
    assert (second["text"], second["complete"]) == ("of the second run\n", False)
    later = client.get(f"/jobs/{moved.pk}/runs/2/log/tail?offset={second['end']}").json()
    assert (later["text"], later["end"]) == ("", second["end"])


def test_what_a_run_left_can_be_downloaded(client_as: Any, moved: Job) -> None:
    client = client_as("user")
    log = client.get(f"/jobs/{moved.pk}/runs/1/log")
    assert b"".join(log.streaming_content).startswith(b"first line")
    assert log["Content-Disposition"] == f'attachment; filename="job-{moved.pk}-run-1.log"'
    script = client.get(f"/jobs/{moved.pk}/runs/2/script")
    first, *_, last = script.content.splitlines()
    assert (first, last) == (b"#!/bin/bash", b"second")
    assert script["Content-Disposition"].split('"')[1] == f"job-{moved.pk}-run-2.sh"


@pytest.mark.parametrize("state", list(RunState))
def test_a_run_is_shown_in_each_of_its_states(client_as: Any, moved: Job, state: RunState) -> None:
    over = RUN_LIFE.is_final(state)
    Run.objects.filter(job=moved, number=2).update(state=state, ended_at=timezone.now() if over else None)
    page = markup(client_as("user").get(f"/jobs/{moved.pk}/runs/2/"))
    mark, tone = STATE_MARKS[state]
    assert f'<span class="state {tone}"><span aria-hidden="true">{mark}</span> {state}</span>' in page
    assert ("data-final" in page) == over
    assert client_as("user").get(f"/jobs/{moved.pk}/").status_code == 200


def test_the_help_says_what_each_state_of_a_run_means(client_as: Any) -> None:
    assert [name for name, _ in RUN_STATES] == list(RunState)
    page = markup(client_as("user").get("/help/"))
    assert all(html.escape(meaning) in page for _, meaning in RUN_STATES)


def test_a_run_that_is_not_there_is_404(client_as: Any, moved: Job) -> None:
    client = client_as("user")
    for part in ("", "live", "log", "log/tail", "script"):
        for number in (0, 3, 10**30):
            assert client.get(f"/jobs/{moved.pk}/runs/{number}/{part}").status_code == 404
    for number in (0, 3, 999_999_999):
        answer = client.get(f"/api/jobs/{moved.pk}/runs/{number}")
        assert (answer.status_code, list(answer.json())) == (404, ["detail"])


def test_the_live_part_is_fresh_and_complete(client_as: Any, moved: Job) -> None:
    answer = client_as("user").get(f"/jobs/{moved.pk}/runs/2/live")
    assert "no-store" in answer["Cache-Control"]
    assert "<title>Run 2 of job" in answer.content.decode()
    assert "<html" not in answer.content.decode()


def test_the_api_tells_of_each_run(client_as: Any, moved: Job) -> None:
    client, runs = client_as("user"), f"/api/jobs/{moved.pk}/runs"
    rows = client.get(runs).json()
    assert [(row["number"], row["nodes"], row["state"]) for row in rows] == [
        (1, ["n1", "n2"], "recalled"),
        (2, ["n3", "n4"], "running"),
    ]
    assert client.get(f"{runs}/2").json() == rows[1]
    assert client.get(f"{runs}/2/script").json() == {"script": "#!/bin/bash\nsecond\n"}
    assert [row["phase"] for row in client.get(f"{runs}/1/phases").json()] == ["setup"]
    assert client.get(f"{runs}/1/log").json()["complete"] is True
    part = client.get(f"{runs}/2/log?offset=3&limit=6").json()
    assert part == {"text": "the se", "offset": 3, "end": 9, "complete": False}
    assert client.get(f"{runs}/2/log?limit=0").status_code == 400


def test_the_addresses_of_the_job_answer_for_its_newest_run(client_as: Any, moved: Job) -> None:
    client, job = client_as("user"), f"/api/jobs/{moved.pk}"
    for part in ("log", "script", "phases"):
        assert client.get(f"{job}/{part}").json() == client.get(f"{job}/runs/2/{part}").json()


def test_a_long_list_of_runs_takes_no_more_questions(
    client_as: Any, moved: Job, django_assert_num_queries: Any
) -> None:
    client = client_as("user")
    with CaptureQueriesContext(connection) as two:
        assert len(client.get(f"/api/jobs/{moved.pk}/runs").json()) == 2
    Run.objects.filter(job=moved, number=2).delete()
    with django_assert_num_queries(len(two)):
        assert len(client.get(f"/api/jobs/{moved.pk}/runs").json()) == 1


def test_the_page_of_a_job_and_of_its_run_show_one_time(client_as: Any, people: Any, make_job: Any) -> None:
    job: Job = make_job(people["user"], "succeeded")
    began = timezone.now() - timedelta(minutes=1)
    ended = began + timedelta(seconds=7.35)
    job.runs.update(seconds=6.5, started_at=began, ended_at=ended)
    Job.objects.filter(pk=job.pk).update(started_at=began, ended_at=ended)
    client = client_as("user")
    for address in (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/runs/1/"):
        figures = markup(client.get(address)).split('<dl class="figures">')[1].split("</dl>")[0]
        assert "<dt>Program’s own time</dt><dd>6.50 s</dd>" in figures
        assert "<dt>From start to end, with start-up</dt><dd>7.35 s</dd>" in figures
