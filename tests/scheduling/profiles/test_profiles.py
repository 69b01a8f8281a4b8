"""Profiles: kept, found again, stale when the program changes, shown, and chosen by as the discovered pattern."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.models import Application
from scheduling.jobs.services import job_spec
from scheduling.messages import message
from scheduling.placing.services import submission
from scheduling.placing.services.requests import check, read_pattern
from scheduling.profiles.core import profile, trace
from scheduling.profiles.models import Profile
from scheduling.profiles.services import stored_profiles
from scheduling.runs.models import Run
from scheduling.runs.services import recording_library
from scheduling.runs.services.scripts import script_of
from scheduling.skeletons.services import stored_skeletons
from tests.markup import markup

pytestmark = pytest.mark.django_db


def line_profile(ranks: int = 4, weight: float = 5e6) -> profile.Profile:
    """The middle rank talks to all others; 0 to 1 twice as much."""
    sizes = np.zeros((ranks, ranks))
    for other in range(ranks):
        if other != 1:
            sizes[1, other] = weight * (2 if other == 0 else 1)
    return profile.of_counters("program", sizes, 2.0)


def kept(application: Application, ranks: int = 4) -> Profile:
    return stored_profiles.keep(application, {}, line_profile(ranks))


def test_the_discovered_pattern_has_the_weights_that_were_seen(application):
    kept(application)
    asked = job_spec.JobSpec(application, {}, 4, pattern=stored_profiles.DISCOVERED)
    found = check(asked).pattern
    assert found is not None
    assert found.edges == ((0, 1, 1e7), (1, 2, 5e6), (1, 3, 5e6))
    assert found.name == stored_profiles.DISCOVERED


def test_a_job_finds_the_discovered_pattern_again_when_it_is_placed(application, people):
    kept(application)
    asked = job_spec.JobSpec(application, {}, 4, pattern=stored_profiles.DISCOVERED, trace=True)
    job = submission.submit_job(people["user"], asked)
    assert (job.pattern, job.pattern_graph, job.trace) == (stored_profiles.DISCOVERED, None, True)
    again = read_pattern(job)
    assert again is not None
    assert [edge[:2] for edge in again.edges] == [(0, 1), (1, 2), (1, 3)]


def test_without_a_profile_on_so_many_ranks_it_is_refused(application):
    kept(application)
    with pytest.raises(InputError, match="2 ranks"):
        check(job_spec.JobSpec(application, {}, 2, pattern=stored_profiles.DISCOVERED))


def test_a_profile_of_the_same_parameters_comes_before_a_newer_one_of_others(application):
    mine = stored_profiles.keep(application, {"klass": "W"}, line_profile())
    other = stored_profiles.keep(application, {"klass": "S"}, line_profile())
    best = [stored_profiles.best(application, {"klass": klass}, 4) for klass in ("W", "S")]
    assert best == [mine, other]
    assert stored_profiles.best(application, {"klass": "S", "seed": 7}, 4) == other


def test_a_profile_is_stale_once_the_program_starts_in_another_way(application):
    row = kept(application)
    assert stored_profiles.choices(application) == [4]
    application.command = [*application.command, "--other"]
    application.save()
    row.refresh_from_db()
    assert stored_profiles.is_stale(row)
    assert stored_profiles.choices(application) == []
    assert stored_profiles.best(application, {}, 4) is None


def test_a_program_whose_mpi_has_no_compiler_here_is_not_recorded(application, monkeypatch):
    monkeypatch.setattr(recording_library, "mpicc_of", lambda *_: "no-such-mpicc")
    with pytest.raises(InputError, match="cannot be recorded: mpicc is 'no-such-mpicc'"):
        check(job_spec.JobSpec(application, {}, 4, pattern="ring", trace=True))


def test_a_job_placed_when_the_compiler_has_gone_runs_unrecorded(application, people, monkeypatch, tmp_path):
    job = submission.submit_job(people["user"], job_spec.JobSpec(application, {}, 2, pattern="ring", trace=False))
    job.trace = True
    assert "LD_PRELOAD" in script_of(job, ["n1", "n2"], str(tmp_path / "run"), "job")
    monkeypatch.setattr(recording_library, "mpicc_of", lambda *_: "no-such-mpicc")
    assert "LD_PRELOAD" not in script_of(job, ["n1", "n2"], str(tmp_path / "run"), "job")


def test_the_page_shows_graph_heat_map_and_staleness(client_as, application):
    empty = markup(client_as("user").get("/applications/ep/profile"))
    assert "No profile yet" in empty
    kept(application)
    page = markup(client_as("user").get("/applications/ep/profile"))
    assert "3 of 3 that talk" in page
    assert "ranks 0 and 1: 10.0 MB" in page
    assert "profile-figure" in page
    application.command = ["other"]
    application.save()
    assert "has been changed since" in markup(client_as("user").get("/applications/ep/profile"))
    assert client_as("user").get("/applications/ep/profile?profile=999").status_code == 404


def test_the_form_offers_it_only_where_a_profile_is(client_as, application):
    client = client_as("user")
    assert 'value="discovered"' not in markup(client.get("/submit/?application=ep"))
    kept(application)
    assert 'value="discovered"' in markup(client.get("/submit/?application=ep"))


def test_only_the_profile_that_is_taken_is_read_whole(client_as, application):
    for _ in range(3):
        kept(application)
    client = client_as("user")
    for read in (
        lambda: stored_profiles.pattern(application, {}, 4),
        lambda: client.get("/applications/ep/profile"),
    ):
        with CaptureQueriesContext(connection) as done:
            read()
        documents = [query["sql"] for query in done if '"scheduling_profile"."document"' in query["sql"]]
        assert len(documents) == 1
        assert "LIMIT" in documents[0]
    with CaptureQueriesContext(connection) as done:
        assert stored_profiles.choices(application) == [4]
    assert not any("document" in query["sql"] for query in done)


def test_the_api_lists_profiles(client_as, application):
    kept(application)
    answer = client_as("user").get("/api/applications/ep/profiles").json()
    assert [(row["source"], row["ranks"], row["stale"]) for row in answer] == [("monitoring", 4, False)]
    assert answer[0]["document"]["dominant"][0] == {"ranks": [0, 1], "bytes": 1e7}


def test_the_trace_that_a_job_left_becomes_its_profile(application, make_job, people, tmp_path, settings):
    job = make_job(people["user"], "running")
    run = job.runs.get()
    run.run_dir = str(tmp_path)
    (tmp_path / "trace").mkdir()
    for rank in range(2):
        send = {"call": "MPI_Send", "comm": 0, "peer": 1 - rank, "tag": 1, "bytes": 1e6}
        head = {"version": 1, "rank": rank, "ranks": 2, "wall": 1.0, "host": f"n{rank}"}
        comms = [{"k": 0, "inter": False, "window": False, "members": [0, 1]}]
        document = {**head, "comms": comms, "body": [{"loop": 9, "body": [send]}]}
        (tmp_path / "trace" / f"rank-{rank}.json").write_text(json.dumps(document))
    assert stored_profiles.keep_trace(run) == NOTHING
    row = Profile.objects.get()
    assert (row.source, row.ranks, row.run) == ("trace", 2, run)
    assert row.document["bytes"] == [[0, 9e6], [9e6, 0]]
    again = stored_profiles.traced(row)
    assert again is not None
    assert again.processes[0].body[0] == trace.Loop(9, (trace.Call("MPI_Send", peer=1, tag=1, bytes=1e6),))


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("", Code.TRACE_NO_MPI),
        ("{", Code.TRACE_UNREADABLE),
        ('{"version": 1}', Code.TRACE_INCOMPLETE),
        ("[" * 100, Code.TRACE_UNREADABLE),
    ],
)
def test_a_damaged_trace_leaves_the_job_alone(application, make_job, people, tmp_path, damage, code):
    job = make_job(people["user"], "running", trace=True)
    run = job.runs.get()
    run.run_dir, run.script = str(tmp_path), "GRIDPORTAL_TRACE_DIR=trace"
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "rank-0.json").write_text(damage)
    stored_profiles.keep_trace_of(run)
    run.refresh_from_db()
    assert run.trace_reason.code is code
    assert not application.profiles.exists()
    assert not Profile.objects.exists()


@pytest.mark.parametrize("bound", ["_MAX_TRACE", "_MAX_RANK_FILE"])
def test_a_trace_that_is_too_large_is_told_with_what_to_do(make_job, people, tmp_path, monkeypatch, bound):
    run = make_job(people["user"], "running", trace=True).runs.get()
    run.run_dir, run.script = str(tmp_path), "GRIDPORTAL_TRACE_DIR=trace"
    for rank in range(run.job.ranks):
        ranks_file(tmp_path / "trace", rank, run.job.ranks)
    monkeypatch.setattr(stored_profiles, bound, 100)
    stored_profiles.keep_trace_of(run)
    assert run.trace_reason.code is Code.TRACE_UNREADABLE
    assert "record a run with fewer ranks" in message(run.trace_reason)


def ranks_file(folder: Path, rank: int, ranks: int, *, complete: bool = True) -> None:
    folder.mkdir(exist_ok=True)
    comms = [{"k": 0, "inter": False, "window": False, "members": list(range(ranks))}]
    head = {"version": 1, "rank": rank, "ranks": ranks, "wall": 1.0, "host": "n", "comms": comms, "body": []}
    head["complete"] = complete
    (folder / f"rank-{rank}.json").write_text(json.dumps(head))


def half_way(run: Run, folder: Path, *, complete: bool = False) -> Profile:
    """The profile of a run of two ranks of which the second one came to MPI_Finalize, or both did."""
    run.run_dir, run.script = str(folder), "GRIDPORTAL_TRACE_DIR=trace"
    for rank in range(2):
        ranks_file(folder / "trace", rank, 2, complete=complete or rank == 1)
    stored_profiles.keep_trace_of(run)
    return Profile.objects.get()


def ended(why: Reason = NOTHING) -> Reason:
    return Reason.of(Code.ENDED, exit_code=5, verified=None, why=why, fault="", log=[], wrote=False)


def test_no_job_takes_the_profile_of_a_run_that_failed_half_way(application, make_job, people, tmp_path, client_as):
    run = make_job(people["user"], "failed", trace=True).runs.get()
    run.reason = ended()
    row = half_way(run, tmp_path)
    assert stored_profiles.best(application, {}, 2) is None
    assert stored_profiles.choices(application) == []
    assert 'value="discovered"' not in markup(client_as("user").get("/submit/?application=ep"))
    page = markup(client_as("operator").get("/applications/ep/profile"))
    assert "Its run failed before all of its ranks had called MPI_Finalize." in page
    assert "1 rank ended without MPI_Finalize" in page
    assert "its run failed: no job takes it" in page
    for said in ("any nodes", "<dd>ep</dd>", "<td>ep</td>", "has been changed", "build-skeleton"):
        assert said not in page
    assert "No job takes it, for this one failed" in markup(client_as("user").get(f"/jobs/{run.job_id}/"))
    (told,) = client_as("user").get("/api/applications/ep/profiles").json()
    assert (told["stale"], told["run_failed"]) == (True, True)
    assert not stored_skeletons.due().exists()
    with pytest.raises(InputError, match="a run that did not fail"):
        stored_skeletons.build(row)


@pytest.mark.parametrize(
    ("state", "reason", "complete"),
    [
        ("failed", ended(Reason.of(Code.OVER_TIME_LIMIT, limit=4.0)), False),
        ("cancelled", NOTHING, False),
        ("succeeded", NOTHING, False),
        ("failed", ended(), True),
    ],
)
def test_the_profile_of_a_run_that_was_ended_or_came_to_its_end_is_taken(
    application, make_job, people, tmp_path, state, reason, complete
):
    run = make_job(people["user"], state, trace=True).runs.get()
    run.reason = reason
    row = half_way(run, tmp_path, complete=complete)
    assert stored_profiles.best(application, {}, 2) == row
    assert stored_skeletons.due().exists()


def test_a_program_that_calls_mpirun_itself_is_named_first(make_job, people, tmp_path):
    run = make_job(people["user"], "failed", trace=True).runs.get()
    run.run_dir, run.script = str(tmp_path), "GRIDPORTAL_TRACE_DIR=trace"
    stored_profiles.keep_trace_of(run)
    assert "The program ended before it" in message(run.trace_reason)
    (tmp_path / "output.log").write_text("Error: mpirun does not support recursive calls\n")
    stored_profiles.keep_trace_of(run)
    assert "could see it. Its program calls mpirun itself" in message(run.trace_reason)


def test_a_script_that_calls_mpirun_itself_is_named_by_its_file(make_job, people, tmp_path):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)  # everybody may enter it
        script = Path(folder, "wrap")
        script.write_text("#!/bin/sh\nexec mpirun -n 4 ./solver\n")
        run = make_job(people["user"], "succeeded", trace=True).runs.get()
        run.run_dir, run.script = str(tmp_path), "GRIDPORTAL_TRACE_DIR=trace"
        run.job.application.command = [str(script)]
        stored_profiles.keep_trace_of(run)
    assert run.trace_reason == Reason.of(Code.TRACE_INSIDE, inside="mpirun")


def no_file(folder: Path) -> None:
    """What a program without MPI leaves."""


def begun(folder: Path) -> None:
    """What a program leaves whose ranks were ended by their time limit."""
    folder.mkdir()
    (folder / "loop-marks").write_text("0 0 1800000000.5\n")


def three_copies(folder: Path) -> None:
    ranks_file(folder, 0, 1)
    (folder / "copies").write_text("1\n" * 2)


def another_size(folder: Path) -> None:
    for rank in range(2):
        ranks_file(folder, rank, 2)


def one_missing(folder: Path) -> None:
    for rank in range(2):
        ranks_file(folder, rank, 3)


def twice(folder: Path) -> None:
    for rank in range(3):
        ranks_file(folder, rank, 3)
    (folder / "copies").write_text("1\n" * 3)


@pytest.mark.parametrize(
    ("leave", "script", "code", "facts"),
    [
        (no_file, "GRIDPORTAL_TRACE_DIR=trace", Code.TRACE_NOT_SEEN, {}),
        (no_file, "no library", Code.TRACE_NO_LIBRARY, {}),
        (begun, "GRIDPORTAL_TRACE_DIR=trace", Code.TRACE_INCOMPLETE, {"found": 0, "ranks": 3}),
        (three_copies, "", Code.TRACE_COPIES, {"copies": 3, "ranks": 3}),
        (another_size, "", Code.TRACE_OTHER_RANKS, {"found": 2, "ranks": 3}),
        (one_missing, "", Code.TRACE_INCOMPLETE, {"found": 2, "ranks": 3}),
        (twice, "", Code.TRACE_SEVERAL, {"runs": 2}),
    ],
)
def test_a_lost_trace_is_told_on_the_page_of_its_job(
    application, make_job, people, client_as, tmp_path, leave, script, code, facts
):
    job = make_job(people["user"], "succeeded", trace=True, ranks=3)
    run = job.runs.get()
    run.run_dir, run.script = str(tmp_path), script
    run.started_at = run.started_at or timezone.now()
    run.save()
    leave(tmp_path / "trace")
    stored_profiles.keep_trace_of(run)
    run.refresh_from_db()
    assert (run.trace_reason.code, dict(run.trace_reason.facts)) == (code, facts)
    assert Profile.objects.exists() is (code is Code.TRACE_SEVERAL)
    assert message(run.trace_reason).split(":")[0] in markup(client_as("user").get(f"/jobs/{job.pk}/"))
    answer = client_as("user").get(f"/api/jobs/{job.pk}/runs/1/").json()
    assert (answer["trace_reason"], answer["trace_reason_code"]) == (message(run.trace_reason), code.value)
