"""Reading what programs report: whole lines only, and nothing they write can break the reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime.progress_events import Phase, Result
from scheduling.runs.core import progress


def line(**event: object) -> bytes:
    return json.dumps(event).encode() + b"\n"


PHASE = {"t": 5.0, "event": "phase", "phase": "conj_grad", "iteration": 3, "of": 15, "seconds": 0.4}


def test_start_phases_and_result_are_told_apart() -> None:
    data = line(t=1, event="start", program="cg", hosts=["n3", "n7"]) + line(**PHASE, compute=0.1, communicate=0.3)
    data += line(t=9, event="result", verified=True, seconds=2.5, figures={"zeta": 8.6})
    found = progress.read(data)
    assert found.hosts == ["n3", "n7"]
    assert found.phases == [Phase("conj_grad", 0.4, 3, 15, 0.1, 0.3, at=5.0)]
    assert found.result == Result(True, 2.5, {"zeta": 8.6})
    assert (found.consumed, found.garbage) == (len(data), 0)


def test_half_a_line_is_left_for_the_next_time() -> None:
    whole = line(**PHASE)
    found = progress.read(whole + line(**PHASE)[:-1])
    assert (found.consumed, len(found.phases)) == (len(whole), 1)


@pytest.mark.parametrize(
    "garbage",
    [
        b"oops\n",
        b"[1, 2]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        line(event="other"),
        line(event="start", hosts="n1"),
        line(**PHASE | {"seconds": "long"}),
        line(**PHASE | {"seconds": -1}),
        line(**PHASE | {"seconds": 10**400}),
        line(**PHASE | {"phase": 3}),
        line(**PHASE | {"t": 1e300}),
        b'{"t": 1, "event": "phase", "phase": "x", "seconds": NaN}\n',
    ],
)
def test_a_line_of_garbage_is_counted_and_passed_over(garbage: bytes) -> None:
    found = progress.read(garbage + line(**PHASE))
    assert (len(found.phases), found.garbage) == (1, 1)


def test_the_first_line_that_cannot_be_read_is_told() -> None:
    found = progress.read(line(event="pause") * 3 + b"oops\n" + line(**PHASE))
    assert (found.garbage, found.complaint) == (
        4,
        "event is 'pause'; accepted is one of start, phase, result, checkpoint, stopped, restored, anew.",
    )
    assert progress.read(b"oops\n").complaint == 'It has no "event".'


def test_figures_without_a_finite_value_are_kept_as_null() -> None:
    found = progress.read(b'{"event": "result", "verified": false, "seconds": Infinity, "figures": {"e": NaN}}\n')
    assert found.result == Result(False, None, {"e": None})


def test_figures_that_a_database_would_refuse_are_dropped() -> None:
    for figures in ({"a": "\0"}, {"a": "\ud800"}, {"a": "x" * 70_000}):
        found = progress.read(line(event="result", verified=True, seconds=1, figures=figures))
        assert found.result == Result(True, 1.0, {})


@given(st.lists(st.binary(max_size=60)), st.integers(0, 200))
def test_reading_in_pieces_finds_what_reading_at_once_finds(lines: list[bytes], cut: int) -> None:
    data = b"".join(part + b"\n" for part in lines) + line(**PHASE)
    first = progress.read(data[:cut])
    second = progress.read(data[first.consumed :])
    assert first.consumed + second.consumed == len(data)
    assert len(first.phases) + len(second.phases) == len(progress.read(data).phases)
