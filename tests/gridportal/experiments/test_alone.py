"""One experiment at a time on a machine, by a lock that nobody has to give back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gridportal.errors import BackendError
from gridportal.experiments import alone


def test_a_second_one_is_refused_with_the_folder_of_the_first(tmp_path):
    with alone.alone(tmp_path, tmp_path / "one"):
        assert alone.running(tmp_path) == tmp_path / "one"
        with (
            pytest.raises(BackendError, match=r"is running already, in .*/one"),
            alone.alone(tmp_path, tmp_path / "two"),
        ):
            pass
    assert alone.running(tmp_path) is None


def test_the_lock_is_handed_on_to_a_child_and_ends_with_it(tmp_path):
    lock = alone.take(tmp_path, tmp_path / "one")
    assert lock is not None
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock])
    os.close(lock)
    try:
        assert alone.running(tmp_path) == tmp_path / "one"
    finally:
        child.kill()
        child.wait()
    assert alone.running(tmp_path) is None


def test_a_handed_lock_is_taken_as_it_is(tmp_path, monkeypatch):
    lock = alone.take(tmp_path, tmp_path / "one")
    monkeypatch.setenv(alone.VARIABLE, str(lock))

    with alone.alone(tmp_path, tmp_path / "one"):
        assert alone.VARIABLE not in os.environ
        assert alone.take(tmp_path, tmp_path / "two") is None
    assert alone.running(tmp_path) is None
