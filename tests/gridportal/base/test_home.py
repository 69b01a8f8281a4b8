"""How other commands find the portal of a home: by its lock while it is held, and by nothing else."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gridportal.base import home
from gridportal.base.errors import GridPortalError
from tests.gridportal.serve.demo.demo_process import environment

ADDRESS = "http://127.0.0.1:8123"


def test_a_running_portal_tells_its_address_and_its_private_broker(tmp_path: Path) -> None:
    with home.only_one(tmp_path) as lock:
        assert home.running(tmp_path) is None, "it is still starting"
        home.announce(lock, ADDRESS, {"REDIS_URL": "redis+socket:///a=b.sock"})
        assert home.running(tmp_path) == home.Running(os.getpid(), ADDRESS, {"REDIS_URL": "redis+socket:///a=b.sock"})
        with pytest.raises(GridPortalError, match=f"already running at {ADDRESS}"), home.only_one(tmp_path):
            pass
    assert home.running(tmp_path) is None, "what is left in the file of one that ended does not count"


def test_the_lock_is_for_its_owner_alone_from_the_beginning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = os.umask(0)
    try:
        with home.only_one(tmp_path):
            assert stat.S_IMODE((tmp_path / "portal.lock").stat().st_mode) == 0o600
    finally:
        os.umask(before)
    with home.only_one(tmp_path):
        assert "portal.lock" not in caplog.text


@pytest.mark.parametrize(
    "left",
    ["", "x y", "99999999 http://127.0.0.1:1\n", f"{os.getpid()} http://127.0.0.1:1\n"],
    ids=["nothing", "no number", "nobody", "this very process"],
)
def test_what_a_crash_left_in_the_lock_is_no_portal(tmp_path: Path, left: str) -> None:
    (tmp_path / "portal.lock").write_text(left)
    assert home.running(tmp_path) is None
    assert home.running(tmp_path / "nowhere") is None


def test_a_command_joins_the_broker_of_a_running_demo_unless_told_another(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_HOME", str(tmp_path))
    monkeypatch.setenv("REDIS_URL", "")  # so that it is put back afterwards
    monkeypatch.delenv("REDIS_URL")
    with home.only_one(tmp_path) as lock:
        home.announce(lock, ADDRESS, {"REDIS_URL": "redis+socket:///r.sock"})
        home.join()
        assert os.environ["REDIS_URL"] == "redis+socket:///r.sock"
        monkeypatch.setenv("REDIS_URL", "redis://mine")
        home.join()
        assert os.environ["REDIS_URL"] == "redis://mine"


def health(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "gridportal", "health", "--timeout", "0.2", *words]
    return subprocess.run(argv, env=environment(where), capture_output=True, text=True, timeout=60)


def test_health_asks_at_the_port_of_the_portal_in_this_home(tmp_path: Path) -> None:
    with socket.socket() as taken, home.only_one(tmp_path) as lock:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        home.announce(lock, f"http://127.0.0.1:{port}", {})
        assert f"port {port} does not answer" in health(tmp_path, "web").stdout
        assert "port 1999 does not answer" in health(tmp_path, "web", "--port", "1999").stdout


def test_health_without_a_portal_says_which_home_it_looked_at_and_nothing_else(tmp_path: Path) -> None:
    done = health(tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"No portal is up in {tmp_path}; if it was started with another GRIDPORTAL_HOME, set that here too.\n"
    )
    assert {part["ok"] for part in json.loads(health(tmp_path, "--json").stdout).values()} == {False}
