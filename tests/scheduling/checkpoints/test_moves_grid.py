"""A job with real ranks, on the emulated Grid and on a Slurm, is stopped with a checkpoint and goes on elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.portal import Portal, starts

pytestmark = pytest.mark.grid

#: It asks for a move to three other nodes, and does what beat does until that is over.
MOVE = """
    from scheduling.checkpoints.services.requesting import stop_and_continue
    job = Job.objects.get(pk={job})
    before = job.runs.get().placement.nodes
    nodes = [name for name in {names!r} if name not in before][:3]
    row = stop_and_continue(job, by=User.objects.get(username="ada"), nodes=nodes)
    for _ in looks(200):
        tasks.advance_jobs(); tasks.poll_runs()
        row.refresh_from_db()
        if not row.is_open:
            break
    names = ("writing", "telemetry", "information", "schedule", "other", "start", "reading", "total", "paused")
    first = job.runs.get(number=1)
    print(json.dumps({{"state": row.state, "said": message(row.reason), "nodes": nodes,
        "seconds": {{name: getattr(row, name) for name in names}}, "first": [first.state, first.exit_code]}}))
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """cmu8 with a Slurm on its nodes."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("moves-grid")
    launch.up("cmu8", root, with_parent=True, slurm="slurm")
    yield root
    Grid(root).down()


@pytest.fixture(scope="module")
def portal(grid: Path, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    state = str(Path(Grid(grid).slurm_info()["conf"]).parent.parent)  # type: ignore[index]
    clusters: list[dict[str, Any]] = [
        {"name": "grid", "backend": "grid", "state_dir": state},
        {"name": "hpc", "backend": "slurm", "state_dir": state, "probe": "grid", "timeout": 5},
    ]
    return Portal(tmp_path_factory.mktemp("home"), Path(state), clusters=clusters)


@pytest.mark.parametrize("cluster", [pytest.param("grid", marks=pytest.mark.slow), "hpc"])
def test_the_heated_plate_goes_on_with_another_number_of_ranks_and_comes_to_the_same_end(
    portal: Portal, grid: Path, cluster: str
) -> None:
    job = portal.submit("heat-2d", 2, asking={"cluster": cluster}, steps=15_000, rows=200, columns=200)
    portal.follow(job, "job.state == 'running'", first=f"tasks.place_jobs({cluster!r})")
    portal.follow(job, "job.runs.get().phase_totals.exists()")
    names = [node["id"] for node in Grid(grid).status()["nodes"]]
    moved = portal.run(MOVE.format(job=job, names=names))
    assert moved["state"] == "moved", moved["said"]
    assert moved["first"] == ["checkpointed", 0]
    assert None not in moved["seconds"].values()
    story = portal.to_the_end(job)
    assert story["state"] == "succeeded", story["reason"]
    second = story["runs"][1]
    assert (second["verified"], story["nodes"][1], second["hosts"]) == (True, moved["nodes"], moved["nodes"])
    assert starts(story) == 2


@pytest.mark.parametrize("place", ["_made:after", pytest.param("start_runs:before", marks=pytest.mark.slow)])
def test_a_killed_worker_costs_a_move_time_and_nothing_else(portal: Portal, place: str) -> None:
    job = portal.submit("heat-2d", 2, asking={"cluster": "grid"}, steps=15_000, rows=200, columns=200)
    portal.follow(job, "job.state == 'running'", first="tasks.place_jobs('grid')")
    portal.follow(job, "job.runs.get().phase_totals.exists()")
    portal.run(f"""
        from scheduling.checkpoints.services.requesting import stop_and_continue
        stop_and_continue(Job.objects.get(pk={job}), by=User.objects.get(username="ada"), ranks=3)
    """)
    step = """
        for _ in looks(100):
            tasks.poll_runs()
    """
    assert portal.run(step, kill_at=f"scheduling.checkpoints.services.next_run:{place}") is None
    story = portal.to_the_end(job)
    assert story["state"] == "succeeded", story["reason"]
    assert (len(story["runs"]), len(story["nodes"][1]), starts(story)) == (2, 3, 2)
    moved = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).continuations.get().state))")
    assert moved == "moved"


def test_at_its_time_limit_a_job_stops_by_itself_and_goes_on_as_it_was_asked(portal: Portal) -> None:
    asking = {"cluster": "grid", "time_limit": 30, "continues": True}
    job = portal.submit("heat-2d", 2, asking=asking, steps=100_000, rows=400, columns=400)
    portal.follow(job, "job.runs.count() == 2", first="tasks.place_jobs('grid')")
    first, by = portal.run(f"""
        job = Job.objects.get(pk={job})
        print(json.dumps([job.runs.get(number=1).state, job.continuations.get().by]))
        submission.cancel_job(User.objects.get(username="ada"), job)
    """)
    assert (first, by) == ("checkpointed", "portal")
    assert portal.to_the_end(job)["state"] == "cancelled"
