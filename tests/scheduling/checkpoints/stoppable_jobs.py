"""Jobs of a program that makes the calls of SRS, on a Grid in memory: tests say what it does."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from scheduling import tasks
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.registering import register_application
from scheduling.runs.models import Run
from scheduling.runs.services import job_folder
from tests.fake_grid import FakeGrid


def stoppable(application: Application, **means: Any) -> Application:
    """It can be stopped from now on."""
    return register_application("tests", {"stop_means": {"by": "srs", "seconds": 60, **means}}, application)


def running(submit: Any, nodes: int = 2, **asked: Any) -> Job:
    """A job that computes."""
    job: Job = submit(nodes, **asked)
    tasks.place_jobs(job.cluster)
    tasks.poll_runs()
    job.refresh_from_db()
    assert job.state == "running"
    return job


def newest(job: Job) -> Run:
    return job.runs.order_by("-number")[:1].get()


def is_asked(job: Job) -> bool:
    return (job_folder.checkpoints(job) / "stop").exists()


def leave_checkpoint(job: Job, number: int = 1, *, ranks: int = 2, at: float | None = None) -> Path:
    """A checkpoint of two shards, as the library writes it."""
    folder = job_folder.checkpoints(job) / f"checkpoint-{number:08d}"
    folder.mkdir()
    shards = [{"rank": rank, "file": f"0-{rank}.raw", "bytes": 16, "crc32": 0} for rank in range(ranks)]
    for shard in shards:
        (folder / shard["file"]).write_bytes(bytes(16))
    layout = {"grid": [ranks], "dealings": [{"kind": "block"}]}
    array = {"name": "x", "dtype": "<f8", "shape": [2 * ranks], "layout": layout, "shards": shards}
    document = {"version": 1, "number": number, "written_at": at or time.time(), "ranks": ranks, "arrays": [array]}
    (folder / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def obey(job: Job, grid: FakeGrid, number: int = 1) -> None:
    """The program does as it is asked: it writes its checkpoint, says so and ends well."""
    run = newest(job)
    (job_folder.checkpoints(job) / "stop").unlink(missing_ok=True)
    leave_checkpoint(job, number)
    grid.write(run.key, {"event": "stopped", "checkpoint": number, "seconds": 0.004, "bytes": 32})
    grid.end(run.key)


def restored(job: Job, grid: FakeGrid, number: int = 1) -> None:
    """Its next run has read its data."""
    grid.write(newest(job).key, {"event": "restored", "checkpoint": number, "seconds": 0.002, "bytes": 32})


def end_well(job: Job, grid: FakeGrid) -> None:
    run = newest(job)
    grid.write(run.key, {"event": "result", "verified": True, "seconds": 1.0, "figures": {}})
    grid.end(run.key)


def look(job: Job) -> Job:
    """What beat does in two rounds: in one a run is handed over, in the next it is seen to run."""
    for _ in range(2):
        tasks.advance_jobs()
        tasks.poll_runs()
    job.refresh_from_db()
    return job
