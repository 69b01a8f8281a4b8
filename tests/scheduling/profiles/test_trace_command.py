"""`gridportal trace`: builds, runs, merges, shows, and says in one sentence what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gridportal import cli
from tests.scheduling.profiles.tracing.conftest import MPICH, need

GRIDPORTAL = str(Path(sys.executable).parent / "gridportal")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that keeps the library between the tests."""
    return tmp_path_factory.mktemp("home")


def call(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GRIDPORTAL_HOME": str(home)}
    return subprocess.run([GRIDPORTAL, "trace", *words], capture_output=True, text=True, timeout=120, env=environment)


@pytest.fixture
def refused(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """refused("run", "-n", "2"): what the command says, which ends with 2, in this process: it begins faster."""

    def ask(*words: str) -> str:
        monkeypatch.setenv("GRIDPORTAL_HOME", str(home))
        monkeypatch.setattr(sys, "argv", ["gridportal", "trace", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr().err
        assert ended.value.code == 2, said
        assert said.count("\n") == 1
        return said

    return ask


def document(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_run_traces_show_reads_and_the_library_is_built_once(home: Path, tmp_path: Path) -> None:
    need(MPICH, "gcc")
    ring = tmp_path / "ring.py"
    ring.write_text(
        "from mpi4py import MPI\nimport numpy as np\nc = MPI.COMM_WORLD\nx, y = np.zeros(50000), np.zeros(50000)\n"
        "for _ in range(20):\n    c.Sendrecv(x, (c.rank + 1) % c.size, 0, y, (c.rank - 1) % c.size, 0)\n"
    )
    file = tmp_path / "ring.json.gz"
    run = document(call(home, "run", "-n", "3", "--json", "-o", str(file), "--", sys.executable, str(ring)))
    assert run["pattern"]["name"] == "ring"
    assert run["bytes"][0] == [0, 20 * 50000 * 8, 0]
    assert document(call(home, "show", str(file), "--json")) == run
    assert "3 pairs matter of 3 that talk" in call(home, "show", str(file)).stdout
    first = document(call(home, "build", "--json"))
    assert Path(first["library"]).stat().st_mtime < file.stat().st_mtime


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "-n", "2"], "command is empty"),
        (["run", "--", "true"], "-n"),
        (["run", "-n", "3", "--nodes", "a,b", "--", "true"], "2, one for each of the nodes"),
        (["build", "--mpicc", "no-such-mpicc"], "no-such-mpicc"),
        (["show", "no-such-file"], "no-such-file"),
        (["merge", ".", "-o", "x.json"], "rank-0.json"),
    ],
)
def test_bad_input_is_said_in_one_sentence(refused: Callable[..., str], words: list[str], said: str) -> None:
    assert said in refused(*words)


def test_the_command_itself_says_it_too(home: Path) -> None:
    done = call(home, "run", "-n", "2")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "command is empty" in done.stderr


def test_a_program_that_fails_has_no_trace(home: Path) -> None:
    need(MPICH, "gcc")
    done = call(home, "run", "-n", "2", "--", "false")
    assert done.returncode == 1
    assert "exit code 1" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "-n", "2", "--timeout", "nan", "--", "true"], "timeout is nan; accepted is a number of seconds"),
        (["run", "-n", "2", "--timeout", "-1", "--", "true"], "timeout is -1.0; accepted is a number of seconds"),
        (["run", "-n", "99999999", "--", "true"], "ranks is 99999999; accepted is a whole number from 1 to 1024"),
        (["run", "-n", "2", "-o", "/", "--", "true"], "output is '/'; accepted is a file in a folder"),
        (["run", "-n", "2", "-o", "/nowhere/x.json", "--", "true"], "output is '/nowhere/x.json'; accepted is a file"),
        (["monitor", "--nodes", "a", "-o", "/nowhere/x", "--", "true"], "output is '/nowhere/x'; accepted is a file"),
        (["build", "-o", "/"], "output is '/'; accepted is a file in a folder"),
        (["build", "--mpicc", "true"], "accepted is the compiler of an MPI"),
        (["build", "--mpicc", "false"], "accepted is the compiler of an MPI"),
    ],
)
def test_what_cannot_be_is_said_before_the_program_runs(
    refused: Callable[..., str], words: list[str], said: str
) -> None:
    assert said in refused(*words)


def test_a_program_that_forks_or_is_called_strangely_leaves_one_whole_trace(home: Path, tmp_path: Path) -> None:
    need(MPICH, "gcc")
    program = tmp_path / "forks.py"
    program.write_text(
        "import ctypes, os, time; from mpi4py import MPI; MPI.COMM_WORLD.barrier()\n"
        "if not os.fork(): time.sleep(1); ctypes.CDLL(None).exit(0)\n"
    )
    strange = os.fsdecode(b'\xff\xc3\xa9"\\')
    done = call(home, "run", "-n", "2", "-o", str(tmp_path / "t.json"), "--", sys.executable, str(program), strange)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "t.json").read_text())["program"].endswith('forks.py ?é"\\')
    assert [each["complete"] for each in json.loads((tmp_path / "t.json").read_text())["processes"]] == [True] * 2
