"""JSON of every version, recorded and hand-made, means the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.batch_system import BackendState
from gridportal.base.errors import BackendError
from gridportal.base.reasons import Code
from gridportal.network.importers.hostlist import expand
from gridportal.slurm.job_json import decode
from gridportal.slurm.jobs import status
from gridportal.slurm.nodes import decode_nodes
from gridportal.slurm.partitions import decode_partitions, decode_reservations
from scheduling.messages import message

VERSIONS = ("24.05", "25.05")


def recorded(version: str) -> Any:
    return json.loads(Path(__file__).with_name("data").joinpath(f"{version}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_jobs_of_the_queue(version: str) -> None:
    jobs = decode(recorded(version)["queue"])
    assert len(jobs) == len(recorded(version)["queue"]["jobs"])
    done, failed, late, running, pending = (status(job) for job in jobs[:5])
    assert (done.state, done.exit_code) == (BackendState.FINISHED, 0)
    assert (failed.state, failed.exit_code) == (BackendState.FINISHED, 1)
    assert (late.exit_code, late.signal) == (None, 15)
    assert late.cause is Code.TIMED_OUT
    assert running.state is BackendState.RUNNING
    assert running.started_at is not None
    assert running.started_at > 1.7e9
    words = "Its earliest start time has not come yet. It starts by itself."
    assert message(pending.reason) == words
    assert expand(jobs[-1].nodes) == ["gpu1", "gpu2"]


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_jobs_of_the_accounts_end_as_those_of_the_queue(version: str) -> None:
    queue = {job.id: job for job in decode(recorded(version)["queue"])}
    accounts = {job.id: job for job in decode(recorded(version)["accounts"], "sacct --json")}
    ended = [key for key, job in queue.items() if job.state is BackendState.FINISHED]
    assert len(ended) == 3
    for key in ended:
        mine, theirs = status(queue[key]), status(accounts[key])
        assert (mine.state, mine.exit_code, mine.started_at) == (theirs.state, theirs.exit_code, theirs.started_at)
        assert queue[key].nodes == accounts[key].nodes


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_nodes(version: str) -> None:
    nodes = decode_nodes(recorded(version)["nodes"])
    assert len(nodes) == len(recorded(version)["nodes"]["nodes"])
    by_state = {(node.state, *node.flags): node for node in nodes}
    assert not by_state["DOWN",].usable
    assert not by_state["IDLE", "DRAIN"].usable
    assert by_state["IDLE",].free
    assert by_state["ALLOCATED",].usable
    assert not by_state["ALLOCATED",].free
    assert {node.gres for node in nodes} == {"", "gpu:h100:4"}
    assert all(node.memory and node.memory >= 2**34 for node in nodes)
    assert all(node.cpu_load is not None and node.cpu_load < 5 for node in nodes)


def test_recorded_partitions_and_reservations() -> None:
    assert [p.up for p in decode_partitions(recorded("24.05")["partitions"])][:1] == [True]
    assert decode_partitions(recorded("24.05")["partitions"])[0].max_time is None
    assert decode_partitions(recorded("25.05")["partitions"])[0].max_time == 7200
    (course,) = decode_reservations(recorded("24.05")["reservations"])
    assert (course.name, course.start) == ("training", 1748250553)
    assert len(expand(course.nodes)) == 512


def infinite(number: int, *, known: bool = True) -> dict[str, Any]:
    return {"set": known, "infinite": False, "number": number}


NOT_SET = infinite(0, known=False)
NEW = {"job_state": ["FAILED"], "start_time": infinite(1_700_000_000), "array_job_id": infinite(0)}
SHAPES = {
    "22.05": {
        "job_state": "FAILED",
        "exit_code": 3 << 8,
        "start_time": 1_700_000_000,
        "array_task_id": None,
        "array_job_id": 0,
        "job_resources": {"nodes": "n[1-2]", "allocated_hosts": 2},
        "nodes": "",
    },
    "23.02": {
        "job_state": "FAILED",
        "exit_code": 3 << 8,
        "start_time": 1_700_000_000,
        "array_task_id": NOT_SET,
        "array_job_id": infinite(0),
        "job_resources": {"nodes": "n[1-2]"},
        "nodes": "n[1-2]",
    },
    "23.11": NEW
    | {
        "job_resources": {"nodes": "n[1-2]", "allocated_cores": 2},
        "nodes": "n[1-2]",
        "exit_code": {"status": ["ERROR"], "return_code": infinite(3), "signal": {"signal_id": NOT_SET, "name": ""}},
    },
    "24.05": NEW
    | {
        "job_resources": {"nodes": {"count": 2, "list": "n[1-2]"}},
        "nodes": "",
        "array_task_id": NOT_SET,
        "exit_code": {"status": ["ERROR"], "return_code": infinite(3), "signal": {"id": NOT_SET, "name": ""}},
    },
    "25.05": NEW
    | {
        "job_resources": None,
        "nodes": "n[1-2]",
        "restart_cnt": 0,
        "exit_code": {"status": ["ERROR"], "return_code": infinite(3), "signal": {"id": NOT_SET}},
    },
}


@pytest.mark.parametrize("version", SHAPES)
def test_one_job_in_the_shape_of_every_version(version: str) -> None:
    (job,) = decode({"jobs": [{"job_id": 7, "name": "x", "comment": "key", "state_reason": "None"} | SHAPES[version]]})
    told = status(job)
    assert (job.id, job.nodes, job.comment) == ("7", "n[1-2]", "key")
    assert (told.state, told.exit_code, told.signal, told.started_at) == (BackendState.FINISHED, 3, None, 1_700_000_000)


@pytest.mark.parametrize(
    ("fields", "identity"),
    [
        ({"array_job_id": 5, "array_task_id": 2}, "5_2"),
        ({"array_job_id": infinite(5), "array_task_id": infinite(0)}, "5_0"),
        ({"array_job_id": infinite(0), "array_task_id": infinite(0, known=False)}, "7"),
        ({"het_job_id": infinite(6), "het_job_offset": infinite(1)}, "6+1"),
        ({"het_job_id": infinite(0), "het_job_offset": infinite(0)}, "7"),
    ],
)
def test_array_tasks_and_parts_have_their_own_ids(fields: dict[str, Any], identity: str) -> None:
    assert decode({"jobs": [{"job_id": 7, "job_state": ["RUNNING"]} | fields]})[0].id == identity


@pytest.mark.parametrize(
    "node",
    [
        {"name": "n1", "state": "idle", "state_flags": ["DRAIN"], "free_memory": 100, "cpu_load": 150, "cpus": 2},
        {"name": "n1", "state": ["IDLE", "DRAIN"], "free_mem": infinite(100), "cpu_load": infinite(150), "cpus": 2},
    ],
)
def test_one_node_in_old_and_new_shape(node: dict[str, Any]) -> None:
    (found,) = decode_nodes({"nodes": [node]})
    assert (found.state, found.flags, found.free_memory, found.cpu_load) == ("IDLE", ("DRAIN",), 100 * 2**20, 1.5)


@pytest.mark.parametrize("document", [None, [], {}, {"jobs": None}, {"jobs": "many"}, {"jobs": [1, None]}])
def test_what_is_no_list_of_jobs_is_one_sentence(document: Any) -> None:
    with pytest.raises(BackendError, match=r"^squeue --json gave"):
        decode(document)


def test_entries_that_are_no_jobs_are_skipped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    good = {"job_id": 7, "job_state": ["RUNNING"]}
    strange = [{}, {"job_id": "x"}, {"job_id": {"set": False}, "job_state": []}, 3, {"job_id": 1, "state": None}]
    assert [job.id for job in decode({"jobs": [*strange, good]})] == ["7"]
    assert len(caplog.records) == len(strange)
    assert decode_nodes({"nodes": [{}, 3, {"name": ""}]}) == []
