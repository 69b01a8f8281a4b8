"""Jobs of a real Slurm on the Grid: where they run, what they see, and that their MPI keeps to the shaped links."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scheduling.runs.core import restart_lines
from scheduling.runs.core.restart_lines import RestartArguments
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.slurm.conftest import RATES, SlurmGrid
from tests.gridportal.testbed.test_grid import HOSTS, REPOSITORY, assert_sees

pytestmark = [pytest.mark.grid, pytest.mark.slurm]
PRINT = f'{sys.executable} -c "{HOSTS}"'


def test_slurm_knows_the_nodes_their_features_and_what_is_counted(cluster: SlurmGrid) -> None:
    found = cluster.ask("sinfo", "--noheader", "--Node", "--partition=grid", "--format=%N %f %G").stdout.split("\n")
    assert [line.split() for line in found if line][2:] == [["c", "utk", "(null)"], ["d", "(null)", "gpu:2"]]
    partitions = cluster.ask("sinfo", "--noheader", "--format=%R %l").stdout.split()
    assert partitions == ["grid", "1-00:00:00", "short", "5:00", "urgent", "1:00:00"]


def test_plain_mpiexec_in_a_batch_script_runs_on_the_named_nodes_in_their_order(cluster: SlurmGrid) -> None:
    text = cluster.output(f"hostname; mpiexec -n 3 -hosts d,a,c {PRINT}", ["a", "c", "d"])
    assert text.splitlines() == ["a", "['d', 'a', 'c']"]


def test_srun_starts_mpi_ranks_in_the_order_of_a_host_file(cluster: SlurmGrid) -> None:
    script = "printf 'c\\nb\\n' > order; export SLURM_HOSTFILE=$PWD/order\n"
    text = cluster.output(f"{script}srun --distribution=arbitrary -n 2 {PRINT}", ["b", "c"])
    assert text.strip() == "['c', 'b']"


@pytest.mark.in_turn("start")
@pytest.mark.parametrize("start", ["mpiexec -n 2 -hosts a,b", "srun -N 2 -n 2 -w a,b"])
def test_mpi_within_a_job_sees_the_shaped_rate_of_each_direction(cluster: SlurmGrid, start: str) -> None:
    forth, back = RATES["a", "b"], RATES["b", "a"]
    program = f"{sys.executable} -m gridportal.testbed.pingpong {forth * 1e6} {back * 1e6}"

    def measure() -> list[float]:
        text = cluster.output(f"cd {REPOSITORY}\n{start} {program}", ["a", "b"])
        return [rate / 1e6 for rate in json.loads(text.splitlines()[-1])["rates"]]

    assert_sees(measure, [forth, back])


@pytest.mark.in_turn("start")
@pytest.mark.parametrize("start", ["mpiexec -n 3 -hosts a,b,c", "srun -N 3 -n 3 -w a,b,c"])
def test_a_master_within_a_job_receives_from_whoever_is_first(cluster: SlurmGrid, start: str) -> None:
    program = f"{sys.executable} -m tests.gridportal.testbed.any_source 8"
    assert cluster.output(f"cd {REPOSITORY}\n{start} {program}", ["a", "b", "c"]).split() == ["24"]


@pytest.mark.parametrize("export", ["ALL", "NONE", "NIL"])
def test_every_job_is_told_how_mpi_keeps_to_the_links(cluster: SlurmGrid, export: str) -> None:
    names = "$UCX_TLS $UCX_NET_DEVICES $MPIR_CVAR_CH4_NETMOD $FI_TCP_IFACE $HYDRA_IFACE $GRIDPORTAL_NODE"
    text = cluster.output(f"echo {names}; command -v mpiexec", ["c"], f"--export={export}")
    assert text.splitlines()[0] == "tcp,self eth0 ofi eth0 eth0 c"
    assert text.splitlines()[1].endswith("/mpiexec")


def test_a_job_inherits_no_secret_of_the_one_who_calls(cluster: SlurmGrid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "very-secret")
    monkeypatch.setenv("SBATCH_PARTITION", "nowhere")
    assert "very-secret" not in cluster.output("env", ["a"], "--export=ALL")


def test_a_job_runs_as_the_person_who_submits_it(cluster: SlurmGrid) -> None:
    log = Path(tempfile.mkdtemp(prefix="nobody-", dir="/tmp"))  # pytest's own folders are closed to others
    os.chown(log, 65534, 65534)
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    script = "#!/bin/bash\nid -un; echo ${HYDRA_LAUNCHER_EXEC:-none}; srun -N 2 -n 2 -w b,d -l hostname | sort\n"
    options = ["--wait", "--nodelist=b,d", "--nodes=2", f"--output={log}/out", f"--chdir={log}"]
    try:
        done = cluster.ask(*become, "sbatch", *options, stdin=script)
        assert done.returncode == 0, done.stderr
        assert (log / "out").read_text().splitlines() == ["nobody", "none", "0: b", "1: d"]
    finally:
        shutil.rmtree(log)


def test_nodes_cannot_reach_each_other_past_the_shaped_links(cluster: SlurmGrid) -> None:
    text = cluster.output("ip -o -4 addr show; ip route get 10.77.0.2", ["a"])
    devices = {line.split()[1] for line in text.splitlines() if "inet" in line}
    assert devices == {"lo", "eth0"}
    assert "dev eth0" in text.splitlines()[-2 if "cache" in text.splitlines()[-1] else -1]


def test_the_way_in_keeps_the_working_directory_and_quotes_nothing_away(cluster: SlurmGrid) -> None:
    argv = [*cluster.prefix, "sh", "-c", "pwd; hostname; echo $#", "x", "a b", "*"]
    done = subprocess.run(argv, cwd=cluster.work, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.splitlines() == [str(cluster.work), "fabric", "2"]


def test_a_job_of_the_urgent_partition_takes_the_nodes_of_one_that_can_be_requeued(cluster: SlurmGrid) -> None:
    first, _ = cluster.submit("touch preempted; sleep 60", ["b"], "--exclusive", "--requeue")
    eventually((cluster.work / "preempted").exists, "the job that will be preempted")
    assert cluster.output("hostname", ["b"], "--partition=urgent", "--exclusive").strip() == "b"
    assert cluster.state(first) in ("PENDING", "RUNNING")
    assert "Restarts=1" in cluster.ask("scontrol", "show", "job", first).stdout


@pytest.mark.slow
def test_a_job_that_is_put_back_into_the_queue_goes_on_from_the_file_that_it_left(cluster: SlurmGrid) -> None:
    restart = RestartArguments(("-r", "chosen"), ("-r", "{file}"), str(cluster.work), "melt.*.restart")
    script = (
        f"{restart_lines.lines(restart)}\necho begun {restart_lines.ARGUMENTS} >> begun\n"
        'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then echo data > melt.40.restart; sleep 60; fi'
    )
    begun = cluster.work / "begun"
    job, _ = cluster.submit(script, ["b"], "--requeue")
    eventually(lambda: (cluster.work / "melt.40.restart").exists(), "its first file")
    assert cluster.ask("scontrol", "requeue", job).returncode == 0

    def is_completed() -> bool:
        # Slurm would wait two minutes, and sets that time again when the first attempt has ended whole.
        if (state := cluster.state(job)) == "PENDING":
            cluster.ask("scontrol", "update", f"JobId={job}", "StartTime=now")
        return state == "COMPLETED"

    eventually(is_completed, "its second attempt")
    assert begun.read_text().splitlines() == ["begun -r chosen", f"begun -r {cluster.work}/melt.40.restart"]
