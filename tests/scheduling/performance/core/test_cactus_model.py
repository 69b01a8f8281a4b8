"""The model of the Cactus application: the paper's figures, contention by a small simulation, times on a line."""

from __future__ import annotations

import itertools

import pytest

from gridportal.base.errors import InputError
from gridportal.network.topology import parse
from scheduling.performance.adapters.cactus_plugin import CactusPlugin, machines_of
from scheduling.performance.core.cactus_model import (
    CactusBox,
    CactusMachine,
    Exchange,
    PointCost,
    execution_seconds,
    fair_slowdown,
    iteration_seconds,
    lockstep_execution_seconds,
    lockstep_slowdown,
    memory_mb,
    power,
    slowdown,
)

BOX = CactusBox(100, 100, 200, 100)
COST = PointCost(1e-8)


def simulated(cpus: int, load: int, work: int = 10, ticks: int = 3000) -> float:
    """How much longer steps take when each tick goes to those who had least so far: `cpus` subtasks, each of which has
    `work` ticks of each step and then waits for the others, beside `load` processes that are always busy."""
    had, left, steps = [0] * (cpus + load), [work] * cpus, 0
    for _ in range(ticks):
        ready = [each for each in range(cpus + load) if each >= cpus or left[each]]
        for each in sorted(ready, key=lambda each: had[each])[:cpus]:
            had[each] += 1
            if each < cpus:
                left[each] -= 1
        if not any(left):
            left, steps = [work] * cpus, steps + 1
    return ticks / (steps * work)


def test_memory_is_the_papers() -> None:
    assert memory_mb(100, 100, 100) == pytest.approx(1.757 + 13.8)


@pytest.mark.parametrize(("load", "cpus", "expected"), [(0, 1, 1), (2, 1, 3), (0, 2, 1), (1, 2, 4 / 3), (3, 2, 2)])
def test_contention_is_the_papers_for_one_and_two_processors(load: float, cpus: int, expected: float) -> None:
    assert slowdown(load, cpus) == pytest.approx(expected)


@pytest.mark.parametrize(("cpus", "load"), list(itertools.product((1, 3, 4), range(5))))
def test_contention_is_that_of_a_fair_scheduler(cpus: int, load: int) -> None:
    assert slowdown(load, cpus) == pytest.approx(simulated(cpus, load), rel=0.06)


@pytest.mark.parametrize("load", range(1, 5))
def test_a_fair_scheduler_slows_two_subtasks_down_more_than_the_paper_says(load: int) -> None:
    assert fair_slowdown(load, 2) == pytest.approx(simulated(2, load), rel=0.02)
    assert slowdown(load, 2) < fair_slowdown(load, 2) <= 1.5 * slowdown(load, 2)


@pytest.mark.parametrize(("load", "cpus"), [(-1, 1), (float("nan"), 1), (0, 0)])
def test_what_is_no_load_or_no_machine_is_refused(load: float, cpus: int) -> None:
    for contention in (slowdown, fair_slowdown, lockstep_slowdown):
        with pytest.raises(InputError):
            contention(load, cpus)


def test_shares_by_power_make_all_machines_compute_equally_long() -> None:
    idle, busy = CactusMachine("dralion", 450.0), CactusMachine("cirque", 500.0, load=2.0)
    part = power(idle) / (power(idle) + power(busy))
    assert round(200 * part) == 146
    line = [(idle, 200 * part), (busy, 200 * (1 - part))]
    times = [iteration_seconds(BOX, [each], COST, lambda *_: Exchange(0.0, 0.0)) for each in line]
    assert times[0] == pytest.approx(times[1])


def test_time_is_that_of_the_slowest_machine_with_its_exchanges_and_the_start_up() -> None:
    machine = CactusMachine("a", 1.0)
    line = [(CactusMachine(name, 1.0), 50.0) for name in "abcd"]
    seconds = execution_seconds(BOX, line, COST, lambda *_: Exchange(0.001, 1e-7), 25.0)
    computing = 100 * 100 * 50 * 1e-8
    assert seconds == pytest.approx(100 * (computing + 2 * (0.001 + 80_000 * 1e-7)) + 25)
    assert execution_seconds(BOX, [(machine, 200.0)], COST, lambda *_: Exchange(9, 9), 0.0) == pytest.approx(2.0)


def in_lockstep(cpus: int, load: int, steps: int = 200) -> float:
    """How much longer steps take when each processor gives its processes turns and subtasks wait for each other: busy
    process k stays beside subtask k mod `cpus`."""
    took = sum(max(1 + len(range(processor, load, cpus)) for processor in range(cpus)) for _ in range(steps))
    return took / steps


@pytest.mark.parametrize(("cpus", "load"), list(itertools.product((1, 2, 3, 4), range(6))))
def test_subtasks_that_wait_for_each_other_are_as_slow_as_the_one_with_most_beside_it(cpus: int, load: int) -> None:
    assert lockstep_slowdown(load, cpus) == in_lockstep(cpus, load)
    assert lockstep_slowdown(load, cpus) >= fair_slowdown(load, cpus)


def test_a_load_that_is_no_whole_number_lies_between_its_neighbours() -> None:
    assert [lockstep_slowdown(load, 2) for load in (0.5, 1.5, 2.25)] == [1.5, 2.0, 2.25]


def test_in_lockstep_a_load_slows_computing_and_start_up_and_no_message() -> None:
    line = [(CactusMachine("a", 1.0, load=1.0), 100.0), (CactusMachine("b", 1.0), 100.0)]
    computing, sent = 100 * 100 * 100 * 1e-8, 0.02
    seconds = lockstep_execution_seconds(BOX, line, COST, lambda *_: Exchange(sent, 0.0), 25.0)
    assert seconds == pytest.approx(100 * (2 * computing + sent) + 2 * 25)
    paper = execution_seconds(BOX, line, COST, lambda *_: Exchange(sent, 0.0), 25.0)
    assert paper == pytest.approx(100 * 2 * (computing + sent) + 25)


NETWORK = parse(
    {
        "nodes": [
            {"id": "a", "speed": 1.0, "cpu": 0.5, "cpus": 2},
            {"id": "b", "speed": 0.5},
            {"id": "s", "kind": "network"},
        ],
        "links": [
            {"source": name, "target": "s", "capacity": 1e8, "bandwidth": 1e8, "latency": 0.001} for name in "ab"
        ],
    }
)


def test_the_plug_in_knows_machines_by_their_ranks_and_what_others_leave_of_them() -> None:
    first, second = machines_of(("a", "a", "b"), NETWORK)
    assert (first.cpus, first.load, second.cpus, second.load) == (2, 2.0, 1, 0.0)
    with pytest.raises(InputError, match="node is 'x'"):
        machines_of(("x",), NETWORK)


def test_the_plug_in_predicts_the_phases_that_the_program_tells() -> None:
    parameters = {"x": 100, "y": 100, "z": 200, "iterations": 50}
    model = CactusPlugin()
    assert model.applies("cactus")
    assert not model.applies("nas-cg")
    init, evolve, verify = model.predict(parameters, ("a", "a", "b"), NETWORK)
    assert (init.phase, evolve.phase, evolve.count, verify.phase) == ("init", "evolve", 17, "verify")
    assert evolve.total is not None
    assert evolve.total > 50 * 8 * 100 * 100 * 8 / 1e8, "what a plane takes on the link"
    with pytest.raises(InputError, match="z is empty"):
        model.predict({**parameters, "z": None}, ("a",), NETWORK)
