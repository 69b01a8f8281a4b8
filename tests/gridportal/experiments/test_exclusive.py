"""One experiment at a time on a machine, by a lock that nobody has to give back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gridportal.base.errors import BackendError
from gridportal.experiments import exclusive


def test_a_second_one_is_refused_with_the_folder_of_the_first(tmp_path):
    with exclusive.exclusive(tmp_path, tmp_path / "one"):
        assert exclusive.running(tmp_path) == tmp_path / "one"
        with (
            pytest.raises(BackendError, match=r"is running already, in .*/one"),
            exclusive.exclusive(tmp_path, tmp_path / "two"),
        ):
            pass
    assert exclusive.running(tmp_path) is None


def test_the_lock_is_handed_on_to_a_child_and_ends_with_it(tmp_path):
    lock = exclusive.acquire(tmp_path, tmp_path / "one")
    assert lock is not None
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock])
    os.close(lock)
    try:
        assert exclusive.running(tmp_path) == tmp_path / "one"
    finally:
        child.kill()
        child.wait()
    assert exclusive.running(tmp_path) is None


def test_a_handed_lock_is_taken_as_it_is(tmp_path, monkeypatch):
    lock = exclusive.acquire(tmp_path, tmp_path / "one")
    monkeypatch.setenv(exclusive.VARIABLE, str(lock))

    with exclusive.exclusive(tmp_path, tmp_path / "one"):
        assert exclusive.VARIABLE not in os.environ
        assert exclusive.acquire(tmp_path, tmp_path / "two") is None
    assert exclusive.running(tmp_path) is None
