"""A thread that ends after its worker's loop writes no byte into what has got the number of the wake-up pipe."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gridportal.serve import programs
from tests.gridportal.serve.demo.demo_process import free_port


def stray_bytes(folder: Path, worker_class: str) -> bytes:
    """What stands in files that a late request opened and never wrote to, after its web server got SIGTERM."""
    port = free_port()
    words = (
        f"gunicorn tests.gridportal.serve.late_app --bind 127.0.0.1:{port} --worker-class {worker_class} --threads 4"
    )
    argv = [sys.executable, "-m", *words.split(), "--graceful-timeout", "1", "--timeout", "120"]
    environment = os.environ | {"LATE_APP_FOLDER": str(folder), "GUNICORN_CMD_ARGS": "--no-control-socket"}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    try:
        with asked(port, folder):
            worker = children_of(server.pid)[0]
            os.kill(worker, signal.SIGTERM)
            wait_until(lambda: not Path(f"/proc/{worker}/cmdline").exists() or is_zombie(worker))
    finally:
        server.kill()
        server.wait(timeout=60)
    victims = sorted(folder.glob("victim*"))
    assert len(victims) == 64, (folder / "log").read_text()
    return b"".join(path.read_bytes() for path in victims)


def asked(port: int, folder: Path) -> socket.socket:
    """A connection on which one request was sent and has reached the application."""
    wait_until(lambda: answers(port))
    link = socket.create_connection(("127.0.0.1", port), timeout=60)
    link.sendall(b"GET / HTTP/1.0\r\n\r\n")
    wait_until((folder / "asked").exists)
    return link


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until(true, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_gunicorns_own_worker_writes_into_a_file_of_somebody_else(tmp_path: Path) -> None:
    """Once this fails gunicorn was mended, and `gridportal.serve.web_worker` need not be longer."""
    assert stray_bytes(tmp_path, "gthread") == b"\0"


def test_ours_writes_nowhere(tmp_path: Path) -> None:
    assert stray_bytes(tmp_path, "gridportal.serve.web_worker.Worker") == b""


def test_the_web_server_uses_it_and_has_no_socket_beside_the_one_of_its_port() -> None:
    words = programs.web("127.0.0.1:8000", workers=2)
    assert words[words.index("--worker-class") + 1] == "gridportal.serve.web_worker.Worker"
    assert "--no-control-socket" in words


@pytest.mark.parametrize("name", ["close", "fileno", "defer", "init"])
def test_what_we_replace_in_gunicorn_is_still_there(name: str) -> None:
    from gunicorn.workers.gthread import PollableMethodQueue

    assert callable(getattr(PollableMethodQueue, name))
