"""The production set as one command: it serves, mends itself, keeps its data and the jobs of clusters, and leaves
nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import BackendError
from gridportal.serve.broker import debian_binary
from gridportal.serve.postgres import newest_binaries
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests import migrated
from tests.gridportal.serve.demo.demo_process import environment, free_port
from tests.waiting import looks
from tests.warm_python import WarmPython

pytestmark = [pytest.mark.redis, pytest.mark.postgres, pytest.mark.timeout(1200)]

PASSWORD = "correct-horse-battery"
_JOIN = """
import json, sys, time
from gridportal.base import home; home.join()
from gridportal.web.command_database import set_up_django; set_up_django()
from django.contrib.auth.models import Group
from gridportal.accounts.models import User
from gridportal.serve.demo.job import submit_demo_job
from scheduling import tasks
from scheduling.jobs.services import job_spec, registering
from scheduling.placing.services import placing, submission
from scheduling.messages import message
from scheduling.models import Application, Job
"""
_SUBMIT = """
User.objects.create_user("user1").groups.add(Group.objects.get(name="user"))
registering.register_application("tests", {"slug": "sleep", "name": "Sleep", "ranks": {"min": 1, "max": 8},
    "command": ["bash", "-c", "echo begun >> begun; until [ -e go ]; do sleep 0.2; done"],
    "pattern": "ring", "parameters": []})
asked = job_spec.JobSpec(Application.objects.get(slug="sleep"), {}, 1).with_changes({"cluster": "hpc"})
job = submission.submit_job(User.objects.get(username="ada"), asked)
tasks.place_soon(job)
"""
_STORY = """
job = Job.objects.get(application__slug="sleep")
print(json.dumps({"state": job.state, "reason": message(job.reason), "events": [e.to_state for e in job.events.all()],
    "runs": [run.run_dir for run in job.runs.all()]}))
"""
_ONE_JOB = """
job = submit_demo_job("S")
until = time.monotonic() + 100
while not job.is_final and time.monotonic() < until:
    time.sleep(0.2); job.refresh_from_db()
print(json.dumps([job.state, job.runs.last().verified, message(job.reason)]))
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
    for _ in looks(seconds):
        if true():
            return
    raise AssertionError(why())


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach, as pytest's are not for root's."""
    if debian_binary() is None or newest_binaries() is None:
        pytest.skip("the production set needs: apt-get install redis-server postgresql")
    folder = Path(tempfile.mkdtemp(prefix="gp-serve-")).resolve()
    folder.chmod(0o755)
    yield folder / "home"
    for _ in looks(60):
        if not (left := family_of(folder / "home")):
            break
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


@contextmanager
def asking(home: Path) -> Iterator[Callable[[str], Any]]:
    """asked(code): what a command of the portal that is up answers, each in a process of its own."""
    python = WarmPython([sys.executable], _JOIN, environment(home))

    def asked(code: str) -> Any:
        done = python.end(python.start(code), 150)
        assert done.returncode == 0, done.err[-2000:]
        return json.loads(done.out) if done.out.strip() else None

    yield asked
    python.close()


@pytest.fixture
def hpc(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A cluster that is no part of the portal: cmu8, with a Slurm where there can be one."""
    slurm: launch.Slurm = "slurm"
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError:
        slurm = ""
    launch.up("cmu8", tmp_path / "grid", with_parent=True, slurm=slurm)
    yield {"name": "hpc", "backend": slurm or "grid", "state_dir": str(tmp_path / "grid")}
    Grid(tmp_path / "grid").down()


@pytest.mark.grid
def test_it_serves_and_mends_and_however_it_ends_jobs_go_on_and_data_stay(
    hpc: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended by Ctrl-C, by kill -9 and by SIGTERM. One portal after another on the same home: each takes seconds."""
    monkeypatch.setenv("GRIDPORTAL_CLUSTERS", json.dumps([{"name": "grid", "backend": "grid"}, hpc]))
    directory = serves_mends_and_ends_with_ctrl_c(home)
    assert not Path(directory, "exit.json").exists(), "the job ended with the portal"
    Path(directory, "go").touch()
    wait_until(Path(directory, "exit.json").exists, 60)
    tells_it_finished_once_and_leaves_nothing_after_kill_9(home, directory)
    with serving(home, free_port(), "--workers", "1") as process:
        people = json.loads(portal(home, "person", "list", "--json").stdout)["people"]
        assert [(person["name"], person["role"]) for person in people] == [("ada", "administrator"), ("user1", "user")]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) == 0
    assert family_of(home) == []


def serves_mends_and_ends_with_ctrl_c(home: Path) -> str:
    """The folder of a job that runs on when the portal has ended."""
    port = free_port()
    with serving(home, port, "--workers", "1") as process:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60) as answer:
            assert json.load(answer) == {"ok": True, "database": True, "broker": True}
        assert not (home / "gridportal.sqlite3").exists()
        made = portal(home, "person", "create", "ada", "--role", "administrator", GRIDPORTAL_NEW_PASSWORD=PASSWORD)
        assert made.returncode == 0, made.stderr
        check_refusals(home, port)
        check_mending(home, port)
        web_children = Path(f"/proc/{pid_of(home, 'gridportal.wsgi')}/task").glob("*/children")
        assert sum(len(path.read_text().split()) for path in web_children) == 1  # two without the option
        with asking(home) as asked:
            asked(_SUBMIT)
            wait_until(lambda: asked(_STORY)["state"] == "running", 120)
            (directory,) = asked(_STORY)["runs"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 0
        wait_until(lambda: only_the_job(home, directory), 60)
    refused = portal(home, "person", "list")
    assert refused.returncode == 1
    assert "start it with: gridportal serve" in refused.stderr
    return str(directory)


def check_refusals(home: Path, port: int) -> None:
    second = portal(home, "serve", "--port", str(port))
    assert second.returncode == 1
    assert f"already running at http://127.0.0.1:{port}" in second.stderr
    demo = portal(home, "demo", "--once")
    assert demo.returncode == 2
    assert "in which `gridportal serve` keeps no data" in demo.stderr


def check_mending(home: Path, port: int) -> None:
    """A worker that is killed comes back, and all parts are well."""
    old = pid_of(home, "worker")
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: pid_of(home, "worker") not in (0, old), 300)
    for _ in looks(300):
        health = portal(home, "health", "--port", str(port), "--json")
        if health.returncode == 0:
            break
    found = json.loads(health.stdout)
    assert {part: of["ok"] for part, of in found.items()} == dict.fromkeys(
        ("web", "worker", "beat", "broker", "database"), True
    )
    assert found["worker"]["restarts"] == 1


def tells_it_finished_once_and_leaves_nothing_after_kill_9(home: Path, directory: str) -> None:
    """With a Grid of its own, where a job runs, too."""
    with serving(home, free_port(), "--grid", "smp6", "--workers", "1") as process:
        with asking(home) as asked:
            wait_until(lambda: asked(_STORY)["state"] == "succeeded", 120)
            story = asked(_STORY)
            assert asked(_ONE_JOB)[:2] == ["succeeded", True]
        segment = shared_memory(home)
        assert segment in held_segments()
        process.kill()
        process.wait(timeout=60)
        wait_until(lambda: not family_of(home), 15, lambda: str(family_of(home)))
        assert segment not in held_segments()
    assert story["events"] == ["queued", "placing", "starting", "running", "succeeded"]
    assert story["runs"] == [directory]
    assert Path(directory, "begun").read_text() == "begun\n"


def only_the_job(home: Path, directory: str) -> bool:
    """Whether all that is left under the home are the processes of the job's own run."""
    return all(works_in(pid, directory) for pid in family_of(home))


def works_in(pid: int, directory: str) -> bool:
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(directory)
    except FileNotFoundError:  # it ended since it was listed
        return True


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
