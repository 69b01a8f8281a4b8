"""A master that answers whoever comes first: its turns are one operation, which hands out tasks as the program does."""

from __future__ import annotations

import json

import pytest

from gridportal.runtime.skeleton_check import runnable
from scheduling.profiles.core.trace import parse
from scheduling.skeletons.core.skeleton import build, document, summary
from scheduling.skeletons.core.skeleton.player_plan import plan
from scheduling.skeletons.core.skeleton.task_farm import Farm, Task, shortened
from tests.scheduling.skeletons.core.skeleton import programs
from tests.scheduling.skeletons.core.skeleton.rendezvous import stuck

WORKERS, TASKS = 3, 300


def made(bodies, target):
    return runnable(json.loads(json.dumps(document(build(parse(programs.trace(bodies)), target=target), rate=1.0))))


def whole(bodies):
    return build(parse(programs.trace(bodies)), target=1e9).expected


def asking(workers, tasks):
    """A first message asks for a task without any work; the trace of `programs.master` with these before it."""
    master, *others = programs.master(workers, tasks)
    first = [
        node
        for worker in range(workers)
        for node in (
            programs.call("Recv", source="any", tag="any", recv_bytes=64, work=0.0),
            programs.call("Send", peer=1 + worker, tag=2, bytes=1000, work=0.0),
        )
    ]
    ask = [
        programs.call("Send", peer=0, tag=1, bytes=8, work=0.0),
        programs.call("Recv", source=0, tag=2, recv_bytes=1000, work=0.0),
    ]
    return [[*first, *master], *[[*ask, *body] for body in others]]


def only(document, rank, segment=0):
    (op,) = document["segments"][segment]["ranks"][rank]
    return op


def test_all_turns_of_a_master_are_one_operation_that_is_shortened_to_fewer_tasks_of_their_full_size():
    bodies = asking(WORKERS, TASKS)

    found = made(bodies, 0.1 * whole(bodies))

    assert found["schedule"] == [0, 1]
    op = only(found, 0)
    assert (op["op"], op["master"], op["ranks"]) == ("master", 0, [1, 2, 3])
    assert op["given"] == WORKERS + round(0.1 * (TASKS - WORKERS))
    assert found["segments"][0]["part"] == pytest.approx((op["given"] - WORKERS) / (TASKS - WORKERS))
    assert {tuple(task[1:]) for task in op["tasks"]} == {(64, 1000)}
    mean = sum(task[0] for task in op["tasks"]) / len(op["tasks"])
    assert mean == pytest.approx((0.001 + 0.002 + 0.003) / 3 + 0.001)
    assert only(found, 2)["op"] == "worker"
    assert only(found, 2)["bytes"] == 8
    assert stuck(found) == []


def test_work_in_farms_is_told_apart_for_nobody_knows_who_will_do_it():
    found = made(asking(WORKERS, TASKS), 0.1)

    assert found["application"]["farmed"] == pytest.approx(found["application"]["work"])


def test_workers_that_bring_a_result_first_have_a_task_of_their_own():
    bodies = programs.master(WORKERS, TASKS)

    found = made(bodies, 0.1 * whole(bodies))

    assert [only(found, rank)["seconds"] for rank in (1, 2, 3)] == pytest.approx([0.002, 0.003, 0.004])
    assert only(found, 0)["given"] == round(0.1 * (TASKS - WORKERS))


def test_few_turns_have_smaller_tasks():
    farm = Farm(0, (1, 2), (Task(0.0, 8, 0),) * 2, tuple(Task(0.1 * k, 40_000, 400) for k in range(1, 13)), 4, 0.0)

    short = shortened(farm, 0.1)

    assert short.given == 4
    assert short.size == pytest.approx(0.1 * 10 / 2)
    assert short.part == pytest.approx(0.1)
    op = short.op(1, lambda size, part: round(size * part))
    assert sum(task[0] for task in op["tasks"]) / 4 == pytest.approx(0.65 * short.size)
    assert {task[1] for task in op["tasks"]} == {20_000}


def test_the_whole_farm_has_all_its_tasks():
    found = made(asking(2, 20), 1e9)

    assert (only(found, 0)["given"], found["segments"][0]["part"], found["segments"][1]["part"]) == (20, 1.0, 1.0)


def test_a_master_that_expects_somebody_is_no_farm():
    answers, *others = programs.master(2, 20)
    for task, node in enumerate(answers[::2]):
        node["source"] = 1 + task % 2

    assert all("ranks" not in op for line in made([answers, *others], 1e9)["segments"][0]["ranks"] for op in line)


def test_a_probe_for_anybody_makes_a_receive_one_from_anybody():
    answers, *others = programs.master(2, 20)
    probed = []
    for task, node in enumerate(answers):
        if node["call"] == "MPI_Recv":
            probed.append(programs.call("Probe", source="any", tag="any", work=0.0))
            node = {**node, "source": 1 + task // 2 % 2}
        probed.append(node)

    assert only(made([probed, *others], 1e9), 0)["op"] == "master"


def test_turns_that_others_interrupt_are_farms_of_their_own():
    one, two = programs.master(2, 20), programs.master(2, 20)
    bodies = [[*first, programs.call("Barrier"), *second] for first, second in zip(one, two, strict=True)]

    found = made(bodies, 1e9)

    assert found["schedule"] == [0, 1, 2, 0, 1]
    assert stuck(found) == []


def test_a_farm_is_told_and_planned():
    found = made(asking(2, 20), 1e9)

    first, last = summary.rows(summary.checked(found))
    assert (first.bytes, first.calls, last.calls) == (20 * 1064, {"master": 1, "worker": 2}, {"closing": 3})
    assert first.work == pytest.approx(20 * (0.0015 + 0.001) / 2)
    lines = plan(found, 1e5, 1e4).splitlines()
    assert any(line.startswith("master 0.0 8 1000 20 2 1 2 20 0.00") for line in lines)
    assert any(line.startswith("worker 0.0 8 1000 20 1 0 20 0.00") for line in lines)
    assert "closing 0.0 64 1000 0 2 1 2 0" in lines
