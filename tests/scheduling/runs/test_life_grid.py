"""The whole life of jobs on a real emulated Grid, with workers that are processes and are really killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from tests import migrated
from tests.scheduling.portal import Portal, chain_with_inputs, check_chain, starts, wait_for

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


def test_a_job_brings_its_files_and_starts_after_another(portal: Portal) -> None:
    check_chain(chain_with_inputs(portal, "grid"))


#: A worker that waits, once it has chosen, until the other has chosen as well.
CHOOSE_TOGETHER = """
    import pathlib, time
    from scheduling.placing.services import choosing, placing
    folder, me, job = pathlib.Path({folder!r}), {me}, {job}
    select, waited = choosing.select, []
    def together(*args, **options):
        chosen = select(*args, **options)
        if not waited:
            waited.append(True)
            (folder / str(me)).touch()
            end = time.monotonic() + 30
            while time.monotonic() < end and not (folder / str(1 - me)).exists():
                time.sleep(0.01)
        return chosen
    choosing.select = together
    looked, placing.FreeNodes.check = placing.worth_trying, lambda room, job: None
    placing.worth_trying = lambda *line: [row for row in looked(*line) if row.pk == job]
    print(json.dumps(rounds.place_and_start_all('grid')))
"""


def place_two_at_once(portal: Portal, folder: Path) -> None:
    """Two workers choose on the same free nodes; only one of them can have its first choice."""
    folder.mkdir()
    jobs = [portal.submit("nas-ep", 5, **{"class": "S"}) for _ in range(2)]
    codes = [CHOOSE_TOGETHER.format(folder=str(folder), me=me, job=job) for me, job in enumerate(jobs)]
    assert portal.run_at_once(*codes) == [1, 1]
    one, two = (portal.to_the_end(job) for job in jobs)
    assert (one["state"], two["state"]) == ("succeeded", "succeeded")
    assert len(one["runs"]) == len(two["runs"]) == 1
    assert not set(one["nodes"][0]) & set(two["nodes"][0])


def test_two_workers_that_choose_at_once_never_share_a_node(portal: Portal, tmp_path: Path) -> None:
    place_two_at_once(portal, tmp_path / "chosen")


def test_choices_are_the_same_on_postgresql(grid: Path, tmp_path: Path) -> None:
    with migrated.postgres_server() as url:
        place_two_at_once(Portal(tmp_path / "home", grid, url), tmp_path / "chosen")


def test_many_workers_on_the_same_jobs_start_each_once(portal: Portal) -> None:
    jobs = [portal.submit("nas-ep", 2, **{"class": "S"}) for _ in range(3)]
    every = """
        for _ in range(3):
            tasks.place_jobs('grid')
            tasks.poll_runs()
        tasks.advance_jobs()
    """
    portal.run_at_once(every, every, every, every)
    for job in jobs:
        story = portal.to_the_end(job)
        assert story["state"] == "succeeded", story["reason"]
        assert (len(story["runs"]), starts(story)) == (1, 1)
        assert len(story["events"]) == len(set(story["events"])) or "waiting" in story["events"]


@pytest.mark.parametrize(
    "place",
    [
        *(
            "scheduling.placing.services.storing:_write_runs:after",
            "scheduling.runs.services.starting:_hand_over:after",
            "scheduling.runs.services.phase_totals:add_phases:after",
        ),
        *(
            pytest.param(place, marks=pytest.mark.slow)
            for place in (
                "scheduling.placing.services.snapshot:_measured:before",
                "scheduling.runs.services.starting:_hand_over:before",
                "scheduling.runs.services.ending:_verdict:before",
            )
        ),
    ],
)
def test_a_killed_worker_costs_time_and_nothing_else(portal: Portal, place: str) -> None:
    job = portal.submit("nas-cg", 2, **{"class": "S"})
    step = "tasks.place_jobs('grid')"
    if "ending" in place or "phase_totals" in place:
        portal.run(step)
        step = """
            for _ in looks(100):
                tasks.poll_runs()
        """
    assert portal.run(step, kill_at=place) is None
    story = portal.to_the_end(job)
    assert story["state"] == "succeeded", story["reason"]
    assert len(story["runs"]) == 1
    assert starts(story) == 1


def test_a_running_job_is_cancelled_and_nothing_of_it_goes_on(portal: Portal, grid: Path) -> None:
    job = portal.submit("heat-2d", 2, steps=100_000, rows=2000, columns=2000)
    portal.run("tasks.place_jobs('grid')")
    wait_for(lambda: portal.run(f"tasks.poll_runs(); print(int(Job.objects.get(pk={job}).state == 'running'))"), "run")
    portal.run(f"""
        submission.cancel_job(User.objects.get(username="ada"), Job.objects.get(pk={job}))
        tasks.cancel_run({job})
    """)
    story = portal.to_the_end(job)
    assert (story["state"], story["reason"]) == ("cancelled", "Cancelled by ada while it was running.")
    wait_for(lambda: not any(node["pids"] for node in Grid(grid).status()["nodes"]), "the end of its processes", 10)


def test_a_program_that_fails_says_why(portal: Portal) -> None:
    portal.run("""
        registering.register_application(User.objects.get(), {"slug": "fails", "name": "Fails", "pattern": "ep",
            "command": ["{python}", "-c", "import sys; print('no such input'); sys.exit(3)"]})
    """)
    story = portal.to_the_end(portal.submit("fails", 1))
    assert story["state"] == "failed"
    assert story["runs"][0]["exit_code"] == 3
    assert "no such input" in story["reason"]


def test_a_job_whose_grid_dies_fails_with_a_reason_when_it_is_back(portal: Portal, grid: Path) -> None:
    job = portal.submit("heat-2d", 2, steps=100_000, rows=2000, columns=2000)
    portal.run("tasks.place_jobs('grid')")
    wait_for(lambda: portal.run(f"tasks.poll_runs(); print(int(Job.objects.get(pk={job}).state == 'running'))"), "run")
    directory = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).runs.get().run_dir))")
    wait_for(lambda: starts({"runs": [{"run_dir": directory}]}), "the program to begin")
    Grid(grid).down()
    portal.run("tasks.poll_runs()")
    assert "does not answer" in portal.run(f"print(json.dumps(message(Job.objects.get(pk={job}).reason)))")
    waiting = portal.submit("nas-cg", 2, **{"class": "S"})
    portal.run("tasks.place_jobs('grid')")
    assert portal.run(f"print(json.dumps(Job.objects.get(pk={waiting}).state))") == "waiting"
    launch.up("crossbar10", grid, with_parent=True)
    story = portal.to_the_end(job)
    assert story["state"] == "failed"
    assert starts(story) == 1
    assert portal.to_the_end(waiting)["state"] == "succeeded"
