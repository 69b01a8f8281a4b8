"""Every answer that was recorded from real clusters of 24.05 and 25.05 is read whole."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.batch_system import BackendState
from gridportal.network.importers.hostlist import expand
from gridportal.slurm import associations, qos
from gridportal.slurm.job_json import decode
from gridportal.slurm.jobs import Job, status
from gridportal.slurm.nodes import decode_nodes
from gridportal.slurm.partitions import decode_partitions, decode_reservations

RECORDED = Path(__file__).parents[4] / "shared" / "data" / "slurm"
VERSIONS = ("24.05", "25.05")


def documents(version: str, holding: str) -> list[tuple[str, Any]]:
    """Those of a version that hold such a list."""
    if not RECORDED.is_dir():
        pytest.skip("The answers that were recorded from real clusters do not lie beside this checkout.")
    read = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in (RECORDED / version).glob("*.json")}
    return [(name, document) for name, document in sorted(read.items()) if isinstance(document.get(holding), list)]


def plain(value: Any) -> int | None:
    """A number as Slurm writes it, read here in another way than the adapter does."""
    if not isinstance(value, dict):
        return value
    return value["number"] if value["set"] and not value["infinite"] else None


def job_says(job: Job, raw: dict[str, Any]) -> None:
    """Everything that the job is taken for stands in the document."""
    accounted = "state" in raw
    assert job.id.partition("_")[0].partition("+")[0] in {
        str(raw["job_id"]),
        str(plain(raw.get("array_job_id"))),
        str(plain(raw.get("het_job_id"))),
        str(plain(raw.get("array", {}).get("job_id"))),
        str(plain(raw.get("het", {}).get("job_id"))),
    }
    assert list(job.states) == (raw["state"]["current"] if accounted else raw["job_state"])
    assert job.name == raw["name"]
    assert job.reason in (raw["state"]["reason"] if accounted else raw["state_reason"], "")
    times = raw["time"] if accounted else {"start": raw["start_time"], "end": raw["end_time"]}
    assert (job.started_at or 0, job.ended_at or 0) == (plain(times["start"]) or 0, plain(times["end"]) or 0)
    code = raw["exit_code"]
    signum = plain(code["signal"]["id"]) or None
    assert job.signal == signum
    assert job.exit_code == (None if signum and not plain(code["return_code"]) else plain(code["return_code"]))
    if not accounted and raw["nodes"]:  # others never had any, though they ask for a number of them
        assert len(expand(job.nodes)) == plain(raw["node_count"])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_job_is_read_without_loss(version: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for name, document in documents(version, "jobs"):
            jobs = decode(document, name)
            assert len(jobs) == len(document["jobs"]), name
            for job, raw in zip(jobs, document["jobs"], strict=True):
                job_says(job, raw)
                assert status(job).state is not BackendState.UNKNOWN, (name, job.states)
    assert not caplog.records


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_node_is_read_without_loss(version: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for name, document in documents(version, "nodes"):
            nodes = decode_nodes(document, name)
            assert [node.name for node in nodes] == [raw["name"] for raw in document["nodes"]], name
            for node, raw in zip(nodes, document["nodes"], strict=True):
                assert [node.state, *node.flags] == raw["state"], name
                assert (node.cpus, node.allocated_cpus) == (raw["cpus"], raw["alloc_cpus"])
                assert node.memory == raw["real_memory"] * 2**20
                assert (list(node.partitions), list(node.features)) == (raw["partitions"], raw["active_features"])
                assert [part.partition("(")[0] for part in raw["gres"].split(",")] == node.gres.split(",")
    assert not caplog.records


def _partitions(document: Any) -> None:
    for found, raw in zip(decode_partitions(document), document["partitions"], strict=True):
        assert (found.name, found.nodes) == (raw["name"], raw["nodes"]["configured"])
        minutes = plain(raw["maximums"]["time"])
        assert found.max_time == (None if minutes is None else minutes * 60)
        assert found.up == (raw["partition"]["state"] == ["UP"])


def _reservations(document: Any) -> None:
    for found, raw in zip(decode_reservations(document), document["reservations"], strict=True):
        assert (found.name, found.nodes, found.start) == (raw["name"], raw["node_list"], plain(raw["start_time"]))
        assert (found.end, ",".join(found.users)) == (plain(raw["end_time"]), raw["users"])
        assert list(found.flags) == raw["flags"]


def _associations(document: Any) -> None:
    people = [raw for raw in document["associations"] if raw["user"]]
    for found, raw in zip(associations.decode(document), people, strict=True):
        assert (found.account, found.user, list(found.qos)) == (raw["account"], raw["user"], raw["qos"])


def _qos(document: Any) -> None:
    for found, raw in zip(qos.decode(document), document["qos"], strict=True):
        most, minutes = raw["limits"]["max"], plain(raw["limits"]["max"]["wall_clock"]["per"]["job"])
        assert (found.name, found.priority) == (raw["name"], plain(raw["priority"]))
        assert found.max_time == (None if minutes is None else minutes * 60)
        assert found.max_jobs == plain(most["jobs"]["active_jobs"]["per"]["user"])
        assert found.max_submitted == plain(most["jobs"]["per"]["user"])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("holding", "check"),
    [("partitions", _partitions), ("reservations", _reservations), ("associations", _associations), ("qos", _qos)],
)
def test_all_else_that_was_recorded_is_read_without_loss(
    version: str, holding: str, check: Callable[[Any], None]
) -> None:
    # An account lists its associations too, by their numbers.
    found = [document for name, document in documents(version, holding) if "accounts" not in document]
    assert found
    for document in found:
        check(document)
