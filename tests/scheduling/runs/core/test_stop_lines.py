"""A script that is asked to stop: what its program hears, and that it outlives whatever is sent to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scheduling.jobs.core.program_request import ProgramRequest
from scheduling.runs.core import stop_lines
from scheduling.runs.core.script import Script, render
from tests.scheduling.portal import wait_for

#: It notes what it hears, and ends once it has heard TERM twice or finds the file.
PROGRAM = """
trap 'echo USR1 >> heard' USR1
trap 'echo TERM >> heard' TERM
touch ready
until [ -e enough ] || [ -e STOP ]; do sleep 0.05; done
exit 5
"""
Started = tuple[subprocess.Popen[bytes], Path]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """start(script's fields) -> (its bash, the run directory), once the program is ready. Nobody waits before it.

    When all have ended nothing of them is left.
    """
    monkeypatch.setattr(stop_lines, "READY", 0)
    running: list[subprocess.Popen[bytes]] = []

    def go(change: Callable[[str], str] = str, **fields: Any) -> Started:
        script = Script("t", "m", ("n1",), ("bash", "-c", PROGRAM), str(tmp_path), launcher=("env",))
        text = change(render(replace(script, **fields)))
        running.append(subprocess.Popen(["bash", "-c", text], cwd=tmp_path))
        wait_for((tmp_path / "ready").exists, "the program")
        return running[-1], tmp_path

    yield go
    for each in running:
        each.kill()
        each.wait()
    (tmp_path / "enough").touch()
    wait_for(lambda: not processes_in(tmp_path), "the end of all that the script has started")


def processes_in(folder: Path) -> list[str]:
    """The processes that work in this folder."""
    return [process.name for process in Path("/proc").glob("[0-9]*") if works_in(process, folder)]


def works_in(process: Path, folder: Path) -> bool:
    try:
        return Path(os.readlink(process / "cwd")) == folder
    except OSError:  # it has ended, or is one of the kernel's
        return False


def heard(folder: Path) -> list[str]:
    file = folder / "heard"
    return file.read_text().split() if file.exists() else []


def assert_ends_by_itself(started: Started) -> None:
    script, folder = started
    (folder / "enough").touch()
    assert script.wait(20) == 5
    assert json.loads((folder / "exit.json").read_text())["exit_code"] == 5


@pytest.mark.parametrize("name", ["USR1", "TERM"])
def test_the_program_hears_the_signal_that_it_knows(start: Any, name: str) -> None:
    script, folder = started = start(stop=ProgramRequest.read({"signal": name}))
    script.send_signal(signal.SIGUSR1)
    wait_for(lambda: heard(folder), "the signal")
    assert heard(folder) == [name]
    assert_ends_by_itself(started)


def test_a_launcher_that_hands_the_signal_on_gets_it_itself() -> None:
    text = render(Script("t", "m", ("n1",), ("p",), "/r"))
    assert 'kill -USR1 "$program"' in text
    assert stop_lines.MARK not in text


def test_the_file_that_the_program_looks_for_is_made(start: Any) -> None:
    script, folder = start(stop=ProgramRequest.read({"file": "STOP"}))
    script.send_signal(signal.SIGUSR1)
    assert script.wait(20) == 5
    assert heard(folder) == []


def test_the_command_runs_in_the_run_directory_with_its_words_as_they_are(start: Any) -> None:
    words = ["sh", "-c", 'printf "%s" "$1" > words; touch STOP', "sh", "$(id) 'x'"]
    script, folder = start(stop=ProgramRequest.read({"command": words}))
    script.send_signal(signal.SIGUSR1)
    assert script.wait(20) == 5
    assert (folder / "words").read_text() == "$(id) 'x'"


def test_a_request_for_a_checkpoint_is_another_one(start: Any) -> None:
    started = start(stop=ProgramRequest.read({"file": "STOP"}), checkpoint=ProgramRequest.read({"file": "CHECKPOINT"}))
    script, folder = started
    script.send_signal(signal.SIGUSR2)
    wait_for((folder / "CHECKPOINT").exists, "the file")
    assert not (folder / "STOP").exists()
    assert_ends_by_itself(started)


def test_checkpoints_are_asked_for_again_and_again(start: Any) -> None:
    file = {"file": "CHECKPOINT"}
    _, folder = started = start(checkpoint=ProgramRequest.read(file), checkpoint_every=1)
    for _ in range(2):
        wait_for((folder / "CHECKPOINT").exists, "the file")
        (folder / "CHECKPOINT").unlink()
    assert_ends_by_itself(started)


def test_the_program_is_asked_before_its_time_is_over(start: Any) -> None:
    script, folder = start(stop=ProgramRequest.read({"file": "STOP"}), time_limit=3600, stop_before=3599)
    assert script.wait(20) == 5
    assert (folder / "STOP").exists()


def test_nobody_asks_for_a_stop_long_before(start: Any) -> None:
    _, folder = started = start(stop=ProgramRequest.read({"file": "STOP"}), time_limit=3600, stop_before=60)
    time.sleep(0.5)
    assert not (folder / "STOP").exists()
    assert_ends_by_itself(started)


def test_a_clock_outlives_no_script_that_is_killed(start: Any) -> None:
    script, folder = start(stop=ProgramRequest.read({"file": "STOP"}), time_limit=3600, stop_before=60)
    clocks_and_program = len(processes_in(folder)) - 1
    assert clocks_and_program >= 2
    script.kill()
    script.wait()
    (folder / "enough").touch()
    wait_for(lambda: not processes_in(folder), "the end of its clock")


def test_a_clock_signals_no_other_process_that_has_got_the_number_of_its_script(start: Any) -> None:
    def as_another(text: str) -> str:
        return text.replace("\ngoes_on\n", '\nbegan="long ago"\n')

    stop = ProgramRequest.read({"file": "STOP"})
    _, folder = started = start(as_another, stop=stop, time_limit=3600, stop_before=3600)
    time.sleep(0.3)
    assert not (folder / "STOP").exists()
    assert_ends_by_itself(started)


@pytest.mark.parametrize("number", [signal.SIGUSR2, signal.SIGALRM, signal.SIGQUIT, signal.SIGXCPU, signal.SIGVTALRM])
def test_other_signals_do_not_end_the_script(start: Any, number: signal.Signals) -> None:
    started = start()
    for _ in range(3):
        started[0].send_signal(number)
        time.sleep(0.05)
    assert_ends_by_itself(started)


def test_ranks_hear_of_it_and_what_they_have_started_does_not(start: Any) -> None:
    below = "trap 'echo below >> heard' TERM; touch low; until [ -e enough ]; do sleep 0.05; done"
    program = f"(exec -a below bash -c '{below.replace(chr(39), chr(34))}') &\n{PROGRAM}"
    script, folder = started = start(argv=("bash", "-c", program), stop=ProgramRequest.read({"signal": "TERM"}))
    wait_for((folder / "low").exists, "what the rank has started")
    script.send_signal(signal.SIGUSR1)
    wait_for(lambda: heard(folder), "the signal")
    time.sleep(0.3)
    assert heard(folder) == ["TERM"]
    assert_ends_by_itself(started)


def test_one_who_is_asked_too_early_hears_of_it_later(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_lines, "READY", 2)
    script, folder = start(stop=ProgramRequest.read({"file": "STOP"}))
    script.send_signal(signal.SIGUSR1)
    time.sleep(0.3)
    assert not (folder / "STOP").exists()
    assert script.wait(20) == 5


def test_a_program_is_told_when_it_will_be_ended(start: Any) -> None:
    before = int(time.time())
    _, folder = started = start(argv=("bash", "-c", f"echo $GRIDPORTAL_ENDS_AT > ends\n{PROGRAM}"), time_limit=90.5)
    assert before + 90 <= int((folder / "ends").read_text()) <= time.time() + 90
    assert_ends_by_itself(started)


def test_a_program_without_a_limit_is_told_nothing(start: Any) -> None:
    assert "GRIDPORTAL_ENDS_AT" not in os.environ
    _, folder = started = start(argv=("bash", "-c", f"echo ${{GRIDPORTAL_ENDS_AT-unset}} > ends\n{PROGRAM}"))
    assert (folder / "ends").read_text() == "unset\n"
    assert_ends_by_itself(started)
