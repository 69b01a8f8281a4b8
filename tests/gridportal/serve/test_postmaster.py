"""A PostgreSQL that somebody started by hand on the portal's data is ended, and nobody else is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.base.portal_settings import PortalSettings
from gridportal.serve import postmaster
from gridportal.serve.portal_set import PortalSet
from gridportal.serve.postgres import Postgres, newest_binaries
from gridportal.serve.server_user import as_user

DEAF = 'trap "" INT; echo ready; while :; do sleep 0.05; done'


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach, as pytest's are not for root's."""
    folder = Path(tempfile.mkdtemp(prefix="gp-postmaster-")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def own_signals() -> Iterator[None]:
    """A portal that ends turns deaf; this process, and what it starts after this test, does not stay so."""
    before = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@contextmanager
def program(path: Path, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A shell under the name `path` that works in `cwd`, is deaf to SIGINT, and has said so."""
    shutil.copy2("/bin/sh", path)
    process = subprocess.Popen([str(path), "-c", DEAF], cwd=cwd, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        process.wait(timeout=10)
        assert process.stdout
        process.stdout.close()


def restart_by_hand(database: Postgres) -> int:
    """As an administrator does it; the process id of the PostgreSQL that serves then."""
    binaries = newest_binaries()
    assert binaries
    log = database.directory / "by_hand.log"
    words = ["restart", "-D", str(database.data), "-m", "fast", "-w", "-l", str(log)]
    shell.run([*as_user(database.user), str(binaries / "pg_ctl"), *words], timeout=120, cwd="/")
    return postmaster.find(database.data, database.user)


@pytest.mark.postgres
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("own_signals")
def test_one_restarted_by_hand_gives_way_at_once_and_none_is_left_at_the_end(reachable: Path) -> None:
    if newest_binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    said = StringIO()
    portal = PortalSet(PortalSettings(home=reachable / "home"), Console(file=said, soft_wrap=True))
    database = Postgres(portal.settings.home / "postgres")
    process = database.process()
    try:
        portal.start([process])
        for _ in range(4):  # as many deaths would mean a pause
            by_hand = restart_by_hand(database)
            assert by_hand not in (0, process.pid)
            portal.look()
            portal.wait(process)
            assert postmaster.find(database.data, database.user) == process.pid
            assert f"process {by_hand}, which this portal did not start, served its data and was ended." in (
                said.getvalue()
            )
        assert process.restarts.total == 0
        last = restart_by_hand(database)
    finally:
        portal.end()
    assert not Path(f"/proc/{last}/cwd").exists()
    assert not (database.data / "postmaster.pid").exists()
    assert f"process {last}, " in said.getvalue()


def test_one_deaf_to_the_fast_shutdown_gets_the_immediate_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postmaster, "_ENDINGS", ((signal.SIGINT, 0.1), (signal.SIGQUIT, 10.0)))
    with program(tmp_path / "postgres", tmp_path) as process:
        (tmp_path / "postmaster.pid").write_text(f"{process.pid}\n{tmp_path}\n")
        assert f"process {process.pid}, " in postmaster.end(tmp_path, None)
        assert process.wait(timeout=10) == -signal.SIGQUIT


def test_one_that_stays_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postmaster, "_ENDINGS", ((signal.SIGINT, 0.1),))
    with program(tmp_path / "postgres", tmp_path) as process:
        (tmp_path / "postmaster.pid").write_text(f"{process.pid}\n{tmp_path}\n")
        with pytest.raises(BackendError, match=f"process {process.pid}, .* does not end"):
            postmaster.end(tmp_path, None)


@pytest.mark.parametrize(("name", "folder"), [("other", "."), ("postgres", "elsewhere")])
def test_an_old_number_that_belongs_to_another_program_ends_nobody(tmp_path: Path, name: str, folder: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    with program(tmp_path / name, tmp_path / folder) as process:
        (tmp_path / "postmaster.pid").write_text(f"{process.pid}\n{tmp_path}\n{int(time.time())}\n")
        assert postmaster.end(tmp_path, None) == ""
        assert process.poll() is None


@pytest.mark.parametrize("text", ["", "\n", "nobody\n", "0\n", "1\n", "-OWN\n", "4194305\n"])
def test_a_file_that_names_nobody_is_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "postmaster.pid").write_text(text.replace("OWN", str(os.getpid())))
    assert postmaster.find(tmp_path, None) == 0
    (tmp_path / "postmaster.pid").unlink()
    assert postmaster.find(tmp_path, None) == 0
