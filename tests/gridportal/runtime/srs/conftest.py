"""The library of SRS for each MPI that is here, and the program of the tests in C."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from gridportal.runtime.srs.library import building
from tests import migrated
from tests.scheduling.profiles.tracing.conftest import need

HERE = Path(__file__).parent
Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    """compiled(mpicc, source, *flags) -> the program, built as the guide has it, once for all processes of a run; skips
    where there is no such MPI."""

    def go(mpicc: str, source: str, *more: str) -> Path:
        name = f"srs-{Path(mpicc).name.replace('.', '-')}"
        need(mpicc, "gcc")
        library = migrated.made_once(name, lambda folder: building.build(mpicc, folder))
        compiler = need(mpicc.replace("mpicc", "mpifort") if source.endswith(".F90") else mpicc)

        def make(folder: Path) -> None:
            folder.mkdir()
            # As numpy computes: a product is rounded before it is added.
            words = [compiler, "-O1", "-ffp-contract=off", *more, "-o", str(folder / "program"), str(HERE / source)]
            shell.run([*words, *shlex.split(building.link_flags(library))], timeout=240)

        return migrated.made_once("".join((name, "-", Path(source).stem, *more)), make) / "program"

    return go
