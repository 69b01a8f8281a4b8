"""Finding lines in output: the same as line by line, whatever the output is, and within its budget."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core import output_search
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.output_search import Budget, OutputFindings, OutputTooSlowError, search_output, search_text

PATTERNS = OutputPatterns.read(
    {
        "success": "^Verification *= *SUCCESSFUL$",
        "failure": "ERROR|FAILED",
        "seconds": "Time = (.*) s",
        "figures": [
            {"name": "energy", "pattern": r"energy\s+(\S+)"},
            {"name": "first", "pattern": r"energy\s+(\S+)", "which": "first"},
        ],
    }
)
GOOD = "energy -1.5\nenergy -2.5D+00\nTime = 1.5 s\nVerification = SUCCESSFUL\n"


def free() -> Budget:
    return Budget(1.0, lambda: 0.0)


def search(data: bytes, most: int = 2**30) -> OutputFindings:
    return search_output(BytesIO(data), PATTERNS, free(), most)


def shown(found: OutputFindings) -> tuple[object, ...]:
    return (
        found.success and found.success.line,
        found.failure and found.failure.line,
        found.seconds and found.seconds.value,
        found.numbers,
    )


ALL = ("Verification = SUCCESSFUL", None, 1.5, {"energy": -2.5, "first": -1.5})


def test_last_lines_count_but_the_first_failure_does() -> None:
    assert shown(search_text(GOOD, PATTERNS, free())) == ALL
    found = search_text("ERROR: one\nERROR: two\nTime = 2 s\nTime = 1 ks s\n", PATTERNS, free())
    assert shown(found) == (None, "ERROR: one", None, {})
    assert found.seconds is not None
    assert found.seconds.occurrence.captured == "1 ks"


@pytest.mark.parametrize(
    "before",
    [
        b"x" * 60_000_000 + b"\n",
        b"\0" * 20_000_000 + b"\n",
        b"\xff\xfe" * 300_000 + b"\n",
        b"\xff\n" * 300_000,
        b"\x1b[31m" * 200_000 + b"\n",
        b"\x1b[" * 300_000 + b"\n",
        b"step 1\rstep 2\r" * 50_000,
        b"\n" * 3_000_000,
    ],
    ids=[
        "one line of 60 MB",
        "NUL",
        "not UTF-8",
        "not UTF-8 lines",
        "colours",
        "half colours",
        "progress bar",
        "empty",
    ],
)
def test_hostile_output_before_what_counts_hides_nothing(before: bytes) -> None:
    assert shown(search(before + GOOD.encode())) == ALL
    assert shown(search(GOOD.encode() + before)) == ALL


def test_colours_and_carriage_returns_are_not_part_of_a_line() -> None:
    found = search(b"\x1b[1mVerification\x1b[0m = SUCCESSFUL\r\nTime = \x1b[32m1.5\x1b[0m s\r\n")
    assert shown(found)[:3] == ("Verification = SUCCESSFUL", None, 1.5)


def test_of_a_huge_file_only_both_ends_are_looked_at() -> None:
    middle = b"energy 3\n" * 400_000
    found = search(GOOD.encode() + middle + b"ERROR: late\n" + middle + b"Time = 2 s\n", most=2**18)
    assert shown(found) == (None, None, 2.0, {"energy": 3, "first": -1.5})


def test_what_is_quoted_of_a_long_line_is_around_the_match() -> None:
    found = search(b"a" * 5000 + b" ERROR: here " + b"b" * 5000)
    assert found.failure is not None
    assert "ERROR: here" in found.failure.line
    assert len(found.failure.line) <= output_search.QUOTED


def test_patterns_that_take_too_long_are_named() -> None:
    ticks: Iterator[float] = itertools.count(0.0, 0.3)
    with pytest.raises(OutputTooSlowError) as caught:
        search_output(BytesIO(b"x\n" * 400_000), PATTERNS, Budget(1.0, lambda: next(ticks)), 2**30)
    assert caught.value.pattern in (r"energy\s+(\S+)", "ERROR|FAILED")


LINES = st.lists(
    st.sampled_from(
        [b"energy 1", b"energy -2.5e3", b"Time = 3 s", b"ERROR: a", b"", b"\xc3", b"y" * 90, b"energy x", b"\0"]
    )
)


@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.integers(16, 64), st.integers(8, 80))
def test_blocks_of_any_size_give_what_the_lines_one_by_one_give(
    lines: list[bytes], end: bytes, block: int, longest: int
) -> None:
    data = end.join(lines)
    cut = [line.decode("utf-8", "replace") for line in data.replace(b"\r", b"\n").split(b"\n")]
    found = search_in_blocks(data, block, max(100, longest))
    energies = [m[1] for m in map(re.compile(r"energy\s+(\S+)").search, cut) if m]
    figures = found.figures
    assert [name in figures for name in ("first", "energy")] == [bool(energies)] * 2
    if energies:
        assert figures["first"].occurrence.captured == energies[0]
        assert figures["energy"].occurrence.captured == energies[-1]
    errors = [line for line in cut if "ERROR" in line]
    assert (found.failure.line if found.failure else None) == (errors[0] if errors else None)


def search_in_blocks(data: bytes, block: int, longest: int) -> OutputFindings:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output_search, "_BLOCK", block)
        patch.setattr(output_search, "LONGEST_LINE", longest)
        return search(data)


PIECES = st.sampled_from(
    ["a", "b", ".", "*", "+", "?", "(", ")", "[", "]", "^", "$", "|", "{3}", "{2,}", r"\s", r"\d", "é", "-"]
)


@given(st.lists(PIECES, max_size=12).map("".join), st.binary(max_size=300))
def test_random_patterns_on_random_bytes_neither_hang_nor_crash(pattern: str, data: bytes) -> None:
    try:
        patterns = OutputPatterns.read({"success": pattern, "failure": pattern, "seconds": f"({pattern})"})
    except InputError:
        return
    found = search_output(BytesIO(data * 50), patterns, Budget(5.0, time.thread_time), 2**20)
    assert (found.success is None) == (found.failure is None)


@pytest.mark.parametrize(
    "pattern", ["(a*)*b", "(a|aa)+$", "(a|b)*a(a|b){9}x", "(.*)(.*)(.*)(.*)x", "(?:a?){100}a{100}b"]
)
def test_what_hangs_other_matchers_ends_here(pattern: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"a" * 2_000_000 + b"\n" + b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac\n" * 20_000)
    patterns = OutputPatterns.read({"success": pattern})
    with log.open("rb") as file:
        found = search_output(file, patterns, Budget(60.0, time.thread_time), 2**30)
    assert (found.success is not None) == (pattern == "(a|aa)+$")
