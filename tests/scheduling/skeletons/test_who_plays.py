"""Who plays the skeletons of an application, with what it is built, and how it is started."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from gridportal.base.reasons import Code
from scheduling.messages import message
from scheduling.runs.adapters import mpi_build, player
from scheduling.runs.services import skeleton_player
from scheduling.runs.services.scripts import skeleton_script
from tests.scheduling.skeletons.playing import MPICH

OWN = mpi_build.beside_python("mpicc")


@pytest.mark.parametrize(
    ("mpi", "launcher", "compiler"),
    [
        ("", (), OWN),
        ("MPICH 4.2", ("mpiexec", "-n", "{ranks}"), OWN),
        ("Open MPI 4.1", (), "mpicc.openmpi"),
        ("", ("mpirun.openmpi", "-n", "{ranks}"), "mpicc.openmpi"),
        ("", ("hpcc-run", "{ranks}", "mpirun.openmpi"), "mpicc.openmpi"),
        ("MPICH 4.0", ("mpiexec.mpich", "-n", "{ranks}"), "mpicc.mpich"),
        ("Open MPI 5.0", ("/opt/mpi/bin/mpirun", "-n", "{ranks}"), "/opt/mpi/bin/mpicc"),
    ],
)
def test_the_compiler_is_that_of_the_launcher(
    monkeypatch: pytest.MonkeyPatch, mpi: str, launcher: tuple[str, ...], compiler: str
) -> None:
    monkeypatch.setattr(mpi_build.shutil, "which", lambda program: program)
    assert mpi_build.mpicc_of(mpi, launcher) == compiler


def test_a_player_that_is_missing_is_built_again_and_by_several_at_once(tmp_path: Path) -> None:
    for program in (MPICH, "gcc"):
        if not shutil.which(program):
            pytest.skip(f"not installed here: {program}")
    with ThreadPoolExecutor(2) as pool:
        made = {job.result() for job in [pool.submit(player.built, MPICH, tmp_path) for _ in range(2)]}
    (program,) = made
    assert [file.name for file in tmp_path.iterdir()] == [program.name]
    program.unlink()
    assert player.built(MPICH, tmp_path) == program
    assert "MPICH" in player.mpi(program)
    assert shell.run([str(program)], timeout=20, check=False).returncode == 2


@pytest.mark.django_db
def test_python_plays_programs_of_mpi4py_and_where_there_is_no_compiler(application: Any) -> None:
    found = skeleton_player.player_of(application, "")
    assert (found.program, found.reason.code) == (None, Code.PLAYED_IN_PYTHON)
    application.command, application.launcher = ["/opt/solver"], ["/no/such/place/mpirun.none", "-n", "{ranks}"]
    application.mpi = "Open MPI 9"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mpi_build.shutil, "which", lambda program: None)
        found = skeleton_player.player_of(application, "")
    assert (found.program, found.reason.code) == (None, Code.PLAYED_BY_PORTAL)
    assert "mpicc" in message(found.reason)
    assert "may be far off" in message(found.reason)


@pytest.mark.django_db
def test_it_is_started_as_the_application_is(make_job: Callable[..., Any], people: dict[str, Any]) -> None:
    job = make_job(people["user"])
    job.application.command = ["/opt/solver", "--class", "{klass}"]
    job.application.launcher = ["wrapped", "{ranks}", "mpirun.openmpi"]
    job.application.environment, job.application.modules = {"MODE": "fast"}, ["openmpi/4.1"]
    text = skeleton_script(job, ["n1", "n2"], "/runs/x", "title", Path("/runs/.trace/player-1"))
    assert "MODE=fast" in text
    assert "openmpi/4.1" in text
    start = text[text.index("wrapped 2 mpirun.openmpi") :].split("&\n")[0]
    files = "/runs/.trace/player-1 /runs/x/skeleton.plan /runs/x/skeleton.times --class S"
    assert files in " ".join(start.replace("\\\n", " ").split())
