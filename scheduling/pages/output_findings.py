"""What patterns find in a sample of output, in words, for each field of the form."""

from __future__ import annotations

import time
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from django.conf import settings

from gridportal.web.templatetags.units import sig
from scheduling.contracts.core.log_progress import lines_of
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.output_search import Budget, NumberFinding, OutputTooSlowError, search_output
from scheduling.jobs.core.progress_pattern import ProgressPattern
from scheduling.pages.output_fields import PARTS, OutputFields

#: Seconds of processor time that a page may take for it.
_MOST_SECONDS = 3.0
#: Of a sample so many bytes are looked through for steps.
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class FieldFinding:
    """What is shown beside a field: lines, each good, bad, a risk, or neither."""

    part: str
    lines: list[tuple[str, str]]


def findings(form: OutputFields, sample: BinaryIO | str | None) -> list[FieldFinding]:
    """For each part of the patterns of a validated form; `sample`: an open file, a text, or None for none."""
    patterns = form.output_patterns
    lines = _tried(patterns, sample) if sample else {part: _valid(part, patterns) for part in PARTS}
    for part in PARTS:
        lines[part] += [("bad", str(error)) for error in form.errors.get(part, [])]
    return [FieldFinding(part, lines[part]) for part in PARTS]


_Lines = dict[str, list[tuple[str, str]]]


def _valid(part: str, patterns: OutputPatterns) -> list[tuple[str, str]]:
    return [("", "This can be looked for.")] if getattr(patterns, part) else []


def _tried(patterns: OutputPatterns, sample: BinaryIO | str) -> _Lines:
    file = BytesIO(sample.encode("utf-8", "replace")) if isinstance(sample, str) else sample
    budget = Budget(_MOST_SECONDS, time.thread_time)
    lines: _Lines = {part: [] for part in PARTS}
    try:
        result = search_output(file, patterns, budget, 2 * settings.PORTAL.output_limit)
    except OutputTooSlowError as error:
        for part in PARTS:
            lines[part] += [("bad", f"Looking for {error.pattern} takes too long.")] if getattr(patterns, part) else []
        return lines
    if patterns.success:
        missing = "No line matches: such a job has failed."
        lines["success"] = [("good", f"Found: “{result.success.line}”.") if result.success else ("bad", missing)]
    if patterns.failure:
        failed = f"Found: “{result.failure.line}”. Such a job has failed." if result.failure else ""
        lines["failure"] = [("bad", failed) if failed else ("good", "No line matches.")]
    if patterns.seconds:
        lines["seconds"] = [_number(result.seconds, "s")]
    lines["figures"] = [
        _number(result.figures.get(name), each.unit, f"{name}: ") for name, each in patterns.figures.items()
    ]
    if patterns.progress:
        lines["progress"] = [_steps(file, patterns.progress)]
    return lines


def _steps(file: BinaryIO, progress: ProgressPattern) -> tuple[str, str]:
    file.seek(0)
    steps = [line.step for line in lines_of(file.read(_MOST_BYTES), progress)]
    if not steps:
        return "risk", "No line tells a step."
    return "good", f"{len(steps)} lines tell a step, the last one step {steps[-1]:g}."


def _number(finding: NumberFinding | None, unit: str, name: str = "") -> tuple[str, str]:
    if finding is None:
        return "risk", f"{name}No line matches."
    line, captured = finding.occurrence.line, finding.occurrence.captured or ""
    if finding.value is None:
        return "risk", f"{name}“{captured}” is no number that counts. The line: “{line}”."
    return "good", f"{name}{sig(finding.value)} {unit}".strip() + f". The line: “{line}”."
