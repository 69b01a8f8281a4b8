"""What skeletons touch of their memory is what their programs touched, where that was counted."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.errors import InputError
from gridportal.runtime.skeleton_check import runnable
from scheduling.profiles.core.trace import Touched, dump, parse
from scheduling.skeletons.core.skeleton import build, document
from scheduling.skeletons.core.skeleton.player_plan import plan
from scheduling.skeletons.core.skeleton.touched_memory import TouchedMemory, touched_memory
from tests.scheduling.skeletons.core.skeleton import programs

MEGABYTE = 2**20


def traced(*touched: dict[str, float] | None) -> Any:
    trace = programs.trace(programs.ring(len(touched), 40))
    for process, of_rank in zip(trace["processes"], touched, strict=True):
        process["pace"] = 4e5
        if of_rank is not None:
            process["touched"] = of_rank
    return parse(trace)


def looks(n: int, size: float, cpu: float, region: float) -> dict[str, float]:
    return {"n": n, "bytes": size, "cpu": cpu, "region": region}


def test_the_rate_and_the_region_are_those_of_all_ranks_together() -> None:
    of = traced(looks(10, 2 * MEGABYTE, 0.001, 3 * MEGABYTE), looks(30, MEGABYTE, 0.002, MEGABYTE))
    seconds = 10 * 0.001 + 30 * 0.002
    assert touched_memory(of) == TouchedMemory(
        pytest.approx(50 * MEGABYTE / seconds),
        pytest.approx((10 * 0.001 * 3 + 30 * 0.002 * 1) * MEGABYTE / seconds),
    )


@pytest.mark.parametrize(
    "touched",
    [
        (None, None),
        (looks(3, 2 * MEGABYTE, 0.001, 3 * MEGABYTE), looks(4, 2 * MEGABYTE, 0.001, 3 * MEGABYTE)),
        (looks(90, 1e5, 0.001, 1e5), looks(90, 1e5, 0.001, 1e5)),
        (looks(90, 1e7, 0.0, 0.0), looks(90, 1e7, 0.0, 0.0)),
    ],
    ids=["never counted", "too few looks", "what any cache holds", "no time"],
)
def test_what_says_little_says_nothing(touched: tuple[dict[str, float] | None, ...]) -> None:
    of = traced(*touched)
    assert touched_memory(of) is None
    made = document(build(of, target=0.1), rate=1e5)
    assert made["player"] == {"near": 4e5}
    assert "work 400000.0 0.0 0.0" in plan(runnable(made), 4e5)


def test_the_document_and_the_plan_say_it() -> None:
    of = traced(*[looks(10, 2 * MEGABYTE, 0.001, 3 * MEGABYTE)] * 3)
    made = runnable(document(build(of, target=0.1), rate=1e5))
    work = made["player"]
    assert work == {"near": 4e5, "touched": pytest.approx(2000 * MEGABYTE), "region": pytest.approx(3 * MEGABYTE)}
    assert f"work 400000.0 {work['touched']!r} {work['region']!r}" in plan(made, 4e5, work["touched"], work["region"])


def test_a_trace_keeps_it() -> None:
    of = traced(looks(10, 2e6, 0.001, 3e6), None)
    assert parse(dump(of)) == of
    assert [process.touched for process in of.processes] == [Touched(10, 2e6, 0.001, 3e6), Touched()]


@pytest.mark.parametrize("touched", [looks(-1, 1, 1, 1), looks(1, -1, 1, 1), {"n": 1, "bytes": "much"}, 5])
def test_a_trace_with_something_else_is_refused(touched: Any) -> None:
    with pytest.raises(InputError, match=r"processes\[1\]\.touched"):
        traced(None, touched)


def test_skeletons_of_before_can_still_be_played() -> None:
    made = document(build(traced(None, None), target=0.1), rate=1e5)
    assert runnable({**made, "player": {"near": 4e5, "far": 2e4}})["player"]["near"] == 4e5
    with pytest.raises(InputError, match="player"):
        runnable({**made, "player": {"near": 4e5, "farther": 2e4}})
