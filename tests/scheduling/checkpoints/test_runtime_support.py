"""What programs keep in their jobs' folders becomes rows, whatever they put there; the folder goes with the job."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gridportal.runtime.srs import checkpoint_manifest
from scheduling.checkpoints.models import Checkpoint, RuntimeSupport
from scheduling.checkpoints.services import continuing
from scheduling.checkpoints.services.freeing import free_folders
from scheduling.checkpoints.services.runtime_support import follow_runtime_support
from scheduling.jobs.models import Application, Job
from scheduling.messages import message
from scheduling.runs.services import checkpoint_facts, job_folder
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import end_well, leave_checkpoint, look, newest, running, stoppable

Submit = Callable[..., Job]


@pytest.fixture
def job(submit: Submit, application: Application, fake_grid: FakeGrid) -> Job:
    stoppable(application)
    return running(submit)


def place(job: Job) -> Path:
    return job_folder.checkpoints(job)


def write(path: Path, document: Any) -> None:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")


def test_checkpoints_and_the_map_of_the_data_become_rows_and_go_as_the_program_lets_go_of_them(job: Job) -> None:
    folder = leave_checkpoint(job, 1)
    layout = {"dimensions": [{"parts": 2, "block": 64}]}
    arrays = {"x": {"dtype": "<f8", "shape": [100, 10], "layout": layout}}
    write(place(job) / "maps.json", {"ranks": 2, "hosts": ["n1", "n2"], "arrays": arrays})
    follow_runtime_support()
    row = RuntimeSupport.objects.get(job=job)
    assert (row.ranks, row.hosts, row.bytes, row.stop_asked) == (2, ["n1", "n2"], 8000, False)
    assert row.arrays[0]["layout"] == "block-cyclic:64:2"
    kept = Checkpoint.objects.get(job=job)
    assert (kept.number, kept.ranks, kept.bytes, kept.health) == (1, 2, 32, "whole")
    assert follow_runtime_support() == 0
    leave_checkpoint(job, 2)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    follow_runtime_support()
    assert list(Checkpoint.objects.filter(job=job).values_list("number", flat=True)) == [2]


def test_what_ended_before_anybody_looked_is_there_all_the_same(job: Job, fake_grid: FakeGrid) -> None:
    """A program that fails within a moment leaves no open run to a look every few seconds."""
    end_well(job, fake_grid)
    assert look(job).is_final
    RuntimeSupport.objects.all().delete()
    follow_runtime_support()
    assert RuntimeSupport.objects.filter(job=job).exists()


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "{",
        "[" * 100_000,
        [],
        {"arrays": 7},
        {"arrays": [], "ranks": "many", "written_at": 1},
        {"arrays": [], "ranks": 1, "written_at": 1e300},
        {"arrays": [{"name": "x", "shape": [-1], "shards": []}], "ranks": 1, "written_at": 1},
        {"arrays": [{"name": "x", "shape": [10**400], "shards": []}], "ranks": 1, "written_at": 1},
        {"arrays": [{"name": 3, "shape": [1], "shards": []}], "ranks": 1, "written_at": 1},
        {"arrays": [{"name": "x", "shape": [1], "shards": [{"bytes": 3}]}], "ranks": 1, "written_at": 1},
    ],
)
def test_a_manifest_that_nobody_can_read_is_a_checkpoint_that_is_told_so(job: Job, manifest: Any) -> None:
    folder = place(job) / "checkpoint-00000001"
    folder.mkdir()
    write(folder / "manifest.json", manifest)
    follow_runtime_support()
    kept = Checkpoint.objects.get(job=job)
    assert (kept.health, bool(message(kept.problem))) == ("unreadable", True)


def test_links_pipes_and_strange_names_are_not_followed(job: Job, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    (place(job) / "checkpoint-00000001").symlink_to(tmp_path)
    folder = leave_checkpoint(job, 2)
    (folder / "0-1.raw").unlink()
    (folder / "0-1.raw").symlink_to("/etc/passwd")
    third = place(job) / "checkpoint-00000003"
    third.mkdir()
    os.mkfifo(third / "manifest.json")
    fourth = leave_checkpoint(job, 4)
    document = json.loads((fourth / "manifest.json").read_text(encoding="utf-8"))
    document["arrays"][0]["shards"][0]["file"] = "../../../../etc/passwd"
    document["arrays"][0]["name"] = "x\u202e<b>" * 50
    write(fourth / "manifest.json", document)
    (place(job) / "checkpoint-oops").mkdir()
    os.mkfifo(place(job) / "maps.json")
    follow_runtime_support()
    found = {row.number: (row.health, message(row.problem)) for row in Checkpoint.objects.filter(job=job)}
    assert {number: health for number, (health, _) in found.items()} == {
        1: "unreadable",
        2: "incomplete",
        3: "unreadable",
        4: "incomplete",
    }
    assert found[2][1] == "The shard 0-1.raw has 11 bytes; 16 were written."
    assert found[4][1] == "“../../../../etc/passwd” is no name of a shard."
    assert RuntimeSupport.objects.get(job=job).ranks is None
    assert "\u202e" not in Checkpoint.objects.get(job=job, number=4).arrays[0]["name"]


def test_a_folder_that_is_a_link_holds_nothing(job: Job, tmp_path: Path) -> None:
    leave_checkpoint(job, 1)
    place(job).rename(tmp_path / "elsewhere")
    place(job).symlink_to(tmp_path / "elsewhere")
    assert checkpoint_facts.checkpoints(job) == []
    follow_runtime_support()
    assert not Checkpoint.objects.filter(job=job).exists()


def test_of_a_job_that_succeeded_nothing_stays_and_of_one_that_failed_for_a_while(
    job: Job, fake_grid: FakeGrid, submit: Submit
) -> None:
    other = running(submit)
    for each in (job, other):
        leave_checkpoint(each, 1)
    end_well(job, fake_grid)
    fake_grid.end(newest(other).key, 3)
    for each in (job, other):
        look(each)
    assert (job.state, other.state) == ("succeeded", "failed")
    assert free_folders() == 1
    assert (job_folder.folder(job).exists(), job_folder.folder(other).exists()) == (False, True)
    assert not Checkpoint.objects.filter(job=job).exists()
    assert Checkpoint.objects.filter(job=other).exists()
    Job.objects.filter(pk=other.pk).update(ended_at=timezone.now() - timedelta(days=15))
    assert (free_folders(), free_folders()) == (1, 0)
    assert not job_folder.folder(other).exists()
    assert RuntimeSupport.objects.get(job=other).freed_at is not None


def test_a_poll_asks_no_more_for_many_jobs_whose_folders_stay_as_they_are(
    submit: Submit, fake_grid: FakeGrid, application: Application
) -> None:
    fake_grid.names = [f"n{number}" for number in range(1, 9)]
    stoppable(application)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            follow_runtime_support("grid")
            continuing.advance_continuations("grid")
        return len(queries)

    look(running(submit))
    few = asked()
    for _ in range(3):
        look(running(submit))
    assert (asked(), few <= 5) == (few, True)


def test_a_manifest_that_was_changed_is_told_as_unreadable(job: Job) -> None:
    folder = leave_checkpoint(job)
    document = json.loads((folder / "manifest.json").read_text())
    whole = checkpoint_manifest.text(document)
    (folder / "manifest.json").write_text(whole)
    assert checkpoint_facts.newest_whole(job) == 1
    (folder / "manifest.json").write_text(whole.replace('"ranks": 2', '"ranks": 3'))
    (facts,) = checkpoint_facts.checkpoints(job)
    assert facts.health is checkpoint_facts.Health.UNREADABLE
    assert message(facts.problem).startswith("manifest.crc32 is ")
