"""A production set for load tests: `gridportal serve` on a home of its own, beside a Grid without nodes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_TICKS = os.sysconf("SC_CLK_TCK")
_JOIN = """
from gridportal.base import home; home.join()
from gridportal.web.command_database import set_up_django; set_up_django()
import json, os, sys
from scheduling.models import Application, Job, JobEvent
"""
_PEOPLE = """
from gridportal.accounts.models import User
from gridportal.accounts.people import create_person
from gridportal.accounts.tokens import create_token
Application.objects.get_or_create(
    slug="instant", name="Instant", command=["true"], pattern="ring", ranks={"min": 1, "max": 64}
)
people = [create_person(f"load{number}", "user", f"correct-horse-{number}") for number in range(%d)]
print(json.dumps([create_token(person, "load")[1] for person in people]))
"""
#: Which part of the set a direct child of `serve` is, by a word of its command line.
_PARTS = {"gunicorn": "web", "worker": "worker", "beat": "beat", "redis": "redis", "postgres": "postgresql"}


@dataclass
class LoadPortal:
    """A portal that runs; `grid` is the folder of its Grid."""

    home: Path
    port: int
    serve: subprocess.Popen[bytes]
    grid: subprocess.Popen[bytes]
    environment: dict[str, str]

    def tokens(self, people: int) -> list[str]:
        """One token for each of so many new people; there is a program called `instant`, too."""
        return list(self.ask(_PEOPLE % people))

    def ask(self, code: str) -> Any:
        """The JSON that this code prints in a process of the portal's."""
        words = [sys.executable, "-c", _JOIN + code]
        done = subprocess.run(words, env=self.environment, cwd=ROOT, capture_output=True, timeout=900, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return json.loads(done.stdout.splitlines()[-1])

    def busy(self) -> Counter[str]:
        """Processor seconds of each part so far, with all processes that it started."""
        children: dict[int, list[int]] = {}
        seconds: dict[int, float] = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            seconds[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS
        used: Counter[str] = Counter()
        for pid in children.get(self.serve.pid, []):
            used[_part(pid)] += _with_children(pid, children, seconds)
        return used + Counter({"stand-in of the Grid": seconds.get(self.grid.pid, 0.0)})


def _with_children(pid: int, children: dict[int, list[int]], seconds: dict[int, float]) -> float:
    return seconds[pid] + sum(_with_children(child, children, seconds) for child in children.get(pid, []))


def _part(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return "other"
    return next((part for word, part in _PARTS.items() if word in line), "other")


@contextmanager
def portal(home: Path, nodes: int, seconds: float) -> Iterator[LoadPortal]:
    """A portal on PostgreSQL and Redis whose cluster has `nodes` nodes and programs that last `seconds`."""
    grid_folder, port = home / "grid", _free_port()
    words = [sys.executable, "-m", "tests.bench.instant_grid", str(grid_folder), str(nodes), str(seconds)]
    ours = ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    kept = {name: value for name, value in os.environ.items() if name not in ours and "GRIDPORTAL" not in name}
    environment = {**kept, "GRIDPORTAL_HOME": str(home / "portal"), "GRIDPORTAL_GRID_DIR": str(grid_folder)}
    environment["GRIDPORTAL_LOG_LEVEL"] = "WARNING"
    grid = subprocess.Popen(words, cwd=ROOT)
    log = home / "serve.out"
    with log.open("wb") as out:
        serve_words = [sys.executable, "-m", "gridportal", "serve", "--port", str(port)]
        serve = subprocess.Popen(serve_words, env=environment, cwd=ROOT, stdout=out, stderr=out)
    try:
        _wait_for(log, serve)
        yield LoadPortal(home, port, serve, grid, environment)
    finally:
        for process in (serve, grid):
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """What `serve` started the kernel ends with it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=30)


def _wait_for(log: Path, serve: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 600
    while "GridPortal is at" not in log.read_text():
        if serve.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"The portal did not start:\n{log.read_text()}")
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
