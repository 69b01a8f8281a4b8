"""Parts of a real Slurm that die, stand still and come back."""

from __future__ import annotations

import time

import pytest

from gridportal.base.errors import BackendError, InputError, ShellError
from gridportal.testbed.client import Grid
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.slurm.conftest import SlurmGrid

pytestmark = [pytest.mark.grid, pytest.mark.slurm]
WAIT = "touch begun-$SLURM_JOB_ID; while [ ! -e go-$SLURM_JOB_ID ]; do sleep 0.1; done; hostname"


def begin(cluster: SlurmGrid, nodes: list[str], *options: str) -> str:
    """A job that runs until `finish`."""
    job, _ = cluster.submit(WAIT, nodes, *options)
    eventually((cluster.work / f"begun-{job}").exists, f"the start of job {job}")
    return job


def finish(cluster: SlurmGrid, job: str) -> None:
    (cluster.work / f"go-{job}").touch()
    eventually(lambda: cluster.state(job) == "COMPLETED", f"the end of job {job}")


def test_jobs_outlive_the_death_of_slurmctld(cluster: SlurmGrid) -> None:
    job = begin(cluster, ["a", "b"])
    time.sleep(6)  # slurmctld writes what it knows every 5 s; what is younger it forgets when it is killed
    cluster.grid.slurm("kill", "ctld")
    assert cluster.daemon("ctld") == "ended"
    assert cluster.ask("scontrol", "ping").returncode != 0
    cluster.grid.slurm("restart", "ctld")
    eventually(lambda: cluster.state(job) == "RUNNING", "slurmctld")
    finish(cluster, job)


def test_a_job_outlives_the_death_of_its_slurmd(cluster: SlurmGrid) -> None:
    job = begin(cluster, ["c"])
    cluster.grid.slurm("kill", "slurmd", "c")
    assert cluster.daemon("slurmd:c") == "ended"
    cluster.grid.slurm("restart", "slurmd", "c")
    finish(cluster, job)


def processes(cluster: SlurmGrid, name: str) -> int:
    return next(node["pids"] for node in cluster.grid.status()["nodes"] if node["id"] == name)


def test_a_node_that_loses_power_goes_down_and_its_job_ends(cluster: SlurmGrid) -> None:
    job = begin(cluster, ["d"], "--no-requeue")
    view = cluster.grid.slurm("kill", "node", "d")
    assert {each["name"]: each["state"] for each in view["daemons"]}["slurmd:d"] == "ended"
    eventually(lambda: processes(cluster, "d") == 0, "the end of what ran on d")
    cluster.ask("scontrol", "update", "NodeName=d", "State=DOWN", "Reason=power")  # sooner than SlurmdTimeout does
    eventually(lambda: cluster.state(job) == "NODE_FAIL", "the failure of the job")
    cluster.grid.slurm("restart", "node", "d")
    cluster.ask("scontrol", "update", "NodeName=d", "State=RESUME")
    eventually(lambda: cluster.nodes()["d"] == "idle", "the node")


def test_without_munge_nothing_is_accepted_until_it_is_back(cluster: SlurmGrid) -> None:
    cluster.grid.slurm("kill", "munge")
    with pytest.raises(ShellError, match="no answer"):  # Slurm's commands ask for 50 s before they give up
        cluster.ask("squeue", timeout=2)
    cluster.grid.slurm("restart", "munge")
    eventually(lambda: cluster.ask("squeue").returncode == 0, "munge")


def test_a_frozen_slurmctld_answers_nobody_until_it_thaws(cluster: SlurmGrid) -> None:
    cluster.grid.slurm("freeze", "ctld")
    assert cluster.daemon("ctld") == "frozen"
    with pytest.raises(ShellError, match="no answer"):
        cluster.ask("squeue", timeout=1)
    cluster.grid.slurm("thaw", "ctld")
    assert cluster.ask("squeue").returncode == 0


@pytest.mark.parametrize(
    "words", [("burn", "ctld"), ("kill", "dbd"), ("kill", "slurmd"), ("kill", "slurmd", "z"), ("kill", "node", "")]
)
def test_what_cannot_be_broken_is_refused(cluster: SlurmGrid, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="accepted is one of"):
        cluster.grid.slurm(*words)


def test_a_grid_without_slurm_says_how_to_get_one(grid: Grid) -> None:
    assert grid.slurm_info() is None
    with pytest.raises(BackendError, match="--slurm"):
        grid.slurm("kill", "ctld")
