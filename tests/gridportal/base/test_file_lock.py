"""One holder of a locked file at a time: in this process, in another, handed to a child, and after a SIGKILL."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gridportal.base import file_lock

HOLDER = """
import sys
from pathlib import Path
from gridportal.base import file_lock
with file_lock.hold(Path(sys.argv[1])) as ours:
    print(ours, flush=True)
    input()
"""
Process = subprocess.Popen[str]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of the lock file."""
    return tmp_path / "some.lock"


@pytest.fixture
def elsewhere(path: Path) -> Iterator[Callable[[], Process]]:
    """Another process that tries to hold it; its first line says whether it does."""
    started: list[Process] = []

    def start() -> Process:
        argv = [sys.executable, "-c", HOLDER, str(path)]
        started.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def first_line(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def held(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return file_lock.is_held(descriptor)
    finally:
        os.close(descriptor)


def test_a_second_one_is_refused_until_the_first_has_ended(path: Path, elsewhere: Callable[[], Process]) -> None:
    with file_lock.hold(path) as ours, file_lock.hold(path) as second:
        assert (ours, second, held(path)) == (True, False, True)
        assert first_line(elsewhere()) == "False"
    assert not held(path)
    assert first_line(elsewhere()) == "True"


def test_it_ends_with_a_process_that_is_killed(path: Path, elsewhere: Callable[[], Process]) -> None:
    other = elsewhere()
    assert first_line(other) == "True"
    with file_lock.hold(path) as ours:
        assert not ours
    other.kill()
    other.wait()
    with file_lock.hold(path) as ours:
        assert ours


def test_a_child_that_was_handed_the_file_has_the_lock_with_it(path: Path) -> None:
    descriptor = file_lock.open_lock(path)
    assert file_lock.acquire(descriptor)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[descriptor])
    os.close(descriptor)
    try:
        assert held(path)
    finally:
        child.kill()
        child.communicate()
    assert not held(path)


def test_who_only_looks_leaves_it_to_others(path: Path) -> None:
    path.touch()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert not file_lock.is_held(descriptor)
        with file_lock.hold(path, patience=0.0) as ours:
            assert ours
    finally:
        os.close(descriptor)


def test_who_is_patient_gets_it_from_one_that_ends(path: Path) -> None:
    first, got = file_lock.open_lock(path), []

    def wait() -> None:
        with file_lock.hold(path, patience=60.0) as ours:
            got.append(ours)

    assert file_lock.acquire(first)
    waiting = threading.Thread(target=wait)
    waiting.start()
    os.close(first)
    waiting.join(60)
    assert got == [True]


def test_it_is_for_its_owner_alone_and_never_a_link(path: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with file_lock.hold(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    (tmp_path / "link.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), file_lock.hold(tmp_path / "link.lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()
