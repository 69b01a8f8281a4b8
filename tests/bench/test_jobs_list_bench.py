"""Server time of a page of jobs, relative to the same page of bare rows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from scheduling.jobs.models import Job
from scheduling.pages import selectors
from scheduling.placing.models import Placement
from scheduling.runs.models import Run

pytestmark = pytest.mark.bench
JOBS = 30_000


@pytest.fixture
def many(people: dict[str, Any], application: Any) -> dict[str, Any]:
    """30,000 jobs of two people, two thirds of them ended, each of those with placement and run."""
    Job.objects.bulk_create(
        [
            Job(
                owner=people["user" if number % 2 else "other"],
                application=application,
                node_count=2,
                ranks=2,
                state="queued" if number % 3 == 0 else "succeeded",
            )
            for number in range(JOBS)
        ],
        batch_size=1000,
    )
    ended = list(Job.objects.filter(state="succeeded").order_by("pk").values_list("pk", flat=True))
    Placement.objects.bulk_create(
        [Placement(job_id=job, method="pattern", nodes=["n1", "n2"], seconds=0.1) for job in ended], batch_size=1000
    )
    placements = dict(Placement.objects.values_list("job_id", "pk"))
    Run.objects.bulk_create(
        [Run(job_id=j, placement_id=placements[j], key=f"k{j}", run_dir="/r", script="", seconds=1.5) for j in ended],
        batch_size=1000,
    )
    return people


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the quickest of seven."""
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


@pytest.mark.parametrize("role", ["user", "operator"])
@pytest.mark.parametrize("offset", [0, 10_000])
def test_a_page_of_jobs(many: dict[str, Any], role: str, offset: int, capsys: pytest.CaptureFixture[str]) -> None:
    page = slice(offset, offset + 50)
    bare = fastest(lambda: list(Job.objects.order_by("-pk")[page]))
    shown = fastest(lambda: list(selectors.jobs_visible_to(many[role])[page]))
    with capsys.disabled():
        sys.stdout.write(f"\n{role}, rows {offset} on: {shown * 1e3:.1f} ms, {shown / bare:.1f} times bare rows\n")
    assert len(list(selectors.jobs_visible_to(many[role])[page])) == 50
