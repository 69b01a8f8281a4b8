"""Documents of any version, their shapes mixed at will, mean the same; so do both forms of associations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.batch_system import BackendState
from gridportal.base.errors import BackendError
from gridportal.slurm import associations
from gridportal.slurm.job_json import decode
from gridportal.slurm.jobs import status
from gridportal.slurm.node_state import BASES, node_state
from gridportal.slurm.nodes import decode_nodes
from gridportal.slurm.partitions import decode_partitions, decode_reservations


def number(value: int) -> st.SearchStrategy[Any]:
    """A number as 22.05, 23.02 and later write it."""
    return st.sampled_from([value, {"set": True, "infinite": False, "number": value}, {"number": value, "set": True}])


def unset() -> st.SearchStrategy[Any]:
    """No number, as any version writes it."""
    shapes = [None, 0, {"set": False, "infinite": False, "number": 0}, {"set": False, "infinite": True, "number": 0}]
    return st.sampled_from(shapes)


def state(word: str) -> st.SearchStrategy[Any]:
    return st.sampled_from([word, [word]])


def nodes() -> st.SearchStrategy[dict[str, Any]]:
    """Where a job runs: a host list, in job_resources, or an object there (24.05 on)."""
    shapes: list[dict[str, Any]] = [
        {"nodes": "n[1-2]"},
        {"nodes": "", "job_resources": {"nodes": "n[1-2]"}},
        {"nodes": None, "job_resources": {"nodes": {"count": 2, "list": "n[1-2]"}}},
        {"job_resources": {"nodes": {"list": "n[1-2]", "allocation": []}}, "nodes": ""},
    ]
    return st.sampled_from(shapes)


def exit_code(code: int) -> st.SearchStrategy[Any]:
    """A wait status, or objects whose signal is called one way or the other."""
    signal = st.sampled_from([{}, {"signal_id": {"set": False, "number": 0}, "name": ""}, {"id": {"set": False}}])
    objects = st.builds(lambda c, s: {"status": ["ERROR"], "return_code": c, "signal": s}, number(code), signal)
    return st.one_of(st.just(code << 8), objects)


@given(st.data(), st.integers(1, 200))
def test_a_job_means_the_same_in_any_mixture_of_shapes(data: st.DataObject, code: int) -> None:
    draw = data.draw
    raw = {
        "job_id": draw(number(7)),
        "name": "x",
        "comment": "key",
        "job_state": draw(state("FAILED")),
        "exit_code": draw(exit_code(code)),
        "start_time": draw(number(1_700_000_000)),
        "end_time": draw(number(1_700_000_060)),
        "array_job_id": draw(unset()),
        "array_task_id": None,
        "het_job_id": draw(unset()),
        "het_job_offset": draw(unset()),
        "restart_cnt": draw(number(2)),
        **draw(nodes()),
    }
    (job,) = decode({"jobs": [raw]})
    told = status(job)
    assert (job.id, job.nodes, job.restarts) == ("7", "n[1-2]", 2)
    assert (told.state, told.exit_code, told.started_at, told.ended_at) == (
        BackendState.FINISHED,
        code,
        1_700_000_000,
        1_700_000_060,
    )


@given(st.data())
def test_a_node_a_partition_and_a_reservation_mean_the_same_in_any_mixture_of_shapes(data: st.DataObject) -> None:
    draw = data.draw
    (node,) = decode_nodes(
        {
            "nodes": [
                {
                    "name": "n1",
                    "state": draw(state("MIXED")),
                    "cpus": draw(number(4)),
                    "alloc_cpus": draw(number(1)),
                    "real_memory": draw(number(1000)),
                    draw(st.sampled_from(["free_mem", "free_memory"])): draw(number(10)),
                    "partitions": draw(st.sampled_from([["a", "b"], "a,b"])),
                    "gres": "gpu:2",
                },
            ]
        }
    )
    assert (node.state, node.cpus, node.allocated_cpus, node.memory) == ("MIXED", 4, 1, 1000 * 2**20)
    assert (node.free_memory, node.partitions) == (10 * 2**20, ("a", "b"))
    (partition,) = decode_partitions(
        {
            "partitions": [
                {
                    "name": "a",
                    "maximums": {"time": draw(number(60)), "nodes": draw(unset())},
                    **draw(st.sampled_from([{"state": "UP"}, {"partition": {"state": ["UP"]}}])),
                    "nodes": draw(st.sampled_from([{"configured": "n[1-4]"}, "n[1-4]"])),
                },
            ]
        }
    )
    assert (partition.up, partition.max_time, partition.nodes) == (True, 3600, "n[1-4]")
    (course,) = decode_reservations(
        {
            "reservations": [
                {
                    "name": "c",
                    "start_time": draw(number(1_700_000_000)),
                    "end_time": draw(number(1_700_003_600)),
                    "node_list": "n1",
                    "users": draw(st.sampled_from([["ann", "bob"], "ann,bob"])),
                },
            ]
        }
    )
    assert (course.start, course.end, course.users) == (1_700_000_000, 1_700_003_600, ("ann", "bob"))


@pytest.mark.parametrize("base", sorted(BASES))
def test_a_known_state_of_a_node_is_no_cause_for_a_warning(base: str, caplog: pytest.LogCaptureFixture) -> None:
    for raw in (base, base.lower(), f"{base}*", f"{base}+DRAIN", [base], [base, "NOT_RESPONDING"]):
        assert node_state(raw)[0] == base
    assert not caplog.records


def test_associations_are_read_from_text_and_from_json() -> None:
    text = "root||normal|||\nphysics|ann|high,normal|normal||\nart|ann|normal||gpu|\nart|bob|normal|||\n"
    document = {
        "associations": [
            {"account": "root", "user": "", "qos": ["normal"]},
            {"account": "physics", "user": "ann", "qos": ["high", "normal"], "default": {"qos": "normal"}},
            {"account": "art", "user": "ann", "qos": ["normal"], "partition": "gpu", "default": {"qos": ""}},
            {"account": "art", "user": "bob", "qos": ["normal"], "default": {}},
        ]
    }
    assert associations.parse(text) == associations.decode(document)
    assert associations.by_user(associations.parse(text)) == {
        "ann": {"art": ["normal"], "physics": ["high", "normal"]},
        "bob": {"art": ["normal"]},
    }
    for wrong in (None, {}, {"associations": "many"}):
        with pytest.raises(BackendError, match="associations"):
            associations.decode(wrong)
    with pytest.raises(BackendError, match="sacctmgr gave"):
        associations.parse("<html>502 Bad Gateway")
