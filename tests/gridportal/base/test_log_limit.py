"""Logs within their bound: the beginning and the end stay, and a program that goes on writing loses nothing new."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

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
