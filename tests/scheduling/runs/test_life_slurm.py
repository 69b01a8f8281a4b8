"""The whole life of jobs on a real Slurm on the emulated Grid's nodes, and what becomes of them when it breaks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.portal import Portal, chain_with_inputs, check_chain, starts, wait_for
from tests.scheduling.profiles.tracing.conftest import MPICH, need

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
        {"name": "hpc", "backend": "slurm", "state_dir": state, "probe": "grid", "timeout": 5},
        {"name": "grid", "backend": "grid", "state_dir": state},
    ]
    made = Portal(tmp_path_factory.mktemp("home"), Path(state), clusters=clusters)
    made.run("""
        registering.register_application("tests", {"slug": "sleep", "name": "Sleep", "ranks": {"min": 1, "max": 8},
            "command": ["bash", "-c", "echo begun >> begun; exec sleep $0", "{seconds}"], "pattern": "ring",
            "parameters": [{"name": "seconds", "type": "int", "min": 0, "max": 600, "default": 0}]})
        registering.register_application("tests", {"slug": "until", "name": "Until", "ranks": {"min": 1, "max": 8},
            "command": ["bash", "-c", "echo begun >> begun; while [ ! -e go ]; do sleep 0.2; done"],
            "pattern": "ring"})
    """)
    return made


@pytest.fixture(autouse=True)
def calm(portal: Portal, grid: Grid) -> Iterator[None]:
    """No job is left to the next test, whose jobs would wait for its nodes."""
    yield
    ask = [*grid.slurm_info()["prefix"]]  # type: ignore[index]
    shell.run([*ask, "scancel", "--user=root"], timeout=30)
    queue = [*ask, "squeue", "--noheader", "--states=PD,R"]
    wait_for(lambda: not shell.run(queue, timeout=30).stdout, "an empty queue", 60)


def state_of(portal: Portal, job: int) -> tuple[str, str]:
    """Its state, and why it is there, after one poll."""
    return portal.follow(job, "True")


def started(portal: Portal, **asking: Any) -> int:
    """A job that sleeps, placed and running on Slurm, with both ranks begun: Slurm says running before it has."""
    job = portal.submit("sleep", 2, asking=asking, seconds=600)
    portal.follow(job, "job.state == 'running'", first="tasks.place_jobs('hpc')")
    begun = Path(directory_of(portal, job), "begun")
    wait_for(lambda: begun.exists() and begun.read_text().count("begun") == 2, "both ranks")
    return job


def saved(portal: Portal, grid: Grid, job: int) -> None:
    """Wait until slurmctld has written down what it knows of a job by now, which it does every five seconds.

    A mark on the job tells: the file alone may be newer than now, and what it says older.
    """
    mark, file = f"saved-{time.time_ns()}", portal.grid / "slurm" / "state" / "job_state"
    number = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).runs.get().backend_id))")
    ask = [*grid.slurm_info()["prefix"]]  # type: ignore[index]
    shell.run([*ask, "scontrol", "update", f"JobId={number}", f"AdminComment={mark}"], timeout=60)
    wait_for(lambda: file.exists() and mark.encode() in file.read_bytes(), "slurmctld to save its state")


def cancelled(portal: Portal, job: int) -> None:
    cancel = f"job = Job.objects.get(pk={job}); submission.cancel_job(job.owner, job); tasks.cancel_run({job})"
    portal.follow(job, "job.state == 'cancelled'", first=cancel)


def test_cg_is_placed_run_and_verified_on_the_chosen_nodes_in_rank_order(portal: Portal) -> None:
    story = portal.to_the_end(portal.submit("nas-cg", 4, **{"class": "S"}))
    assert story["state"] == "succeeded", story["reason"]
    run = story["runs"][0]
    assert (run["exit_code"], run["verified"]) == (0, True)
    assert run["hosts"] == story["nodes"][0]


def test_a_job_brings_its_files_and_starts_after_another(portal: Portal) -> None:
    check_chain(chain_with_inputs(portal, "hpc"))


def test_the_grid_beside_it_runs_jobs_of_its_own(portal: Portal) -> None:
    story = portal.to_the_end(portal.submit("nas-cg", 2, asking={"cluster": "grid"}, **{"class": "S"}))
    assert (story["state"], story["runs"][0]["hosts"]) == ("succeeded", story["nodes"][0])


@pytest.mark.parametrize(
    "place",
    [
        "gridportal.slurm.submit:script:after",
        "gridportal.slurm.submit:parse_id:before",
        *(
            pytest.param(place, marks=pytest.mark.slow)
            for place in (
                "scheduling.placing.services.storing:_write_runs:after",
                "scheduling.runs.services.starting:_hand_over:before",
                "scheduling.runs.services.starting:release_all:before",
            )
        ),
    ],
)
def test_a_worker_killed_around_the_submission_leaves_one_run(portal: Portal, place: str) -> None:
    job = portal.submit("nas-cg", 2, **{"class": "S"})
    assert portal.run("tasks.place_jobs('hpc')", kill_at=place) is None
    story = portal.to_the_end(job, 60)
    assert story["state"] == "succeeded", story["reason"]
    assert starts(story) == 1


def test_hold_release_and_requeue(portal: Portal) -> None:
    job = started(portal, options={"exclusive": True})
    do = "job = Job.objects.get(pk={}); queue_actions.{}_job(job.owner, job)"
    waiting = portal.submit("sleep", 8, asking={"options": {"exclusive": True}}, seconds=0)
    portal.follow(waiting, "'It is held' in said", first=f"tasks.place_jobs('hpc'); {do.format(waiting, 'hold')}")
    portal.follow(waiting, "'It is held' not in said", first=do.format(waiting, "release"))
    cancelled(portal, waiting)
    begun = str(Path(directory_of(portal, job), "begun"))
    again = f"job.state == 'running' and open({begun!r}).read().count('begun') == 4"
    portal.follow(job, again, first=do.format(job, "requeue"))  # its polls end the two minutes that Slurm lets it wait
    cancelled(portal, job)


def test_a_controller_that_is_killed_is_shown_and_jobs_go_on(portal: Portal, grid: Grid) -> None:
    job = portal.submit("until", 2)
    portal.follow(job, "job.state == 'running'", first="tasks.place_jobs('hpc')")
    saved(portal, grid, job)  # killed before, slurmctld would start the job again
    other = portal.submit("sleep", 1, seconds=0)
    grid.slurm("kill", "ctld")
    try:
        seen = portal.run(f"""
            from monitoring.models import Cluster
            tasks.poll_runs()
            tasks.place_jobs('hpc')
            jobs = [Job.objects.get(pk=pk) for pk in ({job}, {other})]
            said = [messages(occupancy.explanation(each)) for each in jobs]
            print(json.dumps([jobs[0].state, *said, Cluster.objects.get(name="hpc").error]))
        """)
    finally:
        grid.slurm("restart", "ctld")
    assert seen[0] == "running"
    assert all("does not answer" in words for words in seen[1:3]), seen
    assert "slurmctld" in seen[3]
    # Not sooner: what ends while slurmctld is away is told to it again a minute later, and keeps its nodes until then.
    portal.follow(job, "job.state == 'running' and said == ''")
    Path(directory_of(portal, job), "go").touch()
    for number in (job, other):
        story = portal.to_the_end(number, 60)
        assert story["state"] == "succeeded", story["reason"]
        assert len(story["runs"]) == 1
        assert Path(story["runs"][0]["run_dir"], "begun").read_text() == "begun\n" * len(story["nodes"][0])


def test_munge_down_is_shown_and_passes(portal: Portal, grid: Grid) -> None:
    job = started(portal)
    grid.slurm("kill", "munge")
    try:
        state, said = state_of(portal, job)
        assert (state, "does not answer" in said) == ("running", True), said
    finally:
        grid.slurm("restart", "munge")
    portal.follow(job, "said == ''")
    cancelled(portal, job)


def test_an_answer_that_takes_too_long_hangs_no_task(portal: Portal, grid: Grid) -> None:
    job = started(portal)
    grid.slurm("freeze", "ctld")
    try:
        state, said = state_of(portal, job)  # portal.run itself gives up after 90 s
        assert state == "running"
        assert "does not answer" in said or "no answer" in said
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
        portal.run("tasks.place_jobs('hpc')")
        mine, theirs = nodes_of(portal, second), nodes_of(portal, first)
        if apart:
            assert not set(mine) & set(theirs)
            assert portal.to_the_end(second, 60)["state"] == "succeeded"
        elif set(mine) & set(theirs):
            portal.follow(second, "job.state == 'starting' and 'busy' in said")
    assert portal.to_the_end(second, 60)["state"] == "succeeded"


def directory_of(portal: Portal, job: int) -> str:
    directory: str = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).runs.get().run_dir))")
    return directory


def nodes_of(portal: Portal, job: int) -> list[str]:
    nodes: list[str] = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).runs.get().placement.nodes))")
    return nodes


@pytest.mark.slow
def test_a_traced_job_leaves_a_profile(portal: Portal) -> None:
    need(MPICH, "gcc")
    jobs = [portal.submit("nas-cg", 4, asking={"trace": True}, **{"class": name}) for name in ("S", "W")]
    portal.run("tasks.place_jobs('hpc')")  # two at once
    for job in jobs:
        story = portal.to_the_end(job, 60)
        assert (story["state"], story["runs"][0]["verified"]) == ("succeeded", True), story["reason"]
    found = portal.run("""
        from scheduling.models import Profile
        print(json.dumps([[row.pattern, row.ranks, row.trace_file != ""] for row in Profile.objects.all()]))
    """)
    assert found == [["line", 4, True]] * 2
