"""Web workers die by TERM, KILL, HUP and the death of their master under load, and PostgreSQL gets no stray byte."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import migrated
from tests.gridportal.serve.demo.demo_process import free_port
from tests.gridportal.serve.test_web_worker import answers, children_of, is_zombie, wait_until

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(1200)]
#: Each way once, and four workers end by it.
DEATHS = int(os.environ.get("WEB_DEATHS", "20"))
STRAY = "invalid frontend message type"
OURS = "gridportal.serve.web_worker.Worker"


def test_no_stray_byte_reaches_the_database_however_workers_die(tmp_path: Path) -> None:
    log = tmp_path / "database.log"
    with log.open("wb") as out, migrated.postgres_server(out.fileno()) as url:
        died = deaths(url, os.environ.get("WEB_WORKER", OURS), tmp_path)
        (tmp_path / "deaths").write_text(str(died))
    found = log.read_text(errors="replace").count(STRAY)
    print(f"{died} workers died, {found} stray bytes")  # noqa: T201 - the figure of the decision
    assert died >= DEATHS
    assert found == 0


def deaths(url: str, worker_class: str, folder: Path) -> int:
    """Serve under load while workers are ended in turn by each way; how many have ended."""
    seen: set[int] = set()
    ways = itertools.cycle((signal.SIGTERM, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, None))
    while len(seen) < DEATHS:
        with served(url, worker_class, folder) as (master, port), load(port):
            for way in ways:
                wait_until(lambda: len(children_of(master)) >= 4)
                workers = children_of(master)
                seen |= set(workers)
                time.sleep(0.5)  # requests get under way
                if way is None or len(seen) >= DEATHS:
                    os.kill(master, signal.SIGKILL)  # its workers see that and end by themselves
                    break
                for pid in [master] if way == signal.SIGHUP else workers:
                    os.kill(pid, way)
                wait_until(lambda gone=workers: not set(gone) & set(children_of(master)))
        wait_until(lambda gone=frozenset(seen): all(is_zombie(pid) for pid in gone))
    return len(seen)


@contextlib.contextmanager
def served(url: str, worker_class: str, folder: Path) -> Iterator[tuple[int, int]]:
    """Four workers; yields the master's process id and the port."""
    port = free_port()
    words = f"gunicorn tests.gridportal.serve.late_database_app --preload --bind 127.0.0.1:{port} --workers 4"
    more = f"--worker-class {worker_class} --threads 8 --graceful-timeout 1 --no-control-socket"
    with (folder / "web.log").open("ab") as log:
        argv = [sys.executable, "-m", *words.split(), *more.split()]
        server = subprocess.Popen(argv, env=os.environ | {"LATE_APP_DATABASE": url}, stdout=log, stderr=log)
    try:
        wait_until(lambda: answers(port))
        yield server.pid, port
    finally:
        server.kill()
        server.wait(timeout=60)


@contextlib.contextmanager
def load(port: int) -> Iterator[None]:
    """Twenty who ask again as soon as they are answered, or refused."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30):
                    pass
            except OSError:
                ended.wait(0.1)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(timeout=60)
