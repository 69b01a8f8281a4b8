"""mpiexec of a program that ends at once: that it learns of its input's end only then must not make it fail.

What reads the standard input late is a library that waits, before each such read, until mpiexec's child has ended.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from gridportal.testbed.client import Grid
from scheduling.runs.core.script import Script, render

MPIEXEC = Path(sys.executable).with_name("mpiexec")
LATE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
ssize_t read(int descriptor, void *buffer, size_t size)
{
    siginfo_t child;
    if (descriptor == 0 && size > 0)
        waitid(P_ALL, 0, &child, WEXITED | WNOWAIT);
    ssize_t (*next)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    return next(descriptor, buffer, size);
}
"""


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """An mpiexec that reads its standard input when the program has ended."""
    compiler = shutil.which("cc")
    if compiler is None or not MPIEXEC.exists():
        pytest.skip("needs a C compiler, and an mpiexec beside this Python")
    source, library, program = (tmp_path / name for name in ("late.c", "late.so", "mpiexec"))
    source.write_text(LATE)
    shell.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], timeout=60)
    program.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {MPIEXEC} "$@"\n')
    program.chmod(0o755)
    return program


def run(folder: Path, launcher: Path, *argv: str) -> tuple[int, str]:
    """Exit code by the record, and the output, of a script of the portal's on this machine."""
    text = render(Script("t", "m", ("localhost",), argv, str(folder), launcher=(str(launcher), "-n", "{ranks}")))
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=120, check=False)
    return json.loads((folder / "exit.json").read_text())["exit_code"], done.stdout + done.stderr


def test_a_program_that_has_ended_before_its_input_has_did_not_fail(tmp_path: Path, late: Path) -> None:
    assert run(tmp_path, late, "echo", "done") == (0, "done\n")


def test_a_program_still_finds_its_input_at_its_end(tmp_path: Path) -> None:
    if not MPIEXEC.exists():
        pytest.skip("needs an mpiexec beside this Python")
    assert run(tmp_path, MPIEXEC, sys.executable, "-c", "import sys; print(repr(sys.stdin.read()))") == (0, "''\n")


@pytest.mark.grid
def test_the_same_holds_for_a_command_on_the_grid(grid: Grid, late: Path) -> None:
    assert grid.run(["n1"], [str(late), "-n", "1", "echo", "done"]) == [
        {"node": "n1", "exit_code": 0, "output": "done\n"}
    ]
