"""Steps in the log of a program that nobody instrumented, as reports of a phase."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core.log_progress import LOG_PHASE, LogPosition, lines_of, reports
from scheduling.jobs.core.progress_pattern import ProgressPattern

THERMO = ProgressPattern.read({"pattern": r"^ *(?P<step>\d+) +(?P<elapsed>[\d.]+) +-?\d", "of": "steps"})
LAMMPS = b"""Step CPU Temp
       0   0              1.44
Loop time of 0 on 4 procs
Step CPU Temp
       0   0              1.44
      50   0.25           0.73
     100   0.50           0.71
     150   1.75           0.72
Loop time of 2.2 on 4 procs
"""


def of_log(data: bytes, progress: ProgressPattern, of: float | None = None, now: float = 50.0) -> list[Phase]:
    return reports(list(lines_of(data, progress)), LogPosition(), of, now)


def test_lammps_tells_its_steps_and_seconds() -> None:
    """The first run has no step; of the second each fifty are a report of 200 / 50."""
    found = of_log(LAMMPS, THERMO, of=200)
    assert [(each.name, each.seconds, each.iteration, each.of) for each in found] == [
        (LOG_PHASE, 0.25, 1, 4),
        (LOG_PHASE, 0.25, 2, 4),
        (LOG_PHASE, 1.25, 3, 4),
    ]


def test_seconds_of_a_step_and_the_number_of_steps_may_stand_in_the_line() -> None:
    progress = ProgressPattern.read(r"step (?P<step>\d+) of (?P<of>\d+) took (?P<seconds>\S+) s")
    found = of_log(b"step 1 of 9 took 3.0 s\nstep 2 of 9 took 2.5E-1 s\n", progress)
    assert [(each.seconds, each.iteration, each.of) for each in found] == [(0.25, 2, 9)]


def test_without_seconds_the_time_between_two_looks_is_shared() -> None:
    progress, position = ProgressPattern.read(r"iteration (?P<step>\d+)"), LogPosition()
    assert reports(list(lines_of(b"iteration 1\n", progress)), position, None, 100.0) == []
    found = reports(list(lines_of(b"iteration 2\niteration 3\n", progress)), position, None, 104.0)
    assert [(each.seconds, each.iteration, each.of) for each in found] == [(2.0, None, None)] * 2


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=4))
def test_whatever_a_program_prints_is_no_error(data: bytes, cuts: list[int]) -> None:
    progress = ProgressPattern.read(r"(?P<step>\d+)\D+(?P<elapsed>\S+)")
    position = LogPosition()
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), 300], strict=True):
        for each in reports(list(lines_of(data[start:end], progress)), position, 7.0, 1.0):
            assert each.seconds >= 0
    assert LogPosition.read(position.document()) == position


@pytest.mark.parametrize(
    "document", ["(a", r"(\d+)", r"(?P<stop>\d+)(?P<step>\d)", {"pattern": "x"}, {"patern": "x"}, 3]
)
def test_patterns_that_tell_no_step_are_refused(document: object) -> None:
    with pytest.raises(InputError, match="progress"):
        ProgressPattern.read(document)
