"""The production set as one command: it serves, mends itself, keeps its data, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gridportal.serve.broker import debian_binary
from gridportal.serve.postgres import newest_binaries
from tests import migrated
from tests.gridportal.serve.demo.demo_process import environment, free_port

pytestmark = [pytest.mark.redis, pytest.mark.postgres, pytest.mark.timeout(1200)]

PASSWORD = "correct-horse-battery"
ONE_JOB = """
from gridportal.base import home; home.join()
from gridportal.web.command_database import set_up_django; set_up_django()
import time
from gridportal.serve.demo.job import submit_demo_job
from scheduling.messages import message
job = submit_demo_job("S")
until = time.monotonic() + 100
while not job.is_final and time.monotonic() < until:
    time.sleep(0.2); job.refresh_from_db()
print(job.state, job.runs.last().verified, message(job.reason))
"""


def family_of(home: Path) -> list[int]:
    """Every process started for `home`: by its environment, its folder or its command line.

    PostgreSQL writes its titles over its environment, so that alone would miss it.
    """
    mark = f"GRIDPORTAL_HOME={home}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) == os.getpid():
            continue
        try:
            in_environment = mark in (entry / "environ").read_bytes().split(b"\0")
            in_folder = Path(os.readlink(entry / "cwd")).is_relative_to(home)
            if in_environment or in_folder or bytes(home) in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def shared_memory(home: Path) -> str:
    """The id of the segment that PostgreSQL holds."""
    return (home / "postgres/data/postmaster.pid").read_text().splitlines()[6].split()[1]


def held_segments() -> list[str]:
    return [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]


def wait_until(true: Callable[[], object], seconds: float, why: Callable[[], str] = lambda: "") -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, why()
        time.sleep(0.1)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach, as pytest's are not for root's."""
    if debian_binary() is None or newest_binaries() is None:
        pytest.skip("the production set needs: apt-get install redis-server postgresql")
    folder = Path(tempfile.mkdtemp(prefix="gp-serve-")).resolve()
    folder.chmod(0o755)
    yield folder / "home"
    until = time.monotonic() + 60
    while family_of(folder / "home") and time.monotonic() < until:
        time.sleep(0.1)
    left = family_of(folder / "home")
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder)
    assert not left, "processes were left behind"


def portal(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "gridportal", *words]
    return subprocess.run(argv, env=environment(home, **more), capture_output=True, text=True, timeout=300)


@contextmanager
def serving(home: Path, port: int, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """`gridportal serve`, once it says that it serves. It finds its static files."""
    if not (home / "staticfiles").exists():
        migrated.put_static_files_into(home)
    log = home.parent / "serve.out"
    argv = [sys.executable, "-m", "gridportal", "serve", "--port", str(port), *words]
    with log.open("wb") as out:
        process = subprocess.Popen(argv, env=environment(home), stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: "GridPortal is at" in log.read_text() or process.poll() is not None, 600, log.read_text)
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.kill()
        process.wait(timeout=60)


def pid_of(home: Path, word: str) -> int:
    """The oldest process of the family with `word` on its command line; 0 when there is none."""
    found = [pid for pid in family_of(home) if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    return min(found, default=0)


def test_it_serves_mends_keeps_its_data_and_ends_with_ctrl_c(home: Path) -> None:
    port = free_port()
    with serving(home, port, "--workers", "1") as process:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60) as answer:
            assert json.load(answer) == {"ok": True, "database": True, "broker": True}
        assert not (home / "gridportal.sqlite3").exists()
        assert json.loads(portal(home, "person", "list", "--json").stdout) == {"people": []}

        made = portal(home, "person", "create", "ada", "--role", "administrator", GRIDPORTAL_NEW_PASSWORD=PASSWORD)
        assert made.returncode == 0, made.stderr
        check_refusals(home, port)

        old = pid_of(home, "worker")
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: pid_of(home, "worker") not in (0, old), 300)
        wait_until(lambda: portal(home, "health", "worker", "--timeout", "1").returncode == 0, 300)
        health = portal(home, "health", "--port", str(port), "--json")
        found = json.loads(health.stdout)
        assert {part: of["ok"] for part, of in found.items()} == dict.fromkeys(
            ("web", "worker", "beat", "broker", "database"), True
        )
        assert found["worker"]["restarts"] == 1

        web_children = Path(f"/proc/{pid_of(home, 'gridportal.wsgi')}/task").glob("*/children")
        assert sum(len(path.read_text().split()) for path in web_children) == 1  # two without the option
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 0
        assert family_of(home) == []
    refused = portal(home, "person", "list")
    assert refused.returncode == 1
    assert "start it with: gridportal serve" in refused.stderr


def check_refusals(home: Path, port: int) -> None:
    second = portal(home, "serve", "--port", str(port))
    assert second.returncode == 1
    assert f"already running at http://127.0.0.1:{port}" in second.stderr
    demo = portal(home, "demo", "--once")
    assert demo.returncode == 2
    assert "in which `gridportal serve` keeps no data" in demo.stderr


@pytest.mark.grid
def test_with_a_grid_it_runs_a_job_and_kill_9_leaves_nothing_but_the_data(home: Path) -> None:
    with serving(home, free_port(), "--grid", "smp6", "--workers", "1") as process:
        made = portal(home, "person", "create", "user1", GRIDPORTAL_NEW_PASSWORD=PASSWORD)
        assert made.returncode == 0, made.stderr
        done = subprocess.run(
            [sys.executable, "-c", ONE_JOB], env=environment(home), capture_output=True, text=True, timeout=150
        )
        assert done.stdout.startswith("succeeded True"), done.stdout + done.stderr
        segment = shared_memory(home)
        assert segment in held_segments()
        process.kill()
        process.wait(timeout=60)
        wait_until(lambda: not family_of(home), 15, lambda: str(family_of(home)))
        assert segment not in held_segments()
    with serving(home, free_port()) as process:
        people = json.loads(portal(home, "person", "list", "--json").stdout)["people"]
        assert [(person["name"], person["role"]) for person in people] == [("user1", "user")]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) == 0


def test_a_taken_port_is_named_before_anything_starts(home: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = portal(home, "serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "accepted is one that is free on 127.0.0.1" in done.stderr
    assert not (home / "postgres").exists()


def test_a_home_with_a_demo_in_it_is_refused(home: Path) -> None:
    home.mkdir()
    (home / "gridportal.sqlite3").touch()
    done = portal(home, "serve", "--port", str(free_port()))
    assert done.returncode == 2
    assert "a folder in which no demo keeps its database" in done.stderr
