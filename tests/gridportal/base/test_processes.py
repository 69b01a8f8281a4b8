"""The one door to other processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from gridportal.base.errors import ShellError


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


def test_a_process_that_is_left_behind_and_writes_on_does_not_hold_us_up() -> None:
    begun = time.monotonic()
    done = shell.run(["sh", "-c", "timeout 4 sh -c 'while :; do echo y; done' & sleep 0.1; echo done"], timeout=10)
    assert time.monotonic() - begun < 3
    assert "done\n" in done.stdout


def test_what_is_written_to_output_that_was_opened_anew_leaves_no_gap() -> None:
    assert "\0" not in shell.run(["sh", "-c", "echo before; echo it > /dev/stdout; echo after"], timeout=10).stdout


def test_a_time_limit_that_is_over_already_ends_the_command() -> None:
    with pytest.raises(ShellError, match="gave no answer"):
        shell.run(["sleep", "3"], timeout=-1)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ShellError, match=r"^echo could not be started: there is no folder .*/gone\.$"):
        shell.run(["echo"], timeout=10, cwd=str(tmp_path / "gone"))


def test_a_word_that_no_command_can_be_given_is_told_in_a_sentence() -> None:
    with pytest.raises(ShellError, match=r"^'echo' could not be started: embedded null byte\.$"):
        shell.run(["echo", "a\0b"], timeout=10)


def test_a_command_ends_with_the_wait_for_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def interrupt(*_: object) -> None:
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(InterruptedError):
            shell.run(["sh", "-c", f"echo $$ > {pid}; exec sleep 60"], timeout=10)
    finally:
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_arguments_never_meet_a_shell() -> None:
    assert shell.run(["echo", "$(id); `id` && id"], timeout=10).stdout == "$(id); `id` && id\n"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_what_is_started_ends_by_a_signal_that_we_inherited_as_ignored(signum: int) -> None:
    before = signal.signal(signum, signal.SIG_IGN)
    try:
        process = shell.start(["sleep", "60"])
    finally:
        signal.signal(signum, before)
    process.send_signal(signum)
    assert process.wait(timeout=60) == -signum


def test_what_is_started_does_not_inherit_blocked_signals() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    try:
        process = shell.start(["sleep", "60"])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    process.terminate()
    assert process.wait(timeout=60) == -signal.SIGTERM
