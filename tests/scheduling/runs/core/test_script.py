"""The batch script: against golden files, and run by a real bash with a stand-in for mpiexec."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core.launcher import usual_launcher
from scheduling.runs.core import rank_input
from scheduling.runs.core.script import Script, render

GOLDEN = Path(__file__).parent / "golden"
PLAIN = Script(
    title="job-12-run-1: NAS CG",
    method="pattern",
    nodes=("n3", "n7", "n5", "n9"),
    argv=("/opt/python", "-m", "gridportal.workloads.cg", "--class", "S"),
    run_dir="/srv/gridportal/runs/job-12-run-1",
    name="first try",
)
HOSTILE = Script(
    title="job-13-run-2: it's $(a) title",
    method="random",
    nodes=("n1",),
    argv=("/opt/my python", "a; rm -rf ~", "$(reboot)", "`id`", "it's", "", "*", "ü", "\\", '"', "--x=a b"),
    run_dir="/srv/it's here/job-13-run-2",
    environment={"OMP_NUM_THREADS": "1", "MESSAGE": "a 'b' $HOME"},
    name="two\nrm -rf ~\r\x1b[2J lines",
)


#: Nodes that are slots of one host.
LOCAL = replace(PLAIN, nodes=("local-2", "local-1"), host="localhost")
#: Several ranks on a node, with threads: in turn, and out of turn for Open MPI and for MPICH's mpiexec.
IN_TURN = replace(PLAIN, nodes=("n1", "n2", "n1", "n2"), cpus_per_rank=2)
OUT_OF_TURN = replace(
    PLAIN,
    nodes=("n1", "n2", "n1", "n1"),
    mpi="Open MPI 4.1",
    launcher=usual_launcher("Open MPI"),
    run_dir="/srv/it's here/job-13-run-2",
    binds=True,
)


MPICH_OUT_OF_TURN = replace(PLAIN, nodes=("n1", "n2", "n1", "n1"))


#: Ranks with shares of the work, on a cluster that may start the script again.
SHARES = replace(PLAIN, argv=(*PLAIN.argv, "--shares", "40,40,20,5.5"), shares=("40", "40", "20", "5.5"), again=True)


@pytest.mark.parametrize(
    ("name", "script"),
    [
        *(("plain", PLAIN), ("hostile", HOSTILE), ("local", LOCAL), ("in-turn", IN_TURN)),
        *(("out-of-turn", OUT_OF_TURN), ("mpich-out-of-turn", MPICH_OUT_OF_TURN), ("shares", SHARES)),
    ],
)
def test_the_script_is_the_golden_file(name: str, script: Script) -> None:
    golden = GOLDEN / f"{name}.sh"
    assert render(script) == golden.read_text(encoding="utf-8")


def test_a_name_of_several_lines_stays_in_its_comment() -> None:
    lines = render(HOSTILE).splitlines()
    assert [line for line in lines if "rm -rf ~" in line and line.startswith("# ")] == [lines[1]]


@pytest.mark.parametrize(
    "broken", [{"nodes": ()}, {"argv": ()}, {"environment": {"A B": "x"}}, {"environment": {"A;B": "x"}}]
)
def test_what_cannot_be_written_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(InputError):
        render(Script(**{"title": "t", "method": "m", "nodes": ("n1",), "argv": ("a",), "run_dir": "/r", **broken}))


def stand_in(folder: Path, body: str) -> dict[str, str]:
    """An mpiexec of ours on PATH."""
    program = folder / "bin" / "mpiexec"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(word=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
def test_any_argument_reaches_the_program_as_it_is(tmp_path: Path, word: str) -> None:
    env = stand_in(tmp_path, '"${@:5}"')
    text = render(Script("t", "m", ("n1", "n2"), ("printf", "%s\\0", "program", word, "end"), str(tmp_path)))
    done = subprocess.run(["bash", "-c", text], env=env, capture_output=True, timeout=20, check=True)
    assert done.stdout.split(b"\0")[:-1] == [b"program", word.encode(), b"end"]


@pytest.mark.parametrize(
    ("help_text", "told"),
    [("-rankmap {rank map}", "-hosts n1,n2 -rankmap 0,1,0,0"), ("-f {name}", "-hosts n1,n2,n1,n1")],
)
def test_ranks_out_of_turn_are_told_as_the_mpiexec_can_be(tmp_path: Path, help_text: str, told: str) -> None:
    env = stand_in(tmp_path, f'case "$*" in -help) echo "{help_text}";; *) printf "%s " "$@";; esac')
    text = render(Script("t", "m", ("n1", "n2", "n1", "n1"), ("program",), str(tmp_path)))
    done = subprocess.run(["bash", "-c", text], env=env, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.strip() == " ".join(("-n 4", told, "env OMP_NUM_THREADS=1", *rank_input.PREFIX, "program"))


def test_the_exit_record_holds_the_programs_exit_code(tmp_path: Path) -> None:
    text = render(Script("t", "m", ("n1",), ("program",), str(tmp_path)))
    done = subprocess.run(["bash", "-c", text], env=stand_in(tmp_path, "exit 7"), timeout=20, check=False)
    record = json.loads((tmp_path / "exit.json").read_text())
    assert (done.returncode, record["exit_code"]) == (7, 7)
    assert abs(record["ended_at"] - time.time()) < 60


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "before it is noted"])
def test_a_script_that_is_terminated_takes_its_program_along_and_records_it(tmp_path: Path, noted: bool) -> None:
    pid_file = tmp_path / "pid"
    env = stand_in(tmp_path, f"echo $$ > {shlex.quote(str(pid_file))}; exec sleep 60")
    text = render(Script("t", "m", ("n1",), ("program",), str(tmp_path)))
    if not noted:
        at_once = f"until [ -s {shlex.quote(str(pid_file))} ]; do :; done\nkill -TERM $$\nprogram=$!\n#"
        assert "\nprogram=$!\n#" in text
        text = text.replace("\nprogram=$!\n#", f"\n{at_once}")
    running = subprocess.Popen(["bash", "-c", text], env=env)
    for _ in range(400):
        if pid_file.exists() and pid_file.read_text().strip():
            break
        time.sleep(0.05)
    if noted:
        running.send_signal(signal.SIGTERM)
    assert running.wait(20) == 143
    assert json.loads((tmp_path / "exit.json").read_text())["exit_code"] == 143
    stat = Path("/proc", pid_file.read_text().strip(), "stat")
    for _ in range(400):
        if not _runs(stat):
            return
        time.sleep(0.05)
    raise AssertionError(f"the program goes on: {stat.read_text()}")


def _runs(stat: Path) -> bool:
    """Whether a process is there and not only waits for its parent to look, by its file in /proc."""
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


SLURM = replace(
    PLAIN,
    title="job-14-run-1: LAMMPS",
    argv=("lmp", "-in", "in.lj"),
    run_dir="/shared/runs/job-14-run-1",
    environment={"OMP_NUM_THREADS": "1"},
    launcher=usual_launcher("Open MPI 4.1"),
    modules=("gcc/12.2", "openmpi/4.1"),
    mpi="Open MPI 4.1",
    again=True,
    output_limit=64 * 2**20,
)


def test_a_script_for_a_queue_with_its_own_launcher_and_modules_is_the_golden_file() -> None:
    assert render(SLURM) == (GOLDEN / "queue.sh").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "broken",
    [{"launcher": ("mpirun", "{nodes}")}, {"launcher": ("",)}, {"modules": ("a; rm -rf ~",)}, {"modules": ("-x",)}],
)
def test_a_launcher_or_module_that_cannot_be_is_refused(broken: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(InputError):
        render(replace(PLAIN, **broken))  # type: ignore[arg-type]


def test_a_record_of_an_earlier_attempt_is_gone_when_the_script_runs_again(tmp_path: Path) -> None:
    (tmp_path / "exit.json").write_text('{"exit_code": 143, "ended_at": 1}')
    script = replace(PLAIN, argv=("test", "!", "-e", "exit.json"), run_dir=str(tmp_path), launcher=("env",), again=True)
    done = subprocess.run(["bash"], input=render(script), text=True, timeout=20, check=False)
    assert done.returncode == 0
    assert json.loads((tmp_path / "exit.json").read_text())["exit_code"] == 0


def test_what_has_ended_well_is_not_run_again(tmp_path: Path) -> None:
    script = replace(PLAIN, argv=("sh", "-c", "echo ran >> ran"), run_dir=str(tmp_path), launcher=("env",), again=True)
    for _ in range(2):
        subprocess.run(["bash"], input=render(script), text=True, timeout=20, check=True)
    assert (tmp_path / "ran").read_text() == "ran\n"
    assert json.loads((tmp_path / "exit.json").read_text())["exit_code"] == 0


def test_modules_are_loaded_before_the_program_and_one_that_fails_ends_the_run(tmp_path: Path) -> None:
    script = replace(PLAIN, argv=("true",), run_dir=str(tmp_path), launcher=("env",), modules=("gcc/12.2",))
    loads = 'module() { echo "$@" >> loaded; [ -z "${FAIL:-}" ]; }; export -f module\n'
    for fail, code in (("", 0), ("yes", 1)):
        text = loads + render(script)
        environment = {**os.environ, "FAIL": fail}
        done = subprocess.run(["bash"], input=text, text=True, timeout=20, env=environment, check=False)
        assert done.returncode == code
    assert (tmp_path / "loaded").read_text() == "load gcc/12.2\n" * 2
