"""Which mpirun a batch script takes for Open MPI, where several are on the PATH: the script's lines are run by bash."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from scheduling.jobs.core.launcher import OPEN_MPI_LAUNCHER
from scheduling.runs.core import open_mpi_lines
from scheduling.runs.core.script import Script, render

MPICH = "HYDRA build details:"
OPEN_MPI = "mpirun (Open MPI) 5.0.3"
#: What the script itself calls, on a PATH without the MPIs of this machine.
TOOLS = ("date", "env", "mv", "readlink", "rm", "sh", "timeout")
NONE = "No mpirun on PATH is Open MPI's.\n"


def program(place: Path, version: str) -> Path:
    """One that tells its version, and otherwise the name by which it was called."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; else echo "$0 $*"; fi\n')
    place.chmod(0o755)
    return place


def link(place: Path, target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def started(tmp_path: Path, *folders: str, launcher: tuple[str, ...] = OPEN_MPI_LAUNCHER) -> str:
    """What the script of a job wrote, with these folders first on its PATH."""
    run = tmp_path / "run"
    run.mkdir()
    for tool in TOOLS:
        link(tmp_path / "tools" / tool, Path(shutil.which(tool) or tool))
    path = ":".join(str(tmp_path / name) for name in (*folders, "tools"))
    text = render(Script("job 1", "random", ("n1", "n2"), ("/x",), str(run), mpi="Open MPI", launcher=launcher))
    done = subprocess.run(
        ["/bin/bash", "-c", text], env={"PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout.split(" -n 2 ")[0]


def test_another_mpis_mpirun_that_is_found_first_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "first/mpirun", MPICH)
    own = program(tmp_path / "second/mpirun", OPEN_MPI)
    program(tmp_path / "second/mpirun.openmpi", OPEN_MPI)
    assert started(tmp_path, "first", "second") == str(own)


def test_the_first_is_called_by_its_name_alone_where_it_is_open_mpis(tmp_path: Path) -> None:
    program(tmp_path / "first/mpirun", OPEN_MPI)
    text = open_mpi_lines.lines(OPEN_MPI_LAUNCHER, 1, False) + 'echo "$open_mpi"'
    done = subprocess.run(
        ["/bin/bash", "-c", text],
        env={"PATH": f"{tmp_path / 'first'}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "mpirun\n"


@pytest.mark.parametrize("name", ["orterun", "prterun", "mpirun.openmpi"])
def test_the_name_of_its_file_tells_without_asking_it(tmp_path: Path, name: str) -> None:
    program(tmp_path / "first/mpirun", MPICH)
    link(tmp_path / "second/mpirun", program(tmp_path / "opt" / name, "says nothing of it"))
    assert started(tmp_path, "first", "second") == str(tmp_path / "second/mpirun")


def test_mpirun_openmpi_is_taken_where_every_mpirun_is_another_mpis(tmp_path: Path) -> None:
    program(tmp_path / "first/mpirun", MPICH)
    own = program(tmp_path / "first/mpirun.openmpi", "says nothing of it")
    program(tmp_path / "second/mpirun", MPICH)
    assert started(tmp_path, "first", "second") == str(own)


def test_where_none_is_open_mpis_the_log_says_so_and_the_first_starts_it(tmp_path: Path) -> None:
    other = program(tmp_path / "first/mpirun", MPICH)
    assert started(tmp_path, "first") == NONE + str(other)


def test_a_launcher_that_is_named_in_full_stays(tmp_path: Path) -> None:
    own = program(tmp_path / "mine/mpirun", MPICH)
    program(tmp_path / "first/mpirun", OPEN_MPI)
    assert started(tmp_path, "first", launcher=(str(own), *OPEN_MPI_LAUNCHER[1:])) == str(own)
