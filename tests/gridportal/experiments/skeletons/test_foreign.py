"""Programs that are not the project's own: each checks itself with either MPI; what of them is told."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.experiments.engine import summary
from gridportal.experiments.grid_programs import Executable, Mpi, Ran
from gridportal.experiments.plan import Plan
from gridportal.experiments.registry import named
from gridportal.experiments.skeletons import foreign
from gridportal.experiments.skeletons.foreign import Language, Source
from scheduling.runs.adapters.mpi_build import beside_python
from tests.gridportal.experiments.skeletons import recorded

#: Arguments with which each takes a moment.
SMALL = {
    "transpose": (240, 3),
    "halo": (24, 2, 10),
    "wavefront": (20, 4, 3, 4),
    "taskfarm": (12, 10, 50),
    "conjugate": (32, 8, 40, 2),
    "samplesort": (4000, 2),
    "particles": (4, 6, 40),
    "multigrid": (64, 6),
    "flame": (200, 20, 30, 50, 30),
    "stream": (20000, 500, 5),
}
SOURCES = [each for each in foreign.programs(full=False) if isinstance(each, Source)]
PLAN = Plan("skeletons", foreign=True)
#: On this machine, whose processors ranks share, and whose people may be root.
LAUNCHERS = {Mpi.MPICH: (beside_python("mpiexec"),), Mpi.OPEN_MPI: ("mpirun.openmpi", "--oversubscribe")}
HERE = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def built(source: Source, folder: Path) -> Executable:
    try:
        return source.made(folder)
    except ImpossibleError as error:
        pytest.skip(str(error))


def output_of(program: Executable, folder: Path, ranks: int) -> str:
    """What it prints here, on this machine."""
    argv = [*LAUNCHERS[program.mpi], "-n", str(ranks), *program.command]
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed here")
    done = subprocess.run(argv, cwd=folder, env=HERE, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.in_turn("mpi")
@pytest.mark.parametrize("mpi", Mpi)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_program_checks_itself_with_either_mpi(source, mpi, tmp_path):
    program = built(replace(source, mpi=mpi, arguments=SMALL[source.name]), tmp_path)

    ran = program.ran(tmp_path, output_of(program, tmp_path, ranks=3 if source.name in ("halo", "taskfarm") else 2))

    assert ran is not None
    assert 0 < ran.whole < 60


@pytest.mark.parametrize(
    ("output", "ran"),
    [
        ("seconds .25\nverified yes\n", Ran(0.25, 0.25)),
        ("seconds 1.5\nverified no\n", None),
        ("verified yes\n", None),
    ],
)
def test_what_a_program_printed_counts_when_its_check_holds(output, ran, tmp_path):
    assert Executable("halo", Mpi.MPICH, ("halo",)).ran(tmp_path, output) == ran


def test_lammps_tells_its_seconds_in_words_of_its_own(tmp_path):
    lammps = next(each for each in foreign.programs(full=False) if each.name == "lammps")
    program = Executable(lammps.name, lammps.mpi, lammps.command, lammps.seconds, lammps.verified, lammps.files)
    program.prepare(tmp_path)
    steps = next(line.split()[1] for line in (tmp_path / "in.melt").read_text().splitlines() if line.startswith("run"))

    assert program.ran(tmp_path, f"Loop time of 5.25 on 4 procs for {steps} steps with 32000 atoms\n") == Ran(
        5.25, 5.25
    )
    assert program.ran(tmp_path, "Loop time of 5.25 on 4 procs for 3 steps with 32000 atoms\n") is None


def test_a_missing_compiler_is_why_a_program_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign.shutil, "which", lambda program: None)

    for each in foreign.programs(full=False):
        with pytest.raises(ImpossibleError, match="is not installed here"):
            each.made(tmp_path)


def test_both_mpis_and_both_languages_are_there_and_at_least_eight_programs():
    programs = foreign.programs(full=False)

    assert len(programs) >= 8
    assert {(each.mpi, each.language) for each in programs} >= {
        (mpi, of) for mpi in Mpi for of in (Language.C, Language.FORTRAN)
    }
    assert [each.name for each in programs] == [each.name for each in foreign.programs(full=True)]


def test_report_says_by_program_mpi_language_errors_share_and_correlation():
    experiment = named("skeletons")
    result = summary(experiment, PLAN, Path("none"), recorded.foreign_trials(random.Random(1)))
    programs, left_out, _ = experiment.tables(result)

    assert programs.heads[1:3] == ["MPI", "language"]
    halo = next(row for row in programs.rows if row[0] == "halo")
    assert halo[1:4] == ["Open MPI", "Fortran", "12"]
    assert halo[-1] == "4.5"
    assert left_out.rows == [["taskfarm", "mpifort.openmpi is not installed here."]]
    assert "left out: taskfarm" in experiment.finding(result)
    assert "the least rank correlation is 0.9" in experiment.finding(result)
    assert "that of all conditions together 1.00 (wanted: 0.95)" in experiment.finding(result)
    (halo,) = [trace for trace in experiment.figure(result)["data"] if trace["name"] == "halo"]
    assert halo["hovertemplate"].startswith("halo (Open MPI, Fortran) on")
    marks = [tuple(trace["marker"].values()) for trace in experiment.figure(result)["data"] if "marker" in trace]
    assert len(set(marks)) == len(marks)


def test_one_program_alone_has_its_trials_and_no_other():
    experiment = named("skeletons")
    keys = [t.key for t in experiment.measurement(replace(PLAN, only="halo"), Path("none"), None).trials()]

    assert {key.split("/")[0] for key in keys} == {"halo"}
    with pytest.raises(InputError, match="one of transpose, halo"):
        experiment.measurement(replace(PLAN, only="cg"), Path("none"), None)
    assert experiment.measurement(Plan("skeletons", only="cg"), Path("none"), None).trials()
