"""The whole portal as one process tree: one verified job, and nothing left behind however it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gridportal.cli import app
from gridportal.serve.demo import choices, demo_set
from tests import migrated
from tests.gridportal.serve.demo.demo_process import command, environment, running_demo
from tests.servers import redis_server

pytestmark = [pytest.mark.grid, pytest.mark.timeout(400)]


def family_of(home: Path) -> list[int]:
    """Every process on this machine that was started for `home`, found by its environment."""
    mark = f"GRIDPORTAL_HOME={home}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def links() -> str:
    return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, timeout=10, check=True).stdout


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    before = links()
    yield tmp_path
    until = time.monotonic() + 15
    while family_of(tmp_path) and time.monotonic() < until:
        time.sleep(0.1)
    left = family_of(tmp_path)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "processes were left behind"
    assert links() == before, "network links were left behind"


def check_story(story: dict, nodes: int = 4) -> None:
    assert story["state"] == "succeeded", story["reason"]
    assert story["verified"] is True
    assert story["hosts"] == story["nodes"]
    assert len(story["nodes"]) == nodes
    assert len(story["candidates"]) >= 2
    assert story["candidates"][0]["nodes"] == story["nodes"]
    assert all(candidate["reason"] for candidate in story["candidates"])
    assert story["bottleneck"]["bandwidth"] > 0


@pytest.mark.parametrize(
    "servers",
    ["embedded", pytest.param("production", marks=[pytest.mark.redis, pytest.mark.postgres, pytest.mark.slow])],
)
def test_one_job_is_placed_run_and_verified_on_both_sets_of_servers(home: Path, servers: str) -> None:
    with ExitStack() as stack:
        more = {}
        if servers == "production":
            more = {
                "REDIS_URL": stack.enter_context(redis_server()),
                "DATABASE_URL": stack.enter_context(migrated.postgres_server()),
            }
        done = subprocess.run(
            command("--once", "--json"), env=environment(home, **more), capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stderr
        check_story(json.loads(done.stdout))
        assert (home / "gridportal.sqlite3").exists() == (servers == "embedded")


@pytest.mark.slow
def test_killing_the_supervisor_takes_everything_down(home: Path) -> None:
    with running_demo(home) as (demo, _):
        assert len(family_of(home)) > 5
        demo.kill()
        demo.wait(timeout=90)


def test_a_grid_that_cannot_start_ends_the_demo_in_its_own_words(home: Path) -> None:
    migrated.put_into(home)
    migrated.put_static_files_into(home)
    done = subprocess.run(
        command("--once"),
        env=environment(home, GRIDPORTAL_TESTBED_MODE="fancy"),
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("GRIDPORTAL_TESTBED_MODE is 'fancy'; accepted is one of")


def test_a_second_demo_on_the_same_home_says_where_the_first_is(home: Path) -> None:
    with (home / "portal.lock").open("w") as lock:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("123 http://127.0.0.1:8123\n")
        lock.flush()
        done = subprocess.run(command(), env=environment(home), capture_output=True, text=True, timeout=200)
    assert done.returncode == 1
    assert "already running at http://127.0.0.1:8123 (process 123)" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "80"), "--port is 80; accepted is a number from 1024 to 65535."),
        (("--class", "Q"), "--class is 'Q'; accepted is one of S, W, A, B."),
        (
            ("--topology", "nope"),
            "--topology is 'nope'; accepted is a topology file or one of "
            "cactus, cmu8, crossbar10, grads, grads-whole, smp6.",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence_before_anything_starts(home: Path, words: tuple, said: str) -> None:
    argv = command("--once", *words)
    done = subprocess.run(argv, env=environment(home), capture_output=True, text=True, timeout=200)
    assert done.returncode == 2
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert not (home / "log").exists()


def test_a_port_that_is_taken_leads_to_the_next_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port, said = taken.getsockname()[1], []
        found = demo_set._free_port(port, said.append)
    assert port < found < port + 100
    assert said == [f"Port {port} is taken; using {found}."]


def test_the_classes_in_the_help_are_those_of_the_catalogue() -> None:
    assert "S, W, A, B" in " ".join(CliRunner().invoke(app, ["demo", "--help"]).stdout.split())
    assert choices.CLASSES == ("S", "W", "A", "B")
