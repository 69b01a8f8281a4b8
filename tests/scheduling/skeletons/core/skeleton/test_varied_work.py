"""Skeletons of programs whose ranks have more to do in turn, by chance or for a while: what they predict is the rounds'
true critical path, and where work does not vary nothing changes."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gridportal.runtime.prediction import RankTimes, executions, prediction
from gridportal.runtime.skeleton_check import runnable
from gridportal.runtime.virtual_time import waiting
from scheduling.profiles.core.trace import Loop, parse
from scheduling.skeletons.core.skeleton import build, document
from scheduling.skeletons.core.skeleton.kept_rounds import RoundChoice
from scheduling.skeletons.core.skeleton.ops import events
from scheduling.skeletons.core.skeleton.replay import critical_path
from scheduling.skeletons.core.skeleton.stand_ins import exchanges
from tests.scheduling.skeletons.core.skeleton import programs

ROUNDS, UNIT, SHARE = 1600, 0.005, 0.045
GOLDEN = (1 + math.sqrt(5)) / 2
Work = list[list[float]]  # by rank and round, in s


def kept(count: int) -> list[int]:
    """The rounds that the recording library keeps of so many."""
    blocks: list[int] = []
    level = 0
    for block in range(math.ceil(count / 8)):
        blocks.append(block)
        while len(found := [each for each in blocks if _after_point(each) <= 2**32 * GOLDEN**-level]) > 16:
            level += 1
        blocks = found
    return [number for block in blocks for number in range(block * 8, (block + 1) * 8) if number < count]


def _after_point(block: int) -> int:
    return block * 2654435769 % 2**32


def in_turn(ranks: int, rounds: int) -> Work:
    return [[UNIT * (3 if number % ranks == rank else 1) for number in range(rounds)] for rank in range(ranks)]


def round_the_ranks(rounds_each: int) -> Callable[[int, int], Work]:
    """What is to do goes from rank to rank, and stays with each for some rounds: nobody else has much to do."""

    def work(ranks: int, rounds: int) -> Work:
        return [
            [UNIT * (3 if number // rounds_each % ranks == rank else 0.01) for number in range(rounds)]
            for rank in range(ranks)
        ]

    return work


def by_chance(spread: float) -> Callable[[int, int], Work]:
    def work(ranks: int, rounds: int) -> Work:
        rng = random.Random(7)
        return [[UNIT * rng.lognormvariate(0.0, spread) for _ in range(rounds)] for _ in range(ranks)]

    return work


def one_in_each_quarter(ranks: int, rounds: int) -> Work:
    return [[UNIT * (3 if 4 * number // rounds == rank else 1) for number in range(rounds)] for rank in range(ranks)]


def all_together(ranks: int, rounds: int) -> Work:
    return [[UNIT * (3 if number % 4 == 0 else 1) for number in range(rounds)] for _ in range(ranks)]


def never(ranks: int, rounds: int) -> Work:
    return [[UNIT] * rounds for _ in range(ranks)]


def calls(rank: int, ranks: int, everybody: bool) -> list[dict[str, Any]]:
    """What waits in a round: for all, or for the two neighbours on a ring."""
    if everybody:
        return [programs.call("Allreduce", bytes=8, inside=0.0)]
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    fields = {"bytes": 1000, "recv_bytes": 1000, "inside": 0.0}
    return [
        programs.call("Sendrecv", peer=right, source=left, tag=1, recv_tag=1, **fields),
        programs.call("Sendrecv", peer=left, source=right, tag=2, recv_tag=2, work=0.0, **fields),
    ]


def true_path(work: Work, everybody: bool) -> tuple[float, list[float]]:
    """When the last rank is through, and how long each has waited in all."""
    ranks = len(work)
    clock = [0.0] * ranks
    for number in range(len(work[0])):
        came = [clock[rank] + work[rank][number] for rank in range(ranks)]
        others = [range(ranks) if everybody else ((r - 1) % ranks, r, (r + 1) % ranks) for r in range(ranks)]
        clock = [max(came[other] for other in others[rank]) for rank in range(ranks)]
    return max(clock), [clock[rank] - sum(work[rank]) for rank in range(ranks)]


def traced(work: Work, everybody: bool, *, rounds: bool = True) -> dict[str, Any]:
    """The trace of a program with this work; as recorded before where no `rounds` are kept."""
    ranks, count = len(work), len(work[0])
    bodies, waits = [], true_path(work, everybody)[1]
    for rank in range(ranks):
        body = calls(rank, ranks, everybody)
        mean = sum(work[rank]) / count
        waited = waits[rank] / count
        body[0]["compute"] = {"n": count, "mean": mean, "var": 0.0, "cpu": mean}
        body[-1]["seconds"] = {"n": count, "mean": waited}
        body[-1]["compute"]["n"] = count
        loop = programs.loop(count, *body)
        if rounds:
            body[0]["compute"]["rounds"] = [work[rank][number] for number in kept(count)]
            loop["rounds"] = kept(count)
        bodies.append([loop])
    return programs.trace(bodies)


def made(trace: dict[str, Any], share: float = SHARE) -> dict[str, Any]:
    found = parse(trace)
    whole = max(
        sum((call.compute.mean + call.seconds.mean) * call.compute.n for node in process.body for call in node.body)
        for process in found.processes
        if all(isinstance(node, Loop) for node in process.body)
    )
    return runnable(json.loads(json.dumps(document(build(found, target=share * whole), rate=1000.0))))


def predicted(skeleton: dict[str, Any]) -> float:
    """What the skeleton predicts when messages take no time and work just what is asked for."""
    ranks = skeleton["ranks"]
    waits = [waiting(segment, skeleton["comms"]) for segment in skeleton["segments"]]
    clock, logs = np.zeros(ranks), [[] for _ in range(ranks)]
    for number in executions(skeleton["schedule"])[0]:
        lines = skeleton["segments"][number]["ranks"]
        worked = np.array([sum(op.get("seconds", 0.0) for op in line if op["op"] == "work") for line in lines])
        came = clock + worked
        ended = came.copy()
        np.maximum.at(ended, waits[number].waiter, came[waits[number].other])
        for waiters, members in waits[number].groups:
            ended[waiters] = came[members].max()
        clock = ended
        for rank in range(ranks):
            logs[rank].append((came[rank], ended[rank], worked[rank], worked[rank]))
    times = [RankTimes(float(clock.max()), 1.0, 1.0, np.array(log)) for log in logs]
    return prediction(skeleton, times)["predicted"]


def error(work: Work, everybody: bool, *, rounds: bool = True, share: float = SHARE) -> float:
    skeleton = made(traced(work, everybody, rounds=rounds), share)
    return predicted(skeleton) / true_path(work, everybody)[0] - 1.0


#: What kept rounds may be off, and by how much means are at least.
CASES = {
    "in turn": (in_turn, 0.05, 0.45),
    "by chance, 50 %": (by_chance(0.5), 0.08, 0.25),
    "by chance, 10 %": (by_chance(0.1), 0.04, 0.06),
    "one in each quarter": (one_in_each_quarter, 0.02, 0.2),
}


@pytest.mark.parametrize("everybody", [True, False], ids=["all", "neighbours"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize("work", [in_turn, by_chance(0.5), never])
def test_the_critical_path_is_that_of_the_rounds(work: Callable[[int, int], Work], ranks: int, everybody: bool) -> None:
    done = work(ranks, 60)
    trace = parse(traced(done, everybody))
    exchanged = exchanges(trace)
    lines = [list(events(trace, process, exchanged, RoundChoice())) for process in trace.processes]

    assert critical_path(lines, trace.comms) == pytest.approx(true_path(done, everybody)[0])


@pytest.mark.in_turn("ranks")
@pytest.mark.parametrize("everybody", [True, False], ids=["all", "neighbours"])
@pytest.mark.parametrize("ranks", [4, 8])
@pytest.mark.parametrize("case", CASES)
def test_who_waits_for_whom_is_predicted(case: str, ranks: int, everybody: bool) -> None:
    work, most, of_means = CASES[case]
    done = work(ranks, ROUNDS)

    assert abs(error(done, everybody)) <= most
    assert error(done, everybody, rounds=False) <= -of_means


@pytest.mark.parametrize("everybody", [True, False], ids=["all", "neighbours"])
@pytest.mark.parametrize("rounds", [400, ROUNDS])
@pytest.mark.parametrize("each", [8, 20])
def test_work_that_goes_round_the_ranks_is_predicted(each: int, rounds: int, everybody: bool) -> None:
    """Also where its cycle is a power of two, and a skeleton has 18 rounds for all four ranks."""
    done = round_the_ranks(each)(4, rounds)

    assert abs(error(done, everybody)) <= 0.06
    assert error(done, everybody, rounds=False) <= -0.7


@pytest.mark.in_turn("ranks")
@pytest.mark.parametrize("everybody", [True, False], ids=["all", "neighbours"])
@pytest.mark.parametrize("ranks", [4, 8])
@pytest.mark.parametrize("work", [never, all_together, by_chance(0.03), by_chance(0.02)])
def test_the_skeleton_stays_as_it_was_where_ranks_do_not_differ(
    work: Callable[[int, int], Work], ranks: int, everybody: bool
) -> None:
    done = work(ranks, ROUNDS)

    before, now = (json.dumps(made(traced(done, everybody, rounds=rounds))) for rounds in (False, True))

    assert now == before


@pytest.mark.parametrize("share", [1.0, 0.3, 0.045, 0.02])
@pytest.mark.parametrize("rounds", [400, 1000, 1601])
def test_a_skeleton_with_rounds_is_as_long_as_was_asked_and_keeps_sizes_and_sums(rounds: int, share: float) -> None:
    done = in_turn(4, rounds)
    trace = traced(done, everybody=False)
    seconds = share * true_path(done, everybody=False)[0]
    skeleton = made(trace, share)

    played = [0.0] * 4
    for number in executions(skeleton["schedule"])[0]:
        for rank, line in enumerate(skeleton["segments"][number]["ranks"]):
            assert all(op.get("bytes", 1000) == 1000 for op in line)
            played[rank] += sum(op.get("seconds", 0.0) for op in line if op["op"] == "work")
    assert skeleton["application"]["work"] == pytest.approx([sum(line) for line in done])
    assert 0.5 * seconds <= 2.0 * max(played) <= 1.5 * seconds
    assert abs(predicted(skeleton) / true_path(done, everybody=False)[0] - 1.0) < 0.07


def test_work_of_few_microseconds_is_told_from_nothing_that_matters() -> None:
    """An interrupt in a gap too short for the cpu clock counts as work of that rank."""
    rng = random.Random(3)
    done = [[4e-5 if rng.random() < 0.05 else 5e-6 for _ in range(ROUNDS)] for _ in range(4)]

    before, now = (json.dumps(made(traced(done, everybody=True, rounds=rounds))) for rounds in (False, True))

    assert now == before


def test_a_rank_whose_loop_begins_a_call_later_has_its_work_in_the_same_rounds() -> None:
    """Its first round stands before its loop."""
    done = in_turn(4, ROUNDS)
    trace = traced(done, everybody=True)
    count = ROUNDS - 1
    (loop,) = trace["processes"][2]["body"]
    (call,) = loop["body"]
    alone = {**call, "compute": {"n": 1, "mean": UNIT, "var": 0.0, "cpu": UNIT}}
    rest = sum(done[2][1:]) / count
    later = [done[2][number + 1] for number in kept(count)]
    body = {**call, "compute": {"n": count, "mean": rest, "var": 0.0, "cpu": rest, "rounds": later}}
    trace["processes"][2]["body"] = [alone, {"loop": count, "rounds": kept(count), "body": [body]}]
    whole = true_path(done, everybody=True)[0]

    skeleton = runnable(document(build(parse(trace), target=SHARE * whole), rate=1000.0))

    assert predicted(skeleton) == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize("length", [2, 8])
@pytest.mark.parametrize("fraction", [0.01, 0.045, 1.0])
def test_a_skeleton_has_room_for_each_round_that_is_chosen(length: int, fraction: float) -> None:
    for count in (9, 64, 65, 400, 5000):
        numbers = kept(count)
        places = RoundChoice(length, fraction).places(Loop(count, (), tuple(numbers)))
        assert len(places) in (0, count)
        assert len(set(places)) <= fraction * count
        assert all(numbers[place] <= number for number, place in enumerate(places))


def test_a_trace_of_work_that_takes_no_time_is_no_reason_to_fail() -> None:
    """A traced program may write into its trace what it likes."""
    trace = traced(in_turn(4, 60), everybody=True)
    for process in trace["processes"]:
        for call in process["body"][0]["body"]:
            call["compute"]["mean"] = call["seconds"]["mean"] = 0.0

    assert build(parse(trace), target=1.0).segments
