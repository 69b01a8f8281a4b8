"""Programs that an experiment runs on its Grid: the project's own, and those that others might have written."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from gridportal.base import bounded_json, run_directory, run_files
from scheduling.runs.adapters.mpi_build import mpicc_of


class Mpi(Enum):
    """An MPI by which programs are started: its name, and the launcher's words (see scheduling.jobs.core.launcher)."""

    MPICH = ("MPICH", ("mpiexec", "-n", "{ranks}"))
    OPEN_MPI = ("Open MPI", ("mpirun.openmpi", "-n", "{ranks}", "--map-by", "seq", "--hostfile", "{hostfile}"))

    def __init__(self, label: str, launcher_template: tuple[str, ...]) -> None:
        self.label, self.launcher_template = label, launcher_template

    @property
    def mpicc(self) -> str:
        """The compiler: of the portal's own MPICH, or of the machine's Open MPI."""
        return mpicc_of(self.label)

    def launcher(self, ranks: int) -> list[str]:
        """The words before a program, in a folder with the file of `rank_order.write_hosts`."""
        return [word.format(ranks=ranks, hostfile=run_files.HOSTS) for word in self.launcher_template]


@dataclass(frozen=True, slots=True)
class Ran:
    """Seconds of a run: those that the program tells of, and those from when its ranks have met to its result."""

    seconds: float
    whole: float


class GridProgram(Protocol):
    """What can be run and traced on a Grid, and be held against a skeleton."""

    @property
    def name(self) -> str:
        """As tables have it."""

    @property
    def mpi(self) -> Mpi:
        """What it is linked with."""

    @property
    def command(self) -> Sequence[str]:
        """The program and its arguments."""

    def prepare(self, run_dir: Path) -> None:
        """Put into the empty folder of a run what the program reads there."""

    def ran(self, run_dir: Path, output: str) -> Ran | None:
        """What a run that ended well left; None when the program's own check failed."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the catalogue with its arguments, such as ("cg", ("--class", "W"))."""

    name: str
    arguments: tuple[str, ...] = ()
    module: str = ""

    @property
    def mpi(self) -> Mpi:
        """The portal's own."""
        return Mpi.MPICH

    @property
    def command(self) -> list[str]:
        """By this Python."""
        return [sys.executable, "-m", f"gridportal.workloads.{self.module or self.name}", *self.arguments]

    def prepare(self, run_dir: Path) -> None:
        """It reads nothing."""

    def ran(self, run_dir: Path, output: str) -> Ran | None:
        """From its lines of progress. Raises RunFileError, and UnreadableError for no JSON."""
        start, result = (_last_event(run_dir, event) for event in ("start", "result"))
        if start is None or result is None or result.get("verified") is False:
            return None
        return Ran(float(result["seconds"]), result["t"] - start["t"])


@dataclass(frozen=True, slots=True)
class Executable:
    """A program that knows nothing of the portal: it prints what it took, and whether its check holds.

    seconds: what is found in its output before a number of seconds; of several numbers their sum counts.
    verified: what its output has when its check holds. files: what it reads where it runs, by name.
    """

    name: str
    mpi: Mpi
    command: tuple[str, ...]
    seconds: re.Pattern[str] = re.compile(r"^seconds +([\d.]+)$", re.MULTILINE)
    verified: re.Pattern[str] = re.compile(r"^verified +yes$", re.MULTILINE)
    files: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, run_dir: Path) -> None:
        """Its input files."""
        for name, text in self.files.items():
            (run_dir / name).write_text(text, encoding="utf-8")

    def ran(self, run_dir: Path, output: str) -> Ran | None:
        """From what it printed."""
        numbers = [float(number) for number in self.seconds.findall(output)]
        if not numbers or not self.verified.search(output):
            return None
        return Ran(sum(numbers), sum(numbers))


def _last_event(run_dir: Path, event: str) -> dict[str, Any] | None:
    part = run_directory.read_part(run_dir, run_files.PROGRESS, 0, bounded_json.MAX_FILE)
    entries = [bounded_json.loads(line) for line in part.data.splitlines()]
    return next((entry for entry in reversed(entries) if entry["event"] == event), None)
