"""Submissions per second through the portal, beside a shell loop of sbatch, on a real Slurm on the emulated Grid.

Side one is what production does for N jobs, in the two kinds of process that production has. One (the web's part)
calls submission.submit_job for each job, as the form and the API do: checks, rows, audit. The other (a worker's part)
calls the Celery task function place_jobs whenever jobs have come: it measures (when the last measurement is
older than 30 s), selects, stores, writes the run directory and runs sbatch. Only the broker between them is a pipe.
Timed from before the first submit_job until every run has its Slurm number in the database (SQLite; PostgreSQL where
it is installed). Side two is `sbatch` once for each of the same N jobs in a shell loop, with no portal at all: the
same scripts, options and node lists. Both sides run beside slurmctld, inside the Grid's control network, as on a
host that has Slurm's client; neither pays for getting there.

The Grid is full while this lasts, so that all N jobs queue and neither side competes with programs. Sides take turns;
printed are the ratio of each side's fastest round, which other load on the machine disturbs least, and that of the
medians. "alike": all jobs ask the same; "each its own": no two do, so no selection is shared.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.portal import Portal
from tests.servers import postgres_server

pytestmark = [pytest.mark.bench, pytest.mark.grid]
JOBS = 300
ROUNDS = 5

_PORTAL = """
    import time
    ada, sleep = User.objects.get(username="ada"), Application.objects.get(slug="sleep")
    django.db.connection.close()
    kinds = [(2, "ring"), (4, "all-to-all"), (3, "ring"), (1, "ring")]
    def asked(number):
        nodes, pattern = kinds[number % 4] if {mixed} else kinds[0]
        return job_spec.JobSpec(sleep, {{"seconds": 0}}, nodes, pattern=pattern, seed=number if {mixed} else 0)
    from_web, to_worker = os.pipe()
    from_worker, to_web = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(to_worker)
        os.write(to_web, b".")
        while os.read(from_web, 65536):  # one message for all that came meanwhile
            tasks.place_jobs("hpc")
        os.write(to_web, str(time.perf_counter()).encode())
        os._exit(0)
    os.close(from_web), os.close(to_web)
    os.read(from_worker, 1)
    jobs, began = [], time.perf_counter()
    with os.fdopen(to_worker, "w", buffering=1) as queue:
        for number in range({jobs}):
            jobs.append(submission.submit_job(ada, asked(number)).pk)
            print(jobs[-1], file=queue)
    accepted = time.perf_counter()
    ended = float(os.fdopen(from_worker).read())
    assert os.waitpid(worker, 0)[1] == 0
    runs = list(Run.objects.filter(job__in=jobs).order_by("pk").select_related("placement"))
    assert len(runs) == {jobs} and all(run.backend_id.isdigit() for run in runs), [message(run.reason) for run in runs]
    assert len({{run.backend_id for run in runs}}) == {jobs}
    print(json.dumps({{"accepted": accepted - began, "ended": ended - began, "runs": [run.pk for run in runs]}}))
"""

#: The same jobs as files for a shell loop: one script each, and the options of sbatch.
_LOOP = """
    import pathlib, shlex
    from gridportal.base.batch_system import RunSpec
    from gridportal.slurm import submit
    from scheduling.runs.services.backends import slurm_options
    folder = pathlib.Path({folder!r})
    lines = ["set -e"]
    for run in Run.objects.filter(pk__in={runs}).order_by("pk").select_related("placement", "job"):
        where = folder / run.key
        where.mkdir(parents=True, exist_ok=True)
        spec = RunSpec(run.key, run.script, tuple(run.placement.nodes), str(where), run.job.time_limit)
        (where / "job.sh").write_text(submit.script(spec))
        argv = submit.argv(spec, slurm_options(run.job.options, "hpc"))
        lines.append(shlex.join(argv) + " < " + shlex.quote(str(where / "job.sh")) + " >> " + str(folder / "ids"))
    (folder / "loop.sh").write_text("\\n".join(lines) + "\\n")
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """crossbar10 with a Slurm that a job of ten nodes fills."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("bench-slurm")
    launch.up("crossbar10", root, with_parent=True, slurm="slurm")
    found = Grid(root)
    slurm(found, "sbatch", "--nodes=10", "--exclusive", f"--output={root}/filler", "--wrap", "sleep 3600")
    yield found
    found.down()


@pytest.fixture(params=["sqlite", "postgresql"])
def portal(request: pytest.FixtureRequest, grid: Grid, tmp_path: Path) -> Iterator[Portal]:
    """A portal whose cluster hpc is that Slurm, with a program that anybody may run."""
    if request.param == "sqlite":
        yield made(tmp_path, grid)
        return
    with postgres_server() as url:
        yield made(tmp_path, grid, url)


def made(home: Path, grid: Grid, database: str = "") -> Portal:
    info = grid.slurm_info()
    assert info is not None
    state = Path(info["conf"]).parent.parent
    hpc = {
        "name": "hpc",
        "backend": "slurm",
        "slurm_conf": "/etc/slurm/slurm.conf",
        "probe": "grid",
        "timeout": 20,
        "state_dir": str(state),
    }
    portal = Portal(home / "home", state, database, [hpc], inside=info["prefix"])
    portal.run("""
        registering.register_application("tests", {"slug": "sleep", "name": "Sleep", "ranks": {"min": 1, "max": 8},
            "command": ["sleep", "{seconds}"], "pattern": "ring",
            "parameters": [{"name": "seconds", "type": "int", "min": 0, "max": 600, "default": 0}]})
        from monitoring.telemetry.services import sweeps
        sweeps.measure("hpc")
    """)
    return portal


def slurm(grid: Grid, *argv: str) -> str:
    return shell.run([*grid.slurm_info()["prefix"], *argv], timeout=120).stdout  # type: ignore[index]


def queued(grid: Grid) -> list[str]:
    return slurm(grid, "squeue", "--noheader", "--states=PENDING", "--format=%i").split()


def emptied(grid: Grid) -> None:
    slurm(grid, "scancel", "--state=PENDING", "--user=root")
    assert queued(grid) == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mixed", [False, True], ids=["alike", "each its own"])
def test_the_portal_submits_beside_a_shell_loop_of_sbatch(
    portal: Portal, grid: Grid, tmp_path: Path, mixed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    through, bare, accepting = [], [], []
    for number in range(ROUNDS):
        answer = json_of(portal, mixed)
        assert len(queued(grid)) == JOBS
        emptied(grid)
        through.append(JOBS / answer["ended"])
        accepting.append(answer["accepted"] / JOBS * 1e3)
        bare.append(JOBS / looped(portal, grid, tmp_path / f"loop-{number}", answer["runs"]))
        assert len(queued(grid)) == JOBS
        emptied(grid)
        portal.run("Run.objects.filter(state='submitted').update(state='failed')")
        portal.run("Job.objects.filter(state='starting').update(state='failed')")
    ours, theirs, kind = max(through), max(bare), "each its own" if mixed else "alike"
    middle = statistics.median(through) / statistics.median(bare)
    tell(
        capsys,
        f"{JOBS} jobs, {kind}: {ours:.0f} a second through the portal (accepting one took "
        f"{min(accepting):.1f} ms), {theirs:.0f} in a shell loop of sbatch; ratio {ours / theirs:.2f}, "
        f"of the medians of {ROUNDS} rounds {middle:.2f}",
    )


def json_of(portal: Portal, mixed: bool) -> dict[str, Any]:
    answer: dict[str, Any] = portal.run(_PORTAL.format(mixed=mixed, jobs=JOBS))
    return answer


def looped(portal: Portal, grid: Grid, folder: Path, runs: list[int]) -> float:
    """Seconds of the shell loop."""
    portal.run(_LOOP.format(folder=str(folder), runs=runs))
    clock = (
        'import json, subprocess, sys, time; t = time.perf_counter(); subprocess.run(["bash", sys.argv[1]], '
        "check=True); print(json.dumps(time.perf_counter() - t))"
    )
    seconds: float = json.loads(slurm(grid, sys.executable, "-c", clock, str(folder / "loop.sh")))
    return seconds


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n  {text}\n")
