"""From up to down with a Slurm, and what is left after a crash: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gridportal.base.errors import BackendError
from gridportal.testbed import cgroups, launch
from gridportal.testbed.client import Grid
from gridportal.testbed.commands import app
from gridportal.testbed.slurm import place
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.slurm.conftest import SlurmGrid, need_slurm, topology_file

pytestmark = [pytest.mark.grid, pytest.mark.slurm]


def pid_space(pid: int) -> str:
    """The PID namespace of a process; empty when it is gone."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def inside(process: subprocess.Popen[bytes]) -> int:
    """gridd: the first process of the Grid's PID namespace."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def members(space: str) -> list[int]:
    """The processes of a PID namespace."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and pid_space(int(name)) == space]


@pytest.mark.parametrize("way", ["down", "kill gridd", pytest.param("kill the first process", marks=pytest.mark.slow)])
def test_no_process_mount_or_device_is_left(tmp_path: Path, way: str) -> None:
    need_slurm()
    root = tmp_path / "grid"
    before = (sorted(os.listdir("/sys/class/net")), sorted(os.listdir("/etc/slurm")))
    process, status = launch.up(topology_file(tmp_path), root, with_parent=True, slurm="slurm")
    assert status["slurm"]["state"] == "up"
    slurm = SlurmGrid(root, tmp_path)
    slurm.submit("srun -n 2 sh -c 'touch up-$SLURM_PROCID; sleep 60'", ["a", "b"])
    eventually(lambda: len(list(tmp_path.glob("up-*"))) == 2, "the tasks")
    space = pid_space(inside(process))
    assert len(members(space)) > 12
    if way == "down":
        Grid(root).down()
        assert not place.folder(State(root)).exists()
    else:
        os.kill(process.pid if way == "kill gridd" else inside(process), signal.SIGKILL)
        eventually(lambda: not members(space), "the end of the Grid")
        done = slurm.ask("squeue")
        assert (done.returncode, done.stderr) == (255, "The Grid of this Slurm is not up.\n")
        Grid(root).down()
    assert not members(space)
    assert (sorted(os.listdir("/sys/class/net")), sorted(os.listdir("/etc/slurm"))) == before
    assert "etc/slurm" not in Path("/proc/self/mountinfo").read_text()
    assert not cgroups.existing(State(root))


def test_job_ids_go_on_where_an_earlier_slurm_cannot_have_been(cluster: SlurmGrid) -> None:
    job, _ = cluster.submit("true", ["a"])
    assert int(job) > 20_000_000


def test_status_tells_people_how_to_use_slurms_own_commands(cluster: SlurmGrid) -> None:
    words = ["status", "--state-dir", str(cluster.grid.directory)]
    text = CliRunner().invoke(app, words, catch_exceptions=False).stdout
    assert f"{cluster.prefix[0]} squeue" in text
    assert "grid*" in text
    document = json.loads(CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False).stdout)
    assert document["slurm"]["state"] == "up"
    assert Path(document["slurm"]["conf"]).read_text().startswith("ClusterName=grid\n")


def test_a_daemon_is_killed_and_restarted_from_the_command_line(cluster: SlurmGrid) -> None:
    where = ["--json", "--state-dir", str(cluster.grid.directory)]
    for action, state in (("kill", "ended"), ("restart", "running")):
        words = ["slurm", action, "slurmd", "b", *where]
        assert json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)["slurmd:b"] == state


def test_an_ordinary_user_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(BackendError, match="by root only"):
        launch.up("cmu8", tmp_path / "grid", mode="user-namespaces", slurm="slurm")


def test_a_slurm_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_slurm()
    monkeypatch.setattr(place, "missing", lambda *, accounting: ["slurmctld", "munged"])
    with pytest.raises(BackendError, match="slurmctld, munged not installed; apt-get install slurm-wlm munge"):
        launch.up("cmu8", tmp_path / "grid", slurm="slurm")


def test_with_accounts_sacct_remembers_a_job_its_comment_and_its_account(tmp_path: Path) -> None:
    need_slurm(accounting=True)
    launch.up(topology_file(tmp_path), tmp_path / "grid", with_parent=True, slurm="accounting")
    try:
        slurm = SlurmGrid(tmp_path / "grid", tmp_path)
        job, _ = slurm.submit("exit 3", ["c"], "--account=chemistry", "--qos=high", "--comment=key 7")
        ask = ["sacct", "-nPXj", job, "--format=State,ExitCode,NodeList,Account,QOS,Comment"]
        want = "FAILED|3:0|c|chemistry|high|key 7"
        eventually(lambda: slurm.ask(*ask).stdout.strip() == want, "the account of the job")
    finally:
        Grid(tmp_path / "grid").down()
