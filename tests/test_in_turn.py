"""Of cases that differ in one parameter `make test` has one, and all values have their turn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.in_turn import mark_others_slow


class Item:
    """A collected case of a test: what of it is looked at."""

    def __init__(self, test: str, mark: str | None = "mpi", **places: int) -> None:
        self.nodeid = f"{test}[{'-'.join(map(str, places.values()))}]"
        self.callspec = SimpleNamespace(params=places)
        self.mark = mark and SimpleNamespace(args=(mark,))
        self.slow = False

    def get_closest_marker(self, _: str) -> Any:
        return self.mark

    def add_marker(self, mark: Any) -> None:
        self.slow = mark.name == "slow"


def kept(*items: Any) -> list[str]:
    mark_others_slow(items)
    return [item.nodeid for item in items if not item.slow]


def test_each_case_has_one_value_and_the_next_case_the_next() -> None:
    of_three = [Item("f.py::test_a", how=how, mpi=mpi) for mpi in (0, 1) for how in (0, 1, 2)]
    other = [Item("f.py::test_b", mpi=mpi) for mpi in (0, 1)]
    file = [Item("g.py::test_c", mpi=mpi) for mpi in (0, 1)]
    assert kept(*of_three, *other, *file) == [
        *("f.py::test_a[0-0]", "f.py::test_a[2-0]", "f.py::test_a[1-1]"),
        *("f.py::test_b[1]", "g.py::test_c[0]"),
    ]


def test_tests_without_the_mark_stay() -> None:
    assert len(kept(*(Item("f.py::test_a", None, mpi=mpi) for mpi in (0, 1)))) == 2


def test_a_parameter_that_is_not_there_is_told() -> None:
    with pytest.raises(AssertionError, match="has no parameter mpi"):
        kept(Item("f.py::test_a", how=0))
