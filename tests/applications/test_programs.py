"""Programs that no one here wrote for the portal: C, Fortran, LAMMPS, HPCC; MPICH and Open MPI; both backends.

What is compiled here, and with what, stands in cases.py."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gridportal.testbed.client import Grid
from tests.applications.cases import BACKENDS, BESIDE, CASES, Case
from tests.applications.conftest import EXAMPLES, INSTALLED, RATE, example, need, slurm_is_missing
from tests.scheduling.portal import Portal

pytestmark = pytest.mark.grid
Run = Callable[..., tuple[dict[str, Any], list[str]]]

HERE = Path(__file__).parent
SAY_WHERE = 'echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)"; exec "$@"'


def assert_placed(story: dict[str, Any], log: list[str]) -> None:
    """The job succeeded, and each rank said that it was where the portal had placed it."""
    assert story["state"] == "succeeded", (story["reason"], log)
    nodes = story["nodes"][0]
    assert nodes != sorted(nodes), "the test shows nothing when the order is that of the names"
    said = sorted(line for line in log if line.startswith("rank "))
    assert said == [f"rank {rank} of {len(nodes)} on {node}" for rank, node in enumerate(nodes)]


def cases() -> Iterator[Any]:
    """All on all their backends; those of `make test` are each on one of them, taken in turn."""
    for place, case in enumerate(CASES):
        for name in case.backends:
            is_fast = name == case.backends[place % len(case.backends)] and not case.repeats
            marks = [] if is_fast else [pytest.mark.slow]
            yield pytest.param(case, name, id=f"{name}: {case.what}, {case.with_mpi}", marks=marks)


def clusters(first: str) -> pytest.MarkDecorator:
    """Both backends; in `make test` this one."""
    both = [pytest.param(name, marks=[] if name == first else [pytest.mark.slow]) for name in BACKENDS]
    return pytest.mark.parametrize("cluster", both, indirect=True)


@pytest.mark.parametrize(("case", "cluster"), list(cases()), indirect=["cluster"])
def test_a_program_runs_where_it_was_placed(run: Run, cluster: str, case: Case, programs: Path) -> None:
    fields = {
        "slug": "ring",
        "name": f"{case.what}, {case.with_mpi}",
        "command": [*command(case, programs), "{run_dir}"],
        "launcher": [word.replace(INSTALLED, str(EXAMPLES)) for word in case.launcher],
        "mpi": case.mpi,
        "pattern": "ring",
        "ranks": {"min": 1, "max": 8},
    }
    story, log = run(fields, cluster, 3)
    assert_placed(story, log)
    rates = [float(line.split()[1]) for line in log if line.startswith("Mbit/s")]
    assert all(rate < 1.3 * RATE for rate in rates), "messages went around the shaped links"
    assert len(rates) == case.source.count(".c")
    assert [line.removeprefix("kind ") for line in log if line.startswith("kind ")] == list(case.kinds)


def command(case: Case, programs: Path) -> list[str]:
    """The words that start the case's program, once it is compiled."""
    if not case.compiler:
        return ["{python}", str(HERE / case.source)]
    need(case.compiler, "gcc")
    program = programs / Path(case.source).with_suffix("").name
    words = [case.compiler, "-o", str(program), str(HERE / case.source), "-lpthread"]
    subprocess.run(words, check=True, timeout=60)
    need(*case.container[:1])
    return [*case.container, str(program)]


@clusters("slurm")
def test_lammps_melts_a_crystal_and_keeps_its_energy(run: Run, cluster: str) -> None:
    need("lmp", "mpirun.openmpi")
    fields = example("lammps.json")
    fields["command"] = ["sh", "-c", SAY_WHERE, "sh", *fields["command"]]
    story, log = run(fields, cluster, 4, cells=5, steps=60)
    assert_placed(story, log)
    assert story["runs"][0]["verified"] is True
    assert story["phases"] == ["setup", "nve"]
    assert any("Loop time" in line and "4 procs for 60 steps with 500 atoms" in line for line in log)


@clusters("grid")
def test_lammps_is_judged_by_what_it_prints(run: Run, cluster: str) -> None:
    need("lmp", "mpirun.openmpi")
    fields = example("lammps-plain.json")
    fields["command"] = ["sh", "-c", SAY_WHERE, "sh", *fields["command"]]
    story, log = run(fields, cluster, 4, cells=5, steps=60)
    assert_placed(story, log)
    assert story["runs"][0]["verified"] is True
    assert 0 < story["runs"][0]["seconds"] < 60


def test_hpcc_passes_its_own_checks_on_each_backend_at_once(run: Run) -> None:
    need("hpcc", "mpirun.openmpi")
    fields = example("hpcc.json")
    fields["command"] = ["sh", "-c", SAY_WHERE, "sh", *fields["command"]]
    clusters = ["grid"] if slurm_is_missing() else ["grid", "slurm"]
    with ThreadPoolExecutor() as pool:
        names = {name: {"slug": f"hpcc-{name}", "name": f"HPCC {name}"} for name in clusters}
        ended = pool.map(lambda name: run(fields | names[name], name, 2, size=60), clusters)
    for story, log in ended:
        assert_placed(story, log)
        run_dir = Path(story["runs"][0]["run_dir"])
        assert story["runs"][0]["verified"] is True
        assert "CommWorldProcs=2" in (run_dir / "hpccoutf.txt").read_text().splitlines()


@pytest.mark.in_turn("cluster")
def test_the_script_to_download_gives_the_same_job_by_hand(run: Run, portal: Portal, grid: Grid, cluster: str) -> None:
    command = ["sh", "-c", "echo rank $PMI_RANK of $PMI_SIZE on $(hostname)", "sh"]
    fields = {"slug": "where", "name": "where", "command": command, "mpi": "MPICH 5", "ranks": {"min": 1, "max": 8}}
    story, log = run(fields, cluster, 3)
    assert_placed(story, log)
    run_dir = Path(story["runs"][0]["run_dir"])
    text = portal.run(f"""
        from scheduling.runs.services.by_hand import script_by_hand
        print(json.dumps(script_by_hand(Run.objects.get(key={story["runs"][0]["key"]!r}))))
    """)
    file = run_dir.parent / f"by-hand-{cluster}.sh"
    file.write_text(text, encoding="utf-8")
    (run_dir / "output.log").unlink()
    if cluster == "slurm":
        enter = list((grid.slurm_info() or {})["prefix"])
        subprocess.run([*enter, "sbatch", "--wait", str(file)], check=True, timeout=60)
        said = (run_dir / "output.log").read_text(encoding="utf-8").splitlines()
    else:
        command = next(line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("# By hand"))
        words = [str(file) if word.endswith("FILE") else word for word in shlex.split(command)]
        done = subprocess.run([str(BESIDE / words[0]), *words[1:]], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        said = [line.split(": ", 1)[1] for line in done.stdout.splitlines()]
    assert sorted(line for line in said if line.startswith("rank ")) == sorted(log)
    assert json.loads((run_dir / "exit.json").read_text())["exit_code"] == 0


def test_a_program_of_another_mpi_than_its_launcher_says_so(run: Run, portal: Portal, programs: Path) -> None:
    need("mpicc.mpich", "mpirun.openmpi")
    program = programs / "ring-of-mpich"
    subprocess.run(["mpicc.mpich", "-o", str(program), str(HERE / "ring.c")], check=True, timeout=60)
    right = ["mpiexec.mpich", "-n", "{ranks}", "-hosts", "{hosts}"]
    wrong = ["mpirun.openmpi", "-n", "{ranks}", "--map-by", "seq", "--hostfile", "{hostfile}"]
    said = []
    for launcher in (right, wrong):
        fields = {"slug": "alone", "name": "alone", "command": [str(program)], "launcher": launcher}
        story, log = run({**fields, "ranks": {"min": 1, "max": 8}}, "grid", 2)
        assert story["state"] == "succeeded", (story["reason"], log)
        found = f"print(json.dumps(Run.objects.get(key={story['runs'][0]['key']!r}).start_reason.code.value))"
        said.append(portal.run(found))
    assert said == ["none", "start_singletons"]
