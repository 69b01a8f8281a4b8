"""`gridportal srs build`, and the same without a portal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from typer.testing import CliRunner

from gridportal.base import processes as shell
from gridportal.base.errors import GridPortalError, InputError
from scheduling.checkpoints.commands.srs import app
from tests.scheduling.profiles.tracing.conftest import need

FILES = ["gridportal_srs.h", "libgridportal_srs.a", "gridportal_srs.f90"]


def test_it_leaves_header_and_library_and_says_how_programs_are_linked(tmp_path: Path) -> None:
    compiler = need("mpicc.openmpi", "gcc")
    done = CliRunner().invoke(app, ["build", "--mpicc", compiler, "-o", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert [Path(path).name for path in document["files"]][:3] == FILES
    assert f"-L{tmp_path} -lgridportal_srs" in document["flags"]


#: Makes an empty object of each source: to compile them takes seconds, and is tried above.
QUICK = "#!/bin/sh\nfor word; do case $word in *.c) word=${word##*/}; : > ${word%.c}.o ;; esac; done\n"


def test_it_needs_no_portal(tmp_path: Path) -> None:
    need("ar")
    compiler, made = tmp_path / "mpicc", tmp_path / "made"
    compiler.write_text(QUICK)
    compiler.chmod(0o755)
    words = [sys.executable, "-m", "gridportal.runtime.srs.library", "--mpicc", str(compiler), "-o", str(made)]
    assert "-lgridportal_srs" in shell.run(words, timeout=60).stdout
    assert {path.name for path in made.iterdir()} == set(FILES)


def test_what_is_no_compiler_of_an_mpi_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["build", "--mpicc", "no-such-mpicc", "-o", str(tmp_path)])
    assert isinstance(done.exception, InputError)
    assert "mpicc is 'no-such-mpicc'" in str(done.exception)
    done = CliRunner().invoke(app, ["build", "--mpicc", "false", "-o", str(tmp_path)])
    assert isinstance(done.exception, GridPortalError)
    assert "could not be built with" in str(done.exception)
    assert list(tmp_path.iterdir()) == []
