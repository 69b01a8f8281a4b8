"""How a program of the catalogue leaves: with its exit code, all that it has printed, and no thread cut off."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.gridportal.workloads.mpi import CHECKOUT, MPIEXEC, ONE_THREAD

PROGRAM = """
import atexit, sys, threading, time
from gridportal.workloads.commandline import Parser, launch

def late():
    time.sleep(0.3)
    print("the thread has ended")

def program(comm, arguments):
    atexit.register(print, "Python was taken apart")
    threading.Thread(target=late).start()
    print("all that was printed")
    return arguments.verified

parser = Parser()
parser.add_argument("--verified", action="store_true")
launch(parser, program)
"""


@pytest.mark.parametrize(("words", "code"), [(["--verified"], 0), ([], 1)])
def test_a_program_ends_with_its_code_and_all_that_it_printed(words: list[str], code: int) -> None:
    done = subprocess.run(
        [str(MPIEXEC), "-n", "2", sys.executable, "-c", PROGRAM, *words],
        cwd=CHECKOUT,
        env={**os.environ, **ONE_THREAD},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert sorted(done.stdout.splitlines()) == ["all that was printed"] * 2 + ["the thread has ended"] * 2
