"""The recording library tells how much memory a program goes through between two calls.

It is built to look ten times as often as it does for users, so that a short run has looks enough.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from scheduling.profiles.core.trace import Trace
from scheduling.runs.adapters import recorder
from tests.scheduling.profiles.tracing.conftest import MPICH, Traced
from tests.scheduling.profiles.tracing.test_library import compiled

MEGABYTE = 2**20
COUNTED = Path("/proc/self/smaps_rollup").exists() and os.access("/proc/self/clear_refs", os.W_OK)


#: Gaps of a rank that are looked at: fewer may all have been short ones.
LOOKS = 10


@pytest.fixture(autouse=True)
def looks_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recorder._RECIPE
    monkeypatch.setattr(recorder, "_RECIPE", replace(recipe, flags=(*recipe.flags, "-DSELDOM=20.0")))


def recorded(traced: Traced, tmp_path: Path, mpicc: str, size: int) -> Trace:
    """A run with enough looks, which on a busy machine is a longer one."""
    program = compiled(mpicc, "touched.c", tmp_path / "touched")
    for seconds in (1.5, 6, 24):
        trace = traced(mpicc, 2, program, str(size), str(seconds))
        if not COUNTED or all(process.touched.n >= LOOKS for process in trace.processes):
            break
    return trace


@pytest.mark.in_turn("mpicc")
@pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
@pytest.mark.parametrize("size", [MEGABYTE, 16 * MEGABYTE], ids=["1 MB", "16 MB"])
def test_the_region_is_the_memory_that_is_gone_through(traced: Traced, tmp_path: Path, mpicc: str, size: int) -> None:
    """Whole pages count, large ones too, and what the program itself takes. The short gap between the two calls counts
    as well, by its cpu seconds, which on a busy machine are not so few."""
    for process in recorded(traced, tmp_path, mpicc, size).processes:
        if not COUNTED:  # then nothing is told, and nothing is wrong
            assert process.touched.n == 0
            continue
        assert process.touched.n >= LOOKS
        assert 0.5 * size <= process.touched.region < size + 5 * MEGABYTE
        assert 0 < process.touched.bytes <= process.touched.region
        assert process.touched.cpu > 0
