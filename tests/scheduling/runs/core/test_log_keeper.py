"""The keeper of a log in a batch script: what the program writes while the log is cut stays in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gridportal.base import log_limit
from scheduling.runs.core import log_keeper
from tests.gridportal.base.test_log_limit import can_take_out

LIMIT = 64 * 2**10
#: The programs that the keeper calls; each is stood in for by one that lets the program write a line before and after.
STEPS = ("stat", "tail", "truncate", "fallocate", "dd", "cat")
#: Each notes that it was called by a line in the log and one in a file beside it.
NOTE = '#!/bin/bash\nnote() { echo >> lines; echo "line $(wc -l < lines)" >> output.log; }\n'


def functions() -> str:
    """Those of the script, without the loop that calls them."""
    return log_keeper.lines(LIMIT).partition("keep_log()")[0]


def stand_in(folder: Path, name: str, text: str) -> None:
    """A program of that name in `folder`."""
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def cut(folder: Path, programs: Path) -> None:
    """Cut the log in `folder` once, with these programs before those of the system."""
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", functions() + "cut_log\n"], cwd=folder, env=environment, check=True, timeout=60)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "output.log").write_text("the beginning\n" + "x" * 10 * LIMIT + "\n")
    return folder


def test_nothing_is_lost_that_the_program_writes_while_the_keeper_cuts(tmp_path: Path, programs: Path) -> None:
    if not can_take_out(tmp_path):
        pytest.skip("this file system cannot take a piece out of a file")
    for step in STEPS:
        stand_in(programs, step, f'{NOTE}note\n{shutil.which(step)} "$@"\ncode=$?\nnote\nexit $code\n')
    cut(tmp_path, programs)
    text, count = (tmp_path / "output.log").read_text(), len((tmp_path / "lines").read_text())
    assert count >= 8
    assert text.startswith("the beginning\nxxx")
    assert text.endswith("x\n" + "".join(f"line {number}\n" for number in range(1, count + 1)))
    assert text.count(log_limit.mark(LIMIT)) == 1
    assert len(text) <= LIMIT


def test_where_the_middle_cannot_be_taken_out_what_came_while_the_end_was_read_is_kept(
    tmp_path: Path, programs: Path
) -> None:
    stand_in(programs, "fallocate", "#!/bin/sh\nexit 1\n")
    late = '[ -e late ] || echo "the end" >> output.log\ntouch late\n'
    stand_in(programs, "tail", f'#!/bin/bash\n{shutil.which("tail")} "$@"\n{late}')
    cut(tmp_path, programs)
    text = (tmp_path / "output.log").read_text()
    assert text.endswith("x\nthe end\n")
    assert text.count(log_limit.mark(LIMIT)) == 1


def test_without_a_bound_there_is_no_keeper() -> None:
    assert log_keeper.lines(0) == log_keeper.last_look(0) == ""
