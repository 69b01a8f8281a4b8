"""The library of SRS for each MPI that is here, and the program of the tests in C."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from gridportal.runtime.srs.library import building
from tests.scheduling.profiles.tracing.conftest import need

HERE = Path(__file__).parent
Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """compiled(mpicc, source, *flags) -> the program, built as the guide has it; skips where there is no such MPI."""
    folder = tmp_path_factory.mktemp("programs")

    def go(mpicc: str, source: str, *more: str) -> Path:
        compiler = mpicc.replace("mpicc", "mpifort") if source.endswith(".F90") else mpicc
        library = folder / Path(mpicc).name
        if not library.exists():
            building.build(need(mpicc, "gcc"), library)
        program = library / "".join((Path(source).stem, *more))
        if not program.exists():
            # As numpy computes: a product is rounded before it is added.
            words = [need(compiler), "-O1", "-ffp-contract=off", *more, "-o", str(program), str(HERE / source)]
            shell.run([*words, *shlex.split(building.link_flags(library))], timeout=240)
        return program

    return go
