"""Logs within their bound: the beginning and the end stay, and a program that goes on writing loses nothing new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import log_limit
from gridportal.base.errors import InputError

LIMIT = 64 * 2**10


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path / "output.log", os.O_RDWR | os.O_APPEND | os.O_CREAT)
    yield opened
    os.close(opened)


def test_a_log_within_its_bound_is_left_alone(descriptor: int) -> None:
    os.write(descriptor, b"x" * LIMIT)
    assert not log_limit.cut(descriptor, LIMIT)
    assert os.fstat(descriptor).st_size == LIMIT


def test_of_a_log_beyond_it_the_beginning_and_the_end_stay(descriptor: int, tmp_path: Path) -> None:
    os.write(descriptor, b"the beginning\n" + b"x" * 10 * LIMIT + b"\nthe end\n")
    for more in (b"", b"y" * 2 * LIMIT + b"\nthe end\n"):
        os.write(descriptor, more)
        assert log_limit.cut(descriptor, LIMIT)
        text = (tmp_path / "output.log").read_text()
        assert text.startswith("the beginning\nxxx")
        assert text.endswith("\nthe end\n")
        assert text.count(log_limit.mark(LIMIT)) == 1
        assert len(text) <= LIMIT
    os.write(descriptor, b"and more\n")
    assert (tmp_path / "output.log").read_text().endswith("\nthe end\nand more\n")


STEPS = ("fstat", "pread", "ftruncate", "pwrite", "write")


class Program:
    """It writes a numbered line before and after each step of whoever cuts its log."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._descriptor, self.last = os.open(path, os.O_WRONLY | os.O_APPEND), 0
        for name in STEPS:
            monkeypatch.setattr(os, name, self._beside(getattr(os, name)))
        monkeypatch.setattr(log_limit, "_collapse", self._beside(log_limit._collapse))

    def _beside(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*given: Any) -> Any:
            self.write()
            answer = step(*given)
            self.write()
            return answer

        return taken

    def write(self) -> None:
        """Without the calls that are watched."""
        self.last += 1
        os.writev(self._descriptor, [f"line {self.last}\n".encode()])


def can_take_out(folder: Path) -> bool:
    """Whether the file system of a folder can take a piece out of a file."""
    with (folder / "tried").open("wb+") as file:
        file.write(b"x" * 2**20)
        file.flush()
        block = os.fstatvfs(file.fileno()).f_bsize
        return log_limit._collapse(file.fileno(), block, block)


def test_nothing_that_a_program_writes_at_its_end_is_lost_at_whatever_step_it_is_written(
    descriptor: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_take_out(tmp_path):
        pytest.skip("this file system cannot take a piece out of a file")
    os.write(descriptor, b"x" * 10 * LIMIT + b"\n")
    program = Program(tmp_path / "output.log", monkeypatch)
    for _ in range(3):
        os.writev(descriptor, [b"y" * 2 * LIMIT, b"\n"])
        first = program.last + 1
        assert log_limit.cut(descriptor, LIMIT)
    monkeypatch.undo()
    text = (tmp_path / "output.log").read_text()
    assert text.endswith("y\n" + "".join(f"line {number}\n" for number in range(first, program.last + 1)))
    assert text.count(log_limit.mark(LIMIT)) == 1


def test_where_the_middle_cannot_be_taken_out_what_came_while_the_end_was_read_is_kept(
    descriptor: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.write(descriptor, b"x" * 10 * LIMIT)
    read, late = os.pread, [b"\nthe end\n"]

    def pread(*given: int) -> bytes:
        data = read(*given)
        os.writev(descriptor, [late.pop()] if late else [])
        return data

    monkeypatch.setattr(log_limit, "_collapse", lambda *_: False)
    monkeypatch.setattr(os, "pread", pread)
    assert log_limit.cut(descriptor, LIMIT)
    assert (tmp_path / "output.log").read_text().endswith("xx\nthe end\n")


def test_a_terabyte_of_nothing_costs_no_more(descriptor: int) -> None:
    os.ftruncate(descriptor, 2**40)
    assert log_limit.cut(descriptor, LIMIT)
    assert os.fstat(descriptor).st_size <= LIMIT


@pytest.mark.parametrize("text", ["x", "-5", "1", "1e9", "٣" * 9])
def test_a_bound_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(log_limit.VARIABLE, text)
    with pytest.raises(InputError, match="GRIDPORTAL_OUTPUT_LIMIT is"):
        log_limit.from_environment()


def test_the_bound_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(log_limit.VARIABLE, raising=False)
    assert log_limit.from_environment() == log_limit.DEFAULT
    monkeypatch.setenv(log_limit.VARIABLE, "1000000")
    assert log_limit.from_environment() == 1_000_000
