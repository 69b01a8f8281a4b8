"""Traces: read and written without loss, refused with the place of the mistake, merged from what ranks wrote."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.profiles.core import trace
from scheduling.profiles.core.trace import ANY, Call, Compute, Inside, Loop, Process, Trace

RANKS = 3
COMMS = {"0": (0, 1, 2), "1": (2, 0)}

_number = st.floats(0, 1e12, allow_nan=False)
_rank = st.none() | st.integers(0, RANKS - 1)
_call = st.builds(
    Call,
    call=st.sampled_from(["MPI_Send", "MPI_Recv", "MPI_Waitall", "MPI_Neighbor_alltoallv"]),
    comm=st.sampled_from(sorted(COMMS)),
    peer=_rank,
    source=_rank | st.just(ANY),
    tag=st.none() | st.integers(0, 99) | st.just(ANY),
    bytes=_number,
    counts=st.lists(_number, max_size=3).map(tuple),
    requests=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    compute=st.builds(Compute, n=st.just(0), mean=_number, var=_number, cpu=_number),
    seconds=st.builds(Inside, n=st.integers(0, 9), mean=_number),
)
_body = st.recursive(
    st.lists(_call, max_size=4).map(tuple),
    lambda inner: st.lists(_call | st.builds(Loop, count=st.integers(1, 9), body=inner), max_size=3).map(tuple),
    max_leaves=8,
)


def whole(bodies: list[Any]) -> Trace:
    processes = tuple(Process(rank, 1.0, body) for rank, body in enumerate(bodies))
    return Trace("program", RANKS, "MPICH", 1.0, ("a", "b", "c"), COMMS, processes)


@given(st.lists(_body, min_size=RANKS, max_size=RANKS))
@settings(max_examples=60, deadline=None)
def test_a_trace_is_read_as_it_was_written(bodies: list[Any]) -> None:
    found = whole(bodies)
    assert trace.parse(trace.dump(found)) == found


@given(_body)
@settings(max_examples=60, deadline=None)
def test_weights_are_how_often_calls_run(body: Any) -> None:
    unfolded = list(trace.unfolded(body))
    assert sum(times for _, times in trace.weighted(body)) == len(unfolded)
    assert all(unfolded.count(call) >= times for call, times in trace.weighted(body))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"version": 2}, "version"),
        ({"ranks": 0}, "ranks"),
        ({"comms": {"0": [0, 1]}}, "comms.0"),
        ({"processes": []}, "processes"),
        ({"hosts": 7}, "hosts"),
    ],
)
def test_a_wrong_head_is_named(change: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as error:
        trace.parse({**trace.dump(whole([(), (), ()])), **change})
    assert error.value.field == where


@pytest.mark.parametrize(
    ("node", "where"),
    [
        ({"call": "printf"}, "call"),
        ({"call": "MPI_Send", "peer": 3}, "peer"),
        ({"call": "MPI_Send", "bytes": -1}, "bytes"),
        ({"call": "MPI_Send", "comm": "7"}, "comm"),
        ({"call": "MPI_Send", "bytes": True}, "bytes"),
        ({"call": "MPI_Wait", "requests": [-1]}, "requests"),
        ({"loop": 0, "body": []}, "loop"),
        ({"loop": 2}, "body"),
        ({"loop": 10**12, "body": [{"loop": 10**12, "body": []}]}, "body[0].loop"),
        ({"call": "MPI_Send", "bytes": 1e308}, "bytes"),
        ({"call": "MPI_Send", "seconds": {"n": 1, "mean": 1e300}}, "seconds.mean"),
        ({"call": "MPI_Alltoallv", "counts": [1, 2]}, "counts"),
        ({"call": "MPI_"}, "call"),
        ({"call": "MPI_Send", "compute": {"rounds": 5}}, "compute.rounds"),
        ({"call": "MPI_Send", "compute": {"rounds": [0.1]}}, "compute.rounds"),
        ({"loop": 2, "rounds": [0], "body": []}, "rounds"),
        (7, ""),
    ],
)
def test_a_wrong_call_is_named_with_its_place(node: Any, where: str) -> None:
    document = copy.deepcopy(trace.dump(whole([(), (), ()])))
    document["processes"][1]["body"] = [{"loop": 2, "body": [{"call": "MPI_Barrier"}, node]}]
    with pytest.raises(InputError) as error:
        trace.parse(document)
    assert error.value.field == "processes[1].body[0].body[1]" + (f".{where}" if where else "")


KEPT = {"call": "MPI_Send", "compute": {"cpu": 0.2, "rounds": [0.1, 0.3]}}


def with_rounds(loop: Any) -> Any:
    document = copy.deepcopy(trace.dump(whole([(), (), ()])))
    document["processes"][1]["body"] = [loop]
    return document


def test_kept_rounds_are_read_and_written_also_in_inner_loops() -> None:
    loop = {"loop": 9, "rounds": [0, 8], "body": [KEPT, {"loop": 3, "body": [KEPT, {"call": "MPI_Recv"}]}]}
    found = trace.parse(with_rounds(loop))
    outer = found.processes[1].body[0]
    assert isinstance(outer, Loop)
    assert outer.rounds == (0, 8)
    assert [call.compute.rounds for call, _ in trace.weighted(outer.body)] == [(0.1, 0.3), (0.1, 0.3), ()]
    assert trace.parse(trace.dump(found)) == found


@pytest.mark.parametrize(
    ("loop", "where", "accepted"),
    [
        ({"rounds": {}}, "rounds", "a list"),
        ({"rounds": [0, 9]}, "rounds", "a whole number from 0 to 8"),
        ({"rounds": [0, 1.5]}, "rounds", "a whole number from 0 to 8"),
        ({"rounds": [3, 3]}, "rounds", "each higher than the one before"),
        ({"loop": 2000, "rounds": list(range(1025))}, "rounds", "at most 1,024 rounds"),
        ({"rounds": [4]}, "body[0].compute.rounds", "1 numbers, one for each round"),
        ({"rounds": []}, "body[0].compute.rounds", "none: no round was kept"),
        ({"body": [{"call": "MPI_Send", "compute": {"rounds": [1, -1]}}]}, "body[0].compute.rounds[1]", "from 0"),
    ],
)
def test_wrong_kept_rounds_are_refused_in_one_sentence(loop: Any, where: str, accepted: str) -> None:
    with pytest.raises(InputError) as error:
        trace.parse(with_rounds({"loop": 9, "rounds": [0, 8], "body": [KEPT], **loop}))
    assert error.value.field == f"processes[1].body[0].{where}"
    assert accepted in str(error.value)


def file(rank: int, body: list[Any], comms: list[list[int]]) -> dict[str, Any]:
    seen: list[list[int]] = []
    entries = []
    for members in comms:
        entries.append({"k": seen.count(members), "inter": False, "window": False, "members": members})
        seen.append(members)
    return {
        "version": 1,
        "rank": rank,
        "ranks": 2,
        "wall": 1.0 + rank,
        "host": f"n{rank}",
        "comms": entries,
        "body": body,
    }


def test_ranks_that_number_communicators_in_another_way_agree_on_them() -> None:
    both, alone = [0, 1], [0]
    first = file(0, [{"call": "MPI_Barrier", "comm": 2}], [both, alone, both])
    second = file(1, [{"call": "MPI_Barrier", "comm": 1}], [both, both])
    found = trace.merge([second, first])
    used = [call.comm for process in found.processes for call in trace.unfolded(process.body)]
    assert used[0] == used[1] != "0"
    assert found.comms[used[0]] == (0, 1)
    assert (found.wall, found.hosts) == (2.0, ("n0", "n1"))


def test_tags_go_where_one_rank_folded_calls_over_them() -> None:
    send = {"call": "MPI_Send", "comm": 0, "peer": 1, "tag": 4}
    receives = [{"call": "MPI_Recv", "comm": 0, "source": 0, "tag": tag} for tag in (4, 5)]
    first = file(0, [{"loop": 2, "body": [{**send, "mixed": True}]}], [[0, 1]])
    found = trace.merge([first, file(1, receives, [[0, 1]])])
    assert {call.tag for process in found.processes for call in trace.unfolded(process.body)} == {None}


@pytest.mark.parametrize(
    "damage",
    [
        {"comms": [7]},
        {"comms": [{"members": [0, 1]}]},
        {"comms": [{"k": "x", "inter": False, "window": False, "members": [0, 1]}]},
        {"comms": [{"k": 0, "inter": False, "window": False, "members": ["a", [1]]}]},
        {"body": None},
        {"body": [7]},
        {"body": [{"loop": 2}]},
        {"body": [{"call": "MPI_Barrier", "comm": 5}]},
        {"body": [{"call": "MPI_Barrier", "comm": "0"}]},
        {"body": [{"call": "MPI_Comm_dup", "newcomm": None}]},
        {"wall": "1"},
    ],
)
def test_a_file_that_something_else_wrote_is_refused_in_a_sentence(damage: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="a damaged file"):
        trace.merge([file(0, [], [[0, 1]]), {**file(1, [], [[0, 1]]), **damage}])


def test_what_is_written_of_a_program_can_be_kept_and_shown() -> None:
    first = {**file(0, [], [[0, 1]]), "program": "a\0b\n" + "c" * 9999, "host": "\x1b[2Jn0", "gpu": "\0"}
    found = trace.merge([first, file(1, [], [[0, 1]])])
    assert (found.program[:5], len(found.program)) == ("a b c", 4096)
    assert (found.hosts[0], found.processes[0].gpu) == (" [2Jn0", " ")
    for name in ("MPI_", "MPI_a\0", "MPI_" + "a" * 99, "printf"):
        with pytest.raises(InputError, match="the name of an MPI function"):
            trace.merge([file(0, [{"call": name, "comm": 0}], [[0, 1]]), file(1, [], [[0, 1]])])


def test_files_of_two_runs_are_told_apart() -> None:
    with pytest.raises(InputError, match="files of runs with 2 and 3 ranks"):
        trace.merge([file(0, [], [[0, 1]]), {**file(1, [], [[0, 1]]), "ranks": 3}])


def test_missing_ranks_are_named() -> None:
    with pytest.raises(InputError, match="without rank 1"):
        trace.merge([file(0, [], [[0, 1]])])
    with pytest.raises(InputError, match="empty"):
        trace.merge([])
