"""The one door to other processes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gridportal import shell
from gridportal.errors import ShellError


def test_what_a_command_says_comes_back_with_its_exit_code() -> None:
    done = shell.run(["sh", "-c", "cat; echo oops >&2; exit 3"], timeout=10, check=False, stdin="in\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, "in\n", "oops\n")


def test_a_failing_command_is_told_in_one_sentence() -> None:
    with pytest.raises(ShellError, match=r"^sh failed with exit code 3: bad thing$"):
        shell.run(["sh", "-c", "echo bad thing; exit 3"], timeout=10)


def test_a_missing_command_is_named() -> None:
    with pytest.raises(ShellError, match=r"^no-such-command is not installed or not on PATH.$"):
        shell.run(["no-such-command"], timeout=10)


def test_a_slow_command_is_ended_and_named(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(ShellError, match=r"^sh gave no answer within 0.5 s.$"):
        shell.run(["sh", "-c", f"echo $$ > {pid}; exec sleep 60"], timeout=0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hold_us_up() -> None:
    begun = time.monotonic()
    with pytest.raises(ShellError, match="gave no answer"):
        shell.run([sys.executable, "-c", "import os, time; os.fork(); time.sleep(20)"], timeout=0.5)
    assert time.monotonic() - begun < 15


def test_arguments_never_meet_a_shell() -> None:
    assert shell.run(["echo", "$(id); `id` && id"], timeout=10).stdout == "$(id); `id` && id\n"
