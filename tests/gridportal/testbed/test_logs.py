"""The logs of runs: their descriptors are given back, whatever lies in the place of a log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gridportal.testbed.logs import Logs


def test_descriptors_are_kept_until_the_log_is_closed(tmp_path: Path) -> None:
    before, logs = _open(), Logs(2**20)
    descriptor = logs.open("run", tmp_path / "output.log")
    os.write(descriptor, b"text")
    assert len(_open() - before) == 2
    logs.close("run")
    assert _open() == before


def test_a_second_opening_that_fails_gives_the_first_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, real = _open(), os.open

    def refuse(path: object, *how: int) -> int:
        if str(path).startswith("/proc/"):
            raise OSError(24, "Too many open files")
        return real(str(path), *how)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match="Too many"):
        Logs(2**20).open("run", tmp_path / "output.log")
    assert _open() == before


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/null", path)])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path, make: object) -> None:
    before = _open()
    make(tmp_path / "output.log")  # type: ignore[operator]
    with pytest.raises(OSError):  # noqa: PT011 (each has a number of its own)
        Logs(2**20).open("run", tmp_path / "output.log")
    assert _open() == before


def _open() -> set[str]:
    return set(os.listdir("/proc/self/fd"))
