"""The whole life of jobs on a real emulated Grid, with workers that are processes and are really killed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from tests.scheduling.portal import Portal, starts, wait_for
from tests.servers import postgres_server

pytestmark = pytest.mark.grid


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """crossbar10 of its own."""
    if machine.choose()[0] == "unshaped":
        pytest.skip(str(machine.choose()[1]))
    root = tmp_path_factory.mktemp("life-grid")
    launch.up("crossbar10", root, with_parent=True)
    yield root
    Grid(root).down()


@pytest.fixture(scope="module")
def portal(grid: Path, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    return Portal(tmp_path_factory.mktemp("home"), grid)


def test_cg_is_placed_run_and_verified_on_the_chosen_nodes(portal: Portal) -> None:
    story = portal.to_the_end(portal.submit("nas-cg", 4, **{"class": "S"}))
    assert story["state"] == "succeeded", story["reason"]
    run = story["runs"][0]
    assert (run["exit_code"], run["verified"]) == (0, True)
    assert run["hosts"] == story["nodes"][0]
    assert story["events"] == ["queued", "placing", "starting", "running", "succeeded"]
    assert story["phases"] == ["makea", "init", "conj_grad"]
    assert run["seconds"] > 0


def test_the_same_on_postgresql(grid: Path, tmp_path: Path) -> None:
    with postgres_server() as url:
        portal = Portal(tmp_path, grid, url)
        story = portal.to_the_end(portal.submit("nas-cg", 2, **{"class": "S"}))
    assert story["state"] == "succeeded", story["reason"]


@pytest.mark.parametrize(
    "place",
    [
        "scheduling.services.placing:_network:before",
        "scheduling.services.placing:_write_run:after",
        "scheduling.services.starting:_hand_over:before",
        "scheduling.services.starting:_hand_over:after",
        "scheduling.services.running:_verdict:before",
        "scheduling.services.progress:_write_phases:after",
    ],
)
def test_a_killed_worker_costs_time_and_nothing_else(portal: Portal, place: str) -> None:
    job = portal.submit("nas-cg", 2, **{"class": "S"})
    step = f"tasks.place_job({job})"
    if "running" in place or "progress" in place:
        portal.run(step)
        step = f"""
            import time
            while not Job.objects.get(pk={job}).is_final:
                tasks.poll_runs(); time.sleep(0.1)
        """
    assert portal.run(step, kill_at=place) is None
    story = portal.to_the_end(job)
    assert story["state"] == "succeeded", story["reason"]
    assert len(story["runs"]) == 1
    assert starts(story) == 1


def test_a_running_job_is_cancelled_and_nothing_of_it_goes_on(portal: Portal, grid: Path) -> None:
    job = portal.submit("heat-2d", 2, steps=100_000, rows=2000, columns=2000)
    portal.run(f"tasks.place_job({job})")
    wait_for(lambda: portal.run(f"tasks.poll_runs(); print(int(Job.objects.get(pk={job}).state == 'running'))"), "run")
    portal.run(f"""
        services.cancel_job(User.objects.get(username="ada"), Job.objects.get(pk={job}))
        tasks.cancel_run({job})
    """)
    story = portal.to_the_end(job)
    assert (story["state"], story["reason"]) == ("cancelled", "Cancelled by ada while it was running.")
    wait_for(lambda: not any(node["pids"] for node in Grid(grid).status()["nodes"]), "the end of its processes", 10)


def test_a_program_that_fails_says_why(portal: Portal) -> None:
    portal.run("""
        services.register_application(User.objects.get(), {"slug": "fails", "name": "Fails", "pattern": "ep",
            "command": ["{python}", "-c", "import sys; print('no such input'); sys.exit(3)"]})
    """)
    story = portal.to_the_end(portal.submit("fails", 1))
    assert story["state"] == "failed"
    assert story["runs"][0]["exit_code"] == 3
    assert "no such input" in story["reason"]


def test_a_job_whose_grid_dies_fails_with_a_reason_when_it_is_back(tmp_path: Path) -> None:
    root = tmp_path / "grid"
    launch.up("crossbar10", root, with_parent=True)
    try:
        portal = Portal(tmp_path / "home", root)
        job = portal.submit("heat-2d", 2, steps=100_000, rows=2000, columns=2000)
        portal.run(f"tasks.place_job({job})")
        wait_for(
            lambda: portal.run(f"tasks.poll_runs(); print(int(Job.objects.get(pk={job}).state == 'running'))"), "run"
        )
        Grid(root).down()
        portal.run("tasks.poll_runs()")
        assert "does not answer" in portal.run(f"print(json.dumps(Job.objects.get(pk={job}).reason))")
        waiting = portal.submit("nas-cg", 2, **{"class": "S"})
        portal.run(f"tasks.place_job({waiting})")
        assert portal.run(f"print(json.dumps(Job.objects.get(pk={waiting}).state))") == "waiting"
        launch.up("crossbar10", root, with_parent=True)
        story = portal.to_the_end(job)
        assert story["state"] == "failed"
        assert starts(story) == 1
        assert portal.to_the_end(waiting)["state"] == "succeeded"
    finally:
        with contextlib.suppress(Exception):
            Grid(root).down()
