"""The whole life of jobs on this machine, with workers that are processes and are really killed; no Grid, no Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scheduling.portal import Portal, starts

pytestmark = pytest.mark.grid


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Portal:
    home = tmp_path_factory.mktemp("home")
    return Portal(home, home / "no-grid", clusters=[{"name": "here", "backend": "local", "slots": 4}])


def submit(portal: Portal, program: str = "nas-cg", nodes: int = 4, **asking: object) -> int:
    return portal.submit(program, nodes, {"cluster": "here", **asking}, **{"class": "S"})


def test_cg_is_placed_run_and_verified(portal: Portal) -> None:
    story = portal.to_the_end(submit(portal))
    assert story["state"] == "succeeded", story["reason"]
    run = story["runs"][0]
    assert (run["exit_code"], run["verified"]) == (0, True)
    assert len(set(run["hosts"])) == 1
    assert sorted(story["nodes"][0]) == ["local-1", "local-2", "local-3", "local-4"]
    assert story["events"] == ["queued", "placing", "starting", "running", "succeeded"]
    assert story["phases"] == ["makea", "init", "conj_grad"]


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_worker_killed_at_the_submission_starts_the_job_once(portal: Portal, place: str) -> None:
    job = submit(portal, nodes=2)
    portal.run("tasks.advance_jobs()", kill_at=f"gridportal.base.processes:run:{place}")
    story = portal.to_the_end(job)
    assert story["state"] == "succeeded", story["reason"]
    assert starts(story) == 1


def test_a_job_that_is_cancelled_ends(portal: Portal) -> None:
    job = portal.submit("nas-cg", 2, {"cluster": "here"}, **{"class": "B"})
    portal.follow(job, "job.state == 'running'", first="tasks.advance_jobs()")
    portal.run(f"""
        submission.cancel_job(User.objects.get(username="ada"), Job.objects.get(pk={job}))
    """)
    assert portal.to_the_end(job)["state"] == "cancelled"


def test_jobs_wait_for_slots_that_others_have(portal: Portal) -> None:
    jobs = [submit(portal, "nas-ep", nodes=4) for _ in range(2)]
    stories = [portal.to_the_end(job) for job in jobs]
    assert {story["state"] for story in stories} == {"succeeded"}


def test_the_cluster_says_that_there_is_no_network_to_choose_by(portal: Portal) -> None:
    portal.to_the_end(submit(portal, nodes=1))
    warning, mode, loads, error = portal.run("""
        from monitoring.clusters.models import Cluster
        from monitoring.telemetry.services import polling
        polling.poll("here")
        row = Cluster.objects.get(name="here")
        loads = [node.load is not None for node in row.nodes.filter(kind="compute")]
        print(json.dumps([row.warning, row.mode, loads, row.error]))
    """)
    assert "no network" in warning
    assert (mode, loads, error) == ("this machine", [True] * 4, "")


def test_the_script_names_this_host_and_keeps_its_log(portal: Portal) -> None:
    story = portal.to_the_end(submit(portal, nodes=2))
    script = Path(story["runs"][0]["run_dir"], "script.sh").read_text()
    assert "-hosts localhost,localhost" in script
    assert "cut_log" in script
