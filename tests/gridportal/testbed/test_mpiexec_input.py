"""mpiexec of a program that ends at once: that it learns of its input's end only then must not make it fail.

What is late is a library that waits until mpiexec's child has ended, before each read of the standard input and before
rank 0 is told that there is none.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from gridportal.testbed.client import Grid
from scheduling.jobs.core.last_messages import NO_FILE, not_started
from scheduling.runs.core.script import Script, render

MPIEXEC = Path(sys.executable).with_name("mpiexec")
LATE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
enum { HEADER = 24, STDIN_COMMAND = 4 }; /* as MPICH 5.0 has them */
static void wait_for_child(void)
{
    siginfo_t child;
    waitid(P_ALL, 0, &child, WEXITED | WNOWAIT);
}
ssize_t read(int descriptor, void *buffer, size_t size)
{
    if (descriptor == 0 && size > 0)
        wait_for_child();
    ssize_t (*next)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    return next(descriptor, buffer, size);
}
ssize_t write(int descriptor, const void *buffer, size_t size)
{
    if (size == HEADER && *(const int *)buffer == STDIN_COMMAND)
        wait_for_child();
    ssize_t (*next)(int, const void *, size_t) =
        (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
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


def test_where_no_pipe_can_be_made_the_program_runs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not MPIEXEC.exists():
        pytest.skip("needs an mpiexec beside this Python")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mkfifo").symlink_to("/bin/false")
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    assert run(tmp_path, MPIEXEC, "cat") == (0, "")


def test_a_program_that_is_not_there_is_named_with_its_node(tmp_path: Path) -> None:
    if not MPIEXEC.exists():
        pytest.skip("needs an mpiexec beside this Python")
    code, output = run(tmp_path, MPIEXEC, "/no/such/program")
    reason = not_started(output.splitlines())
    assert code == 127
    assert reason.facts == {"program": "/no/such/program", "error": NO_FILE, "nodes": [platform.node()]}


@pytest.mark.grid
def test_the_same_holds_for_a_command_on_the_grid(grid: Grid, late: Path) -> None:
    assert grid.run(["n1"], [str(late), "-n", "1", "echo", "done"]) == [
        {"node": "n1", "exit_code": 0, "output": "done\n"}
    ]
