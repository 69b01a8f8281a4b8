"""Finding what patterns look for in the output of a program, be it large, be it hostile: in bounded time and memory.

The file is read in blocks, from its beginning for what counts where it stands first, and from its end for what counts
where it stands last. Cost: linear in the bytes that are looked at, and in the number of patterns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from gridportal.base.errors import GridPortalError
from scheduling.jobs.core.line_pattern import LinePattern
from scheduling.jobs.core.output_numbers import number
from scheduling.jobs.core.output_patterns import TIME_UNITS, NumberPattern, OutputPatterns

_BLOCK = 256 * 1024
#: Of a line with more bytes than that the beginning is looked at; of a shorter one all of it.
LONGEST_LINE = 64 * 1024
#: Characters of a line that are quoted.
QUOTED = 200
#: A hundred years: what a program may say that it has taken.
_MOST_SECONDS = 3.2e9
#: Colours and the like, which terminals do not show.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")


class OutputTooSlowError(GridPortalError):
    """The patterns took longer than they may. `pattern`: the one that took the most."""

    def __init__(self, pattern: str, seconds: float) -> None:
        self.pattern, self.seconds = pattern, seconds
        super().__init__(pattern)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a pattern was found: the line, as it can be shown, and what its group around a number holds."""

    line: str
    captured: str | None = None


@dataclass(frozen=True, slots=True)
class NumberFinding:
    """What a pattern for a number found. `value` is None where what it captured is no number, or not one of seconds."""

    occurrence: Occurrence
    value: float | None


@dataclass(frozen=True, slots=True)
class OutputFindings:
    """What the patterns of an application found; None, or not among the figures, for what was not found."""

    success: Occurrence | None = None
    failure: Occurrence | None = None
    seconds: NumberFinding | None = None
    figures: Mapping[str, NumberFinding] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, float]:
        """The figures that are numbers."""
        return {name: each.value for name, each in self.figures.items() if each.value is not None}


class Budget:
    """So many seconds of a clock for all patterns together; who has used how much."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds, self.clock = seconds, clock
        self.used: dict[str, float] = {}

    def search(self, pattern: LinePattern, block: bytes, offset: int = 0) -> re.Match[bytes] | None:
        """Look for a pattern. Raises OutputTooSlowError."""
        began = self.clock()
        match: re.Match[bytes] | None = pattern.compiled.search(block, offset)
        self.used[pattern.text] = self.used.get(pattern.text, 0.0) + self.clock() - began
        if sum(self.used.values()) > self.seconds:
            raise OutputTooSlowError(max(self.used, key=lambda text: self.used[text]), self.seconds)
        return match


def search_output(file: BinaryIO, patterns: OutputPatterns, budget: Budget, most: int) -> OutputFindings:
    """What the patterns find in a file, of which `most` bytes at the beginning and as many at the end are looked at.

    Raises OutputTooSlowError.

    >>> patterns = OutputPatterns.read({"success": "^Done", "seconds": "Time = (.*) s"})
    >>> found = search_text("Time = 0.5 s\\nTime = 1.5 s\\nDone.\\n", patterns, Budget(1.0, lambda: 0.0))
    >>> found.success.line, found.seconds.value, found.failure
    ('Done.', 1.5, None)
    """
    first, last = _wanted(patterns)
    size = os.fstat(file.fileno()).st_size if not isinstance(file, BytesIO) else file.getbuffer().nbytes
    blocks = range(-(-size // _BLOCK))
    count = -(-most // _BLOCK)
    at_first = _occurrences(_texts(file, blocks[:count]), first, budget, _first)
    at_last = _occurrences(_texts(file, blocks[-count:][::-1]), last, budget, _last)
    return _findings(patterns, at_first, at_last)


def search_text(text: str, patterns: OutputPatterns, budget: Budget) -> OutputFindings:
    """The same for a text, all of it."""
    data = text.encode("utf-8", "replace")
    return search_output(BytesIO(data), patterns, budget, len(data) + 1)


_Occurrences = dict[LinePattern, Occurrence]
_Pick = Callable[[LinePattern, bytes, Budget], "re.Match[bytes] | None"]


def _wanted(patterns: OutputPatterns) -> tuple[list[LinePattern], list[LinePattern]]:
    """What counts where it stands first, and what counts where it stands last: of errors the first one tells most."""
    numbers = [each for each in (patterns.seconds, *patterns.figures.values()) if each]
    first = [each.pattern for each in numbers if each.takes_first]
    last = [each.pattern for each in numbers if not each.takes_first]
    return (
        first + ([patterns.failure] if patterns.failure else []),
        last + ([patterns.success] if patterns.success else []),
    )


def _occurrences(texts: Iterable[bytes], wanted: Sequence[LinePattern], budget: Budget, pick: _Pick) -> _Occurrences:
    """Where each pattern is found, in the first of the blocks that has it."""
    occurrences: _Occurrences = {}
    missing = set(wanted)
    for text in texts if missing else ():
        for pattern in sorted(missing, key=lambda each: each.text):
            if match := pick(pattern, text, budget):
                occurrences[pattern] = _occurrence(pattern, match)
                missing.remove(pattern)
        if not missing:
            break
    return occurrences


def _first(pattern: LinePattern, text: bytes, budget: Budget) -> re.Match[bytes] | None:
    return budget.search(pattern, text)


def _last(pattern: LinePattern, text: bytes, budget: Budget) -> re.Match[bytes] | None:
    """The match in the last line that has one: the first there, so that each line is looked at once."""
    last, match = None, budget.search(pattern, text)
    while match:
        last = match
        next_line = text.find(b"\n", match.end()) + 1
        match = budget.search(pattern, text, next_line) if next_line else None
    return last


def _texts(file: BinaryIO, blocks: Iterable[int]) -> Iterator[bytes]:
    """The lines that begin in each of some blocks, as UTF-8 without what terminals do not show."""
    for block in blocks:
        if text := _lines_of(file, block):
            yield _ESCAPES.sub(b"", text) if b"\x1b" in text else text


def _lines_of(file: BinaryIO, block: int) -> bytes:
    """The whole lines that begin in a block; what a carriage return ends is a line too."""
    before = 1 if block else 0  # whether a line begins with the block says the byte before it
    file.seek(block * _BLOCK - before)
    data = file.read(before + _BLOCK + LONGEST_LINE).replace(b"\r", b"\n")
    begins = data.find(b"\n") + 1 if before else 0
    in_block = before + _BLOCK
    if begins > in_block - 1 or (before and not begins):
        return b""
    if (end := data.find(b"\n", in_block - 1)) < 0:
        end = data.rfind(b"\n", 0, in_block) + 1 + LONGEST_LINE
    text = data[begins:end]
    return text if text.isascii() else text.decode("utf-8", "replace").encode()


def _occurrence(pattern: LinePattern, match: re.Match[bytes]) -> Occurrence:
    text: bytes = match.string
    begins = text.rfind(b"\n", 0, match.start()) + 1
    ends = text.find(b"\n", match.start())
    line = text[begins : ends if ends >= 0 else len(text)]
    captured = match.group(pattern.group) if pattern.group is not None else None
    return Occurrence(_quoted(line, match.start() - begins), captured.decode() if captured is not None else None)


def _quoted(line: bytes, at: int) -> str:
    """The part of a line around the byte `at`, in letters that can be shown."""
    cut = at > QUOTED // 2 and len(line) > QUOTED
    part = line[at - QUOTED // 2 :] if cut else line
    shown = "".join(c if c.isprintable() else " " for c in part[: 4 * QUOTED].decode("utf-8", "replace"))
    return f"{'…' * cut}{shown.strip()[: QUOTED - cut]}"


def _findings(patterns: OutputPatterns, at_first: _Occurrences, at_last: _Occurrences) -> OutputFindings:
    def finding(number_pattern: NumberPattern, most: float | None = None, scale: float = 1.0) -> NumberFinding | None:
        occurrence = (at_first if number_pattern.takes_first else at_last).get(number_pattern.pattern)
        return None if occurrence is None else NumberFinding(occurrence, _value(occurrence.captured, most, scale))

    seconds = patterns.seconds
    figures = {name: finding(each) for name, each in patterns.figures.items()}
    return OutputFindings(
        success=at_last.get(patterns.success) if patterns.success else None,
        failure=at_first.get(patterns.failure) if patterns.failure else None,
        seconds=finding(seconds, _MOST_SECONDS, TIME_UNITS[seconds.unit or "s"]) if seconds else None,
        figures={name: each for name, each in figures.items() if each},
    )


def _value(captured: str | None, most: float | None, scale: float) -> float | None:
    value = number(captured or "")
    if value is None or most is None:
        return value
    seconds = value * scale
    return seconds if 0 <= seconds <= most else None
