"""The whole life of jobs on a real Slurm on the emulated Grid's nodes, and what becomes of them when it breaks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.portal import Portal, starts, wait_for

pytestmark = pytest.mark.grid


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """cmu8 with a Slurm."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("life-slurm")
    launch.up("cmu8", root, with_parent=True, slurm="slurm")
    yield Grid(root)
    Grid(root).down()


@pytest.fixture(scope="module")
def portal(grid: Grid, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    """hpc is Slurm on the Grid's nodes, side by side with the Grid itself."""
    state = str(Path(grid.slurm_info()["conf"]).parent.parent)  # type: ignore[index]
    clusters: list[dict[str, Any]] = [
        {"name": "hpc", "backend": "slurm", "state_dir": state, "probe": "grid", "timeout": 10},
        {"name": "grid", "backend": "grid", "state_dir": state},
    ]
    made = Portal(tmp_path_factory.mktemp("home"), Path(state), clusters=clusters)
    made.run("""
        services.register_application("tests", {"slug": "sleep", "name": "Sleep", "ranks": {"min": 1, "max": 8},
            "command": ["bash", "-c", "echo begun >> begun; exec sleep $0", "{seconds}"], "pattern": "ring",
            "parameters": [{"name": "seconds", "type": "int", "min": 0, "max": 600, "default": 0}]})
    """)
    return made


def state_of(portal: Portal, job: int) -> str:
    state: str = portal.run(f"tasks.poll_runs(); print(json.dumps(Job.objects.get(pk={job}).state))")
    return state


def reason_of(portal: Portal, job: int) -> str:
    reason: str = portal.run(f"print(json.dumps(selectors.pending_explanation(Job.objects.get(pk={job}))))")
    return reason


def started(portal: Portal, **asking: Any) -> int:
    """A job that sleeps, placed and running on Slurm."""
    job = portal.submit("sleep", 2, asking=asking, seconds=600)
    portal.run(f"tasks.place_job({job})")
    wait_for(lambda: state_of(portal, job) == "running", f"job {job} to run")
    return job


def cancelled(portal: Portal, job: int) -> None:
    portal.run(f"""
        job = Job.objects.get(pk={job})
        services.cancel_job(job.owner, job); tasks.cancel_run({job})
    """)
    assert portal.to_the_end(job, 30)["state"] == "cancelled"


def test_cg_is_placed_run_and_verified_on_the_chosen_nodes_in_rank_order(portal: Portal) -> None:
    story = portal.to_the_end(portal.submit("nas-cg", 4, **{"class": "S"}))
    assert story["state"] == "succeeded", story["reason"]
    run = story["runs"][0]
    assert (run["exit_code"], run["verified"]) == (0, True)
    assert run["hosts"] == story["nodes"][0]


def test_the_grid_beside_it_runs_jobs_of_its_own(portal: Portal) -> None:
    story = portal.to_the_end(portal.submit("nas-cg", 2, asking={"cluster": "grid"}, **{"class": "S"}))
    assert (story["state"], story["runs"][0]["hosts"]) == ("succeeded", story["nodes"][0])


@pytest.mark.parametrize(
    "place",
    [
        "scheduling.services.placing:_write_run:after",
        "scheduling.services.starting:_hand_over:before",
        "scheduling.adapters.slurm.submit:script:after",
        "scheduling.adapters.slurm.submit:parse_id:before",
        "scheduling.services.starting:release:before",
    ],
)
def test_a_worker_killed_around_the_submission_leaves_one_run(portal: Portal, place: str) -> None:
    job = portal.submit("nas-cg", 2, **{"class": "S"})
    assert portal.run(f"tasks.place_job({job})", kill_at=place) is None
    story = portal.to_the_end(job, 60)
    assert story["state"] == "succeeded", story["reason"]
    assert starts(story) == 1


def test_hold_release_and_requeue(portal: Portal) -> None:
    job = started(portal)
    do = "job = Job.objects.get(pk={}); print(json.dumps(services.{}_job(job.owner, job).pk))"
    portal.run(do.format(job, "requeue"))
    wait_for(lambda: state_of(portal, job) == "starting", "the requeued job to be seen in the queue")
    portal.run(do.format(job, "hold"))
    wait_for(lambda: state_of(portal, job) and "It is held" in reason_of(portal, job), "the hold to be told")
    portal.run(do.format(job, "release"))
    portal.run(f"""
        from scheduling.services.backends import backend, door, known
        door(known("hpc")).ask(["scontrol", "update", f"JobId={{Job.objects.get(pk={job}).runs.get().backend_id}}",
            "StartTime=now"])
    """)
    wait_for(lambda: state_of(portal, job) == "running", "the released job to run", 60)
    cancelled(portal, job)


def test_a_controller_that_is_killed_is_shown_and_jobs_go_on(portal: Portal, grid: Grid) -> None:
    job = portal.submit("sleep", 2, seconds=12)
    portal.run(f"tasks.place_job({job})")
    wait_for(lambda: state_of(portal, job) == "running", "the job to run")
    time.sleep(7)  # slurmctld saves its state every five seconds; killed before, it would start the job again
    other = portal.submit("sleep", 1, seconds=0)
    grid.slurm("kill", "ctld")
    try:
        assert state_of(portal, job) == "running"
        assert "does not answer" in reason_of(portal, job)
        portal.run(f"tasks.place_job({other})")
        assert "does not answer" in reason_of(portal, other)
        error = portal.run(
            "from monitoring.models import Cluster; print(json.dumps(Cluster.objects.get(name='hpc').error))"
        )
        assert "slurmctld" in error
    finally:
        grid.slurm("restart", "ctld")
    for number in (job, other):
        story = portal.to_the_end(number, 90)
        assert story["state"] == "succeeded", story["reason"]
        assert len(story["runs"]) == 1
        assert Path(story["runs"][0]["run_dir"], "begun").read_text() == "begun\n" * len(story["nodes"][0])


def test_munge_down_is_shown_and_passes(portal: Portal, grid: Grid) -> None:
    job = started(portal)
    grid.slurm("kill", "munge")
    try:
        assert state_of(portal, job) == "running"
        assert "does not answer" in reason_of(portal, job)
    finally:
        grid.slurm("restart", "munge")
    wait_for(lambda: state_of(portal, job) and reason_of(portal, job) == "", "the words to go")
    cancelled(portal, job)


def test_an_answer_that_takes_too_long_hangs_no_task(portal: Portal, grid: Grid) -> None:
    job = started(portal)
    grid.slurm("freeze", "ctld")
    try:
        assert state_of(portal, job) == "running"  # portal.run itself gives up after 90 s
        assert "does not answer" in reason_of(portal, job) or "no answer" in reason_of(portal, job)
    finally:
        grid.slurm("thaw", "ctld")
    cancelled(portal, job)


@pytest.mark.parametrize(("policy", "apart"), [("wait", False), ("again", True), ("next", True)])
def test_busy_nodes(portal: Portal, policy: str, apart: bool) -> None:
    asking = {"method": "compute", "options": {"exclusive": True}, "time_limit": 600}
    first = started(portal, **asking, seed=1)
    second = portal.submit("sleep", 2, asking={**asking, "seed": 1, "busy_policy": policy, "candidates": 10}, seconds=0)
    with contextlib.ExitStack() as stack:
        stack.callback(cancelled, portal, first)
        portal.run(f"tasks.place_job({second})")
        mine, theirs = nodes_of(portal, second), nodes_of(portal, first)
        if apart:
            assert not set(mine) & set(theirs)
            assert portal.to_the_end(second, 30)["state"] == "succeeded"
        elif set(mine) & set(theirs):
            wait_for(lambda: state_of(portal, second) == "starting" and "busy" in reason_of(portal, second), "its turn")
    assert portal.to_the_end(second, 60)["state"] == "succeeded"


def nodes_of(portal: Portal, job: int) -> list[str]:
    nodes: list[str] = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).runs.get().placement.nodes))")
    return nodes
