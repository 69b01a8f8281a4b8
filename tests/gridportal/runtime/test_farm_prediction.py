"""What a skeleton says of a task farm: giving tasks counts as often as it stands for, waiting at its end once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gridportal.runtime.prediction import RankTimes, prediction
from tests.scheduling.skeletons.playing import farm

LATE = 0.01


def ranks(*logs: list[list[float]], worked: float = 0.0) -> list[RankTimes]:
    return [RankTimes(1.0, worked, worked, np.array(log)) for log in logs]


def found(late: float = 0.0, **application: Any) -> dict[str, float]:
    """A tenth of the tasks is given within 0.5 s, then one works for 0.2 s and the other for 0.05."""
    of = farm([[0.1, 8, 4]], 10)
    of["application"].update({"work": [0.0, 4.0, 1.0], "farmed": [0.0, 4.0, 1.0], **application})
    master = [[0.0, 0.5, 0.0, 0.0], [0.5, 0.7, 0.0, 0.0]]
    one = [[0.0, 0.5 + late, 0.0, 0.4], [0.7, 0.7, 0.2, 0.2]]
    other = [[0.0, 0.45, 0.0, 0.45], [0.5, 0.55, 0.05, 0.05]]
    return prediction(of, ranks(master, one, other, worked=0.6))


def test_giving_counts_as_often_as_it_stands_for_and_the_last_tasks_once() -> None:
    assert found()["predicted"] == pytest.approx(10 * 0.5 + 0.2)


def test_a_worker_that_gets_its_last_task_late_is_late_once() -> None:
    assert found(LATE)["predicted"] == pytest.approx(10 * 0.5 + 0.2)


def test_work_outside_of_farms_is_that_of_the_trace() -> None:
    assert found(work=[3.0, 4.0, 1.0])["predicted"] == pytest.approx(10 * 0.5 + 0.2 + 3.0)
