"""A skeleton's document that somebody changed is refused with the place of the mistake, not shown or run."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gridportal.base.errors import InputError
from scheduling.skeletons.core.skeleton import summary
from scheduling.skeletons.core.skeleton.document import VERSION

GOOD: dict[str, Any] = {
    "version": VERSION,
    "ranks": 1,
    "program": "p",
    "expected": 1.0,
    "application": {"seconds": 20.0},
    "segments": [{"times": 9, "part": 1.0, "ranks": [[{"op": "work", "seconds": 0.5}, {"op": "send", "bytes": 8}]]}],
    "schedule": [{"loop": 3, "body": [0]}],
}


def test_a_good_one_is_told_row_by_row() -> None:
    (row,) = summary.rows(summary.checked(GOOD))
    assert (row.times, row.runs, row.bytes, row.work, dict(row.calls)) == (9, 3, 8, 0.5, {"send": 1})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("segments", 0, "times"), None, "skeleton segments[0].times is empty"),
        (("segments", 0, "part"), "x", "skeleton segments[0].part is 'x'"),
        (("segments", 0, "part"), float("nan"), "skeleton segments[0].part is nan"),
        (("segments", 0, "ranks", 0), 5, "skeleton segments[0].ranks[0] is 5"),
        (("segments", 0, "ranks", 0, 0), "work", "skeleton segments[0].ranks[0][0] is 'work'"),
        (("segments", 0, "ranks", 0, 0), {"op": "work"}, "skeleton segments[0].ranks[0][0].seconds is empty"),
        (("segments", 0, "ranks", 0, 1, "bytes"), "8", "skeleton segments[0].ranks[0][1].bytes is 8"),
        (("program",), None, "skeleton program is empty"),
        (("application",), [], "skeleton application.seconds is empty"),
        (("expected",), -1.0, "skeleton expected is -1.0"),
        (("schedule", 0, "loop"), 10**30, "skeleton schedule[0] is"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, said: str) -> None:
    document = copy.deepcopy(GOOD)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InputError) as refused:
        summary.checked(document)
    assert str(refused.value).startswith(said)
