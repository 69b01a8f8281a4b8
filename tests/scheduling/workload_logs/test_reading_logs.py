"""Logs of other systems read into finished jobs: each once, with its times, and shown by reports and pages."""

from __future__ import annotations

import csv
import io
import json
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gridportal.accounts.models import AuditEvent, User
from gridportal.base.errors import InputError
from gridportal.cli import app
from scheduling.jobs.models import Application, Job
from scheduling.runs.models import Run
from scheduling.usage.services.counting_use import count_use
from scheduling.workload_logs.models import LoggedCluster
from scheduling.workload_logs.services import reading_logs
from scheduling.workload_logs.services.reading_logs import read_log

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = ["; Computer: Old One", f"; UnixStartTime: {int(START.timestamp())}", "; MaxNodes: 8", "; MaxProcs: 32"]
JOBS = [
    "1 0 60 3600 16 -1 -1 16 7200 -1 1 1 1 1 1 1 -1 -1",
    "2 100 -1 1800 4 -1 -1 4 -1 -1 0 2 1 1 1 1 -1 -1",
    "3 200 10 0 -1 -1 -1 8 600 -1 5 2 1 -1 1 1 -1 -1",
    "3 200 10 20 8 -1 -1 8 600 -1 2 2 1 -1 1 1 -1 -1",
    "no job",
]


def test_a_log_becomes_finished_jobs() -> None:
    found = read_log(HEAD + JOBS, "old")
    assert (found.jobs, found.repeated, found.parts, found.bad_lines) == (3, 0, 1, 1)
    assert [(line.line, line.why) for line in found.bad] == [(9, "it has 2 fields; a job has 18")]
    first, second, third = Job.objects.order_by("pk")
    assert (first.state, first.node_count, first.ranks, first.time_limit) == ("succeeded", 4, 16, 7200)
    assert (first.created_at, first.started_at) == (START, START.replace(minute=1))
    assert (second.state, second.reason.facts, second.owner.username) == ("failed", {"line": 6}, "old-u2")
    assert (third.state, third.started_at, third.runs.count()) == ("cancelled", None, 0)
    assert not first.owner.is_active
    assert list(first.owner.groups.values_list("name", flat=True)) == ["old-g1"]
    assert set(Application.objects.values_list("slug", "enabled")) == {("old-p1", False), ("old-program", False)}
    assert LoggedCluster.objects.get().nodes == 8
    run = Run.objects.get(job=first)
    assert (run.node_count, run.state, (run.ended_at - run.started_at).total_seconds()) == (4, "succeeded", 3600.0)


def test_nothing_is_read_twice_and_a_broken_off_reading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_logs, "BATCH", 1)

    def broken() -> Any:
        yield from HEAD + JOBS[:2]
        raise OSError("The disk is gone.")

    with pytest.raises(OSError, match="gone"):
        read_log(broken(), "old")
    before = set(Job.objects.values_list("pk", flat=True))
    assert len(before) == 2
    found = read_log(HEAD + JOBS, "old")
    assert (found.jobs, found.repeated) == (1, 2)
    assert before < set(Job.objects.values_list("pk", flat=True))
    assert read_log(HEAD + JOBS, "other").jobs == 3


def test_a_cluster_of_the_portal_gets_no_jobs_of_a_log() -> None:
    for name in ("grid", "two words", "ä", ""):
        with pytest.raises(InputError, match="a name of letters"):
            read_log(HEAD + JOBS, name)
    with pytest.raises(InputError, match="UnixStartTime"):
        read_log(JOBS, "old")
    assert read_log(JOBS, "old", START, 4).jobs == 3


def test_times_that_no_log_has_are_refused() -> None:
    with pytest.raises(InputError, match="UnixStartTime"):
        read_log(["; UnixStartTime: 999999999999", *JOBS], "old")
    for start in ("9999-12-31", "0001-01-01T00:00:00+14:00"):
        answer = CliRunner().invoke(app, ["workload", "make", "--jobs", "1", "--start", start])
        assert "1971" in str(answer.exception) + answer.output


def test_a_log_takes_nothing_that_is_of_the_portal() -> None:
    person = User.objects.create_user("abc-u2")
    with pytest.raises(InputError, match="a name with which no person"):
        read_log(HEAD + JOBS, "abc")
    assert not person.groups.exists()
    assert not Job.objects.exists()


def test_a_job_of_more_processors_than_the_portal_starts_has_its_page(client_as: Any) -> None:
    read_log([*HEAD, "1 0 60 3600 163840 -1 -1 163840 7200 -1 1 1 1 1 1 1 -1 -1"], "old")
    job, client = Job.objects.get(), client_as("manager")
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert "this portal did not choose its nodes" in page
    assert "Why these nodes" in page
    for address in ("live", "script", "requirements/", "use"):
        assert client.get(f"/jobs/{job.pk}/{address}").status_code == 200, address


def test_reports_and_pages_show_the_jobs_of_a_log(client_as: Any) -> None:
    read_log(HEAD + JOBS, "old")
    count_use()
    client, time = client_as("manager"), "?start=2026-01-01T00:00&until=2026-02-01T00:00"
    answer = client.get(f"/reports/places/clusters.csv{time}")
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    cluster = next(row for row in rows if row[0] == "old")
    # 4 nodes for an hour and one for half an hour; 16 and 4 processors; one was cancelled before it began
    assert cluster[1:5] == ["2", "4.5", "100.0", "18.0"]
    assert float(cluster[-1]) == pytest.approx(100 * 4.5 / (8 * 24 * 31), abs=0.06)
    page = " ".join(client.get(f"/reports/waiting/{time}").content.decode().split())
    assert "It failed, as the log says in line 6." in page
    for job in Job.objects.all():
        assert client.get(f"/jobs/{job.pk}/").status_code == 200
        assert client.get(f"/api/jobs/{job.pk}").status_code == 200
    assert client.get("/jobs/?q=old").status_code == 200


def test_the_command_tells_what_it_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduling.workload_logs.commands.workload.database", nullcontext)
    made = CliRunner().invoke(app, ["workload", "make", "--jobs", "50", "--days", "10", "--start", "2026-01-01"])
    file = tmp_path / "year.swf"
    file.write_text(made.stdout + "\nno job\n", encoding="utf-8")
    asked = ["workload", "import", str(file), "--cluster", "old", "--json"]
    first = CliRunner().invoke(app, asked)
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout) == {"jobs": 50, "repeated": 0, "parts": 0, "bad_lines": 1, "counted": 50}
    assert "line 59: it has 2 fields" in first.stderr
    assert json.loads(CliRunner().invoke(app, asked).stdout)["repeated"] == 50
    assert AuditEvent.objects.get(action="workload.import").detail == {"jobs": 50, "file": "year.swf"}
    file.write_text("no job\n", encoding="utf-8")
    nothing = CliRunner().invoke(app, asked)
    assert nothing.exit_code != 0
    assert "none of its lines is a job" in str(nothing.exception) + nothing.output
