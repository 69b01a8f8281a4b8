"""The runs of a job get a key to its own shards in depots, and what it has there goes when its folder does."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from gridportal.base.clusters import Cluster
from gridportal.runtime.depot import depot_access, depot_wire
from gridportal.runtime.depot.depot_access import Keep
from gridportal.runtime.depot.depot_client import Depots
from gridportal.runtime.srs import checkpoint_manifest
from gridportal.testbed.state import State
from monitoring.clusters import selectors
from monitoring.telemetry.services import depots
from scheduling import tasks
from scheduling.checkpoints.models import Checkpoint
from scheduling.checkpoints.selectors import restart_point
from scheduling.checkpoints.services import runtime_support
from scheduling.jobs.models import Application, Job
from scheduling.messages import message
from scheduling.runs.services import job_depots, job_folder
from tests.fake_grid import FakeGrid
from tests.gridportal.runtime.agent.agents import KEY, Portal, agent
from tests.scheduling.runs.test_job_folder import stoppable

Submit = Callable[..., Job]
NAME = "0123456789abcdef-0-0"


@pytest.fixture
def grid_with_depots(fake_grid: FakeGrid, tmp_path: Path) -> Iterator[State]:
    """The first node has an agent with a depot; the others are silent."""
    state = State(settings.PORTAL.grid_state_dir)
    state.agents.mkdir(parents=True)
    state.agent_key.write_text(KEY)
    state.agent_key.chmod(0o600)
    more = ("--depot", "127.0.0.1:0", "--depot-folder", str(tmp_path / "depot"))
    with agent(state.agent("n1"), "n1", *more):
        portal = Portal(state.agent("n1")).open()
        host, port = portal.ask(op="report")["depot"]
        portal.close()
        state.depots.write_text(json.dumps({"n1": f"{host}:{port}"}))
        yield state
    shutil.rmtree(state.agents)


def placed(submit: Submit, application: Application) -> Job:
    stoppable(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    return job


def test_a_run_gets_the_key_of_its_own_job_in_a_file_for_its_user_alone(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    job = placed(submit, application)
    run = job.runs.get()
    file = Path(run.run_dir) / "depots.json"
    assert f"export GRIDPORTAL_DEPOTS={file}\n" in run.script
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    access = depot_access.read(file)
    assert access.job == job_depots.name(job)
    assert access.key == depot_wire.job_key(KEY.encode(), access.job)
    assert (access.keep, access.copies) == (Keep.DEPOTS, 1)
    assert access.key.hex() not in run.script
    assert KEY not in file.read_text()


def test_a_run_that_is_handed_over_again_keeps_the_file_that_its_program_may_be_reading(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    job = placed(submit, application)
    directory = Path(job.runs.get().run_dir)
    file, cluster = directory / "depots.json", selectors.setting(job.cluster)
    before = file.stat().st_ino
    job_depots.hand_over(job, cluster, directory)
    assert file.stat().st_ino == before
    file.write_text("{}")
    job_depots.hand_over(job, cluster, directory)
    assert depot_access.read(file).job == job_depots.name(job)


def test_where_shards_are_to_be_files_no_run_gets_a_key(
    grid_with_depots: State, submit: Submit, application: Application, settings: Any
) -> None:
    settings.CLUSTERS = {"grid": Cluster(name="grid", backend="grid", checkpoints="folder")}
    run = placed(submit, application).runs.get()
    assert "GRIDPORTAL_DEPOTS" not in run.script
    assert not (Path(run.run_dir) / "depots.json").exists()


def test_a_program_that_cannot_be_stopped_gets_no_key(grid_with_depots: State, submit: Submit) -> None:
    job = submit(2)
    tasks.place_jobs(job.cluster)
    assert not (Path(job.runs.get().run_dir) / "depots.json").exists()


def test_shards_go_with_the_folder_of_their_job_and_those_of_others_stay(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    first, second = placed(submit, application), placed(submit, application)
    cluster = selectors.setting(first.cluster)
    addresses = json.loads(grid_with_depots.depots.read_text())
    other = "00000000-job-1-01234567"  # of another portal
    for name in (job_depots.name(first), job_depots.name(second), other):
        Depots(depot_access.issued(KEY.encode(), name, addresses)).put("n1", NAME, memoryview(b"mine"))
    tasks.sweep_depots()
    assert len(depots.usage(cluster)["n1"]) == 3
    job_folder.free(first)
    tasks.sweep_depots()
    assert set(depots.usage(cluster)["n1"]) == {job_depots.name(second), other}
    job_depots.free(second, ["n1"])
    assert set(depots.usage(cluster)["n1"]) == {other}


def test_nothing_is_swept_while_the_folders_of_all_jobs_are_away(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    job = placed(submit, application)
    cluster = selectors.setting(job.cluster)
    addresses = json.loads(grid_with_depots.depots.read_text())
    access = depot_access.issued(KEY.encode(), job_depots.name(job), addresses)
    Depots(access).put("n1", NAME, memoryview(b"mine"))
    everything = job_folder.folder(job).parent
    everything.rename(everything.with_name("elsewhere"))
    assert job_depots.sweep(cluster) == 0
    assert list(depots.usage(cluster)["n1"]) == [job_depots.name(job)]


def leave_in_depots(job: Job, *copies: list[str]) -> Checkpoint:
    """A checkpoint with one shard for each of `copies`, which are in the depots of these nodes alone, as its row."""
    folder = job_folder.checkpoints(job) / "checkpoint-00000001"
    folder.mkdir()
    shards = [{"rank": 0, "file": None, "bytes": 4, "crc32": 0, "depots": nodes} for nodes in copies]
    array = {"name": "x", "dtype": "<f8", "shape": [2], "layout": {}, "shards": shards}
    document = {"version": 2, "number": 1, "written_at": 9.0, "ranks": 2, "arrays": [array]}
    (folder / "manifest.json").write_text(checkpoint_manifest.text(document))
    runtime_support.follow_runtime_support()
    return Checkpoint.objects.get(job=job)


def test_a_checkpoint_whose_shards_are_gone_from_their_depots_is_told_as_incomplete(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    job = placed(submit, application)
    addresses = json.loads(grid_with_depots.depots.read_text())
    there = Depots(depot_access.issued(KEY.encode(), job_depots.name(job), addresses))
    there.put("n1", NAME, memoryview(b"mine"))
    row = leave_in_depots(job, ["n1"], ["n1", "n2"])
    assert row.health == "whole"
    tasks.look_into_depots()
    row.refresh_from_db()
    assert row.health == "whole"
    job_depots.free(job, ["n1"])
    tasks.look_into_depots()
    row.refresh_from_db()
    assert row.health == "incomplete"
    assert message(row.problem) == "The depot of n1 no longer has its shards."
    assert restart_point(job) is None


def test_a_checkpoint_stays_whole_while_a_copy_may_be_on_a_node_that_is_silent(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    row = leave_in_depots(placed(submit, application), ["n1", "n2"])
    tasks.look_into_depots()
    row.refresh_from_db()
    assert row.health == "whole"


def test_a_node_that_the_cluster_no_longer_has_has_no_shards(
    grid_with_depots: State, submit: Submit, application: Application
) -> None:
    row = leave_in_depots(placed(submit, application), ["gone1", "gone2"])
    tasks.look_into_depots()
    row.refresh_from_db()
    assert message(row.problem) == "The depots of gone1, gone2 no longer have its shards."


def test_depots_that_cannot_be_reached_stop_nothing(
    grid_with_depots: State, submit: Submit, application: Application, caplog: pytest.LogCaptureFixture
) -> None:
    job = placed(submit, application)
    grid_with_depots.agent_key.write_text("another key, of another Grid")
    job_depots.free(job, ["n1", "n2"])
    assert "for now: No agent of grid answers" in caplog.text
    tasks.sweep_depots()
