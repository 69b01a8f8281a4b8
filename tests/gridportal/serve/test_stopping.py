"""A supervisor ends by INT and TERM whatever it inherited, and by HUP unless `nohup` asked otherwise."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

CODE = """
import signal, sys, time
for word in sys.argv[1:]:
    signal.signal(int(word), signal.SIG_IGN)
from gridportal.serve import stopping
stopping.listen()
try:
    print("ready", flush=True)
    try:
        time.sleep(600)
    except Exception:
        print("eaten", flush=True)
except stopping.Stopped:
    print("stopped", flush=True)
"""


def listening(*ignored: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", CODE, *map(str, ignored)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_stops_and_no_except_exception_eats_that(signum: int) -> None:
    process = listening()
    process.send_signal(signum)
    assert process.communicate(timeout=60)[0] == "stopped\n"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_in_the_background_of_a_script_it_stops_as_well(signum: int) -> None:
    process = listening(signum)
    process.send_signal(signum)
    assert process.communicate(timeout=60)[0] == "stopped\n"


def test_under_nohup_it_outlives_the_terminal() -> None:
    process = listening(signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    assert process.communicate(timeout=60)[0] == "stopped\n"
