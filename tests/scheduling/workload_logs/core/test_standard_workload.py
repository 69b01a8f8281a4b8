"""Lines of the Standard Workload Format: read as what they say, and told by number where they say nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from scheduling.workload_logs.core.finished_job import finished, processors_per_node
from scheduling.workload_logs.core.standard_workload import BadLine, LogHeader, LogJob, LogStatus, read_lines
from scheduling.workload_logs.core.synthetic_log import LogSize, synthetic_lines

GOOD = "3 100 50 600 16 -1 -1 16 1200 -1 1 5 2 9 1 1 -1 -1"
START = datetime(2026, 1, 1, tzinfo=UTC)


def with_field(place: int, value: str) -> str:
    words = GOOD.split()
    words[place - 1] = value
    return " ".join(words)


def test_a_header_is_read_from_comments() -> None:
    lines = [
        "; Computer: IBM SP2",
        ";  MaxNodes : 128 (thin nodes)",
        "; MaxProcs: 256",
        "; UnixStartTime: 800000000",
        ";",
    ]
    header = list(read_lines(lines))[-1]
    assert header == LogHeader("IBM SP2", 800000000, 128, 256)
    assert processors_per_node(header) == 2  # type: ignore[arg-type]


def test_a_job_is_read_and_finished() -> None:
    (job,) = read_lines([GOOD])
    assert isinstance(job, LogJob)
    found = finished(job, START, 8)
    assert (found.nodes, found.ranks, found.limit, found.state) == (2, 16, 1200, "succeeded")
    assert (found.created.second, (found.ended - found.created).total_seconds()) == (40, 650.0)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1 2 3", "it has 3 fields; a job has 18"),
        (
            with_field(4, "soon"),
            "field 4 (run time) is 'soon'; accepted is a number of at most 1,000,000,000,000, or -1",
        ),
        (with_field(4, "nan"), "field 4 (run time) is 'nan'; accepted is a number"),
        (with_field(4, "1e300"), "field 4 (run time) is '1e300'; accepted is a number of at most 1,000,000,000,000"),
        (with_field(1, "-1"), "field 1 (job number) is -1; accepted is a whole number from 1"),
        (with_field(2, "-1"), "field 2 (submit time) is -1"),
        (with_field(2, "9e11"), "field 2 (submit time) is 9e+11"),
        (with_field(4, "9e11"), "field 4 (run time) is 9e+11"),
        (with_field(5, "9e11"), "field 5 (processors) is 9e+11"),
        (with_field(11, "9"), "field 11 (status) is 9"),
        (" ".join(["1", "0", "1", "1", "-1", "-1", "-1", "-1", *["-1"] * 10]), "nobody knows on how many processors"),
    ],
)
def test_a_line_that_is_no_job_is_told_by_its_number(line: str, why: str) -> None:
    found = list(read_lines(["; Note: x", "", line, GOOD]))
    assert isinstance(found[0], BadLine)
    assert (found[0].line, found[0].why[: len(why)]) == (3, why)
    assert isinstance(found[1], LogJob)


def test_what_is_unknown_takes_no_time() -> None:
    (job,) = read_lines([with_field(3, "-1").replace(" 600 ", " -1 ").replace(" 1200 ", " -1 ")])
    found = finished(job, START, 1)  # type: ignore[arg-type]
    assert (found.started, found.ended, found.limit) == (None, found.created, None)


def test_parts_of_jobs_are_known_as_such() -> None:
    statuses = [LogStatus(status).is_part for status in (-1, 0, 1, 2, 3, 4, 5)]
    assert statuses == [False, False, False, True, True, True, False]


@given(some.lists(some.text(max_size=60), max_size=20))
def test_no_text_raises(lines: list[str]) -> None:
    for found in read_lines(lines):
        assert isinstance(found, BadLine | LogJob | LogHeader)


def test_a_made_up_log_is_the_same_for_the_same_seed_and_every_line_is_a_job() -> None:
    size = LogSize(jobs=300, days=30)
    lines = list(synthetic_lines(size, 4, 1767225600))
    assert lines == list(synthetic_lines(size, 4, 1767225600))
    assert lines != list(synthetic_lines(size, 5, 1767225600))
    jobs = [item for item in read_lines(lines) if isinstance(item, LogJob)]
    assert len(jobs) == 300
    assert not [item for item in read_lines(lines) if isinstance(item, BadLine)]
    assert jobs == sorted(jobs, key=lambda job: job.submitted)
    assert max(job.submitted for job in jobs) < 30 * 86_400
    assert {job.status for job in jobs} == {LogStatus.COMPLETED, LogStatus.FAILED, LogStatus.CANCELLED}
