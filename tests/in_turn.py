"""Cases that differ in one parameter and else show the same: `make test` tries each with one of its values, taken in
turn, `make test-slow` with the others.

A test or file says so with the mark `in_turn("mpicc")`, where `mpicc` is a parameter or a fixture with several values;
of parameters that go together all are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest


def mark_others_slow(items: Iterable[pytest.Item]) -> None:
    """Of the cases of each file that differ in the marked parameter alone, all but one become slow: of the first that
    is collected the first stays, of the next the second, and so on."""
    turns: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for case, alike in _alike(items).items():
        file = case[0]
        turns[file].append(case)
        kept = (len(turns[file]) - 1) % len(alike)
        for place, item in enumerate(alike):
            if place != kept:
                item.add_marker(pytest.mark.slow)


def _alike(items: Iterable[pytest.Item]) -> dict[tuple[str, ...], list[pytest.Item]]:
    found: defaultdict[tuple[str, ...], list[pytest.Item]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("in_turn")
        if mark is not None:
            found[_case(item, *mark.args)].append(item)
    return found


def _case(item: Any, *names: str) -> tuple[str, ...]:
    """The test and its other parameters: all cases with one value have the same object."""
    given = item.callspec.params
    assert set(names) <= set(given), f"{item.nodeid} has no parameter {' and '.join(names)}"
    file, _, test = item.nodeid.partition("::")
    others = (f"{each}={id(given[each])}" for each in sorted(given) if each not in names)
    return file, test.partition("[")[0], *others
