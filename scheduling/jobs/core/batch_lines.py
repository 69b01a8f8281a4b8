"""The `#SBATCH` lines of a batch script, as what the submit form asks for.

Slurm reads options from the comments before the first command; so does this. What the form has no field for is named,
never dropped in silence. Source: the manual of sbatch, Slurm 24.11.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_PREFIX = "#SBATCH"
_SHORT = {
    "N": "nodes",
    "n": "ntasks",
    "c": "cpus-per-task",
    "t": "time",
    "J": "job-name",
    "p": "partition",
    "A": "account",
    "q": "qos",
    "C": "constraint",
}
#: Options of a cluster, which have the same names in the form.
_TEXTS = ("partition", "account", "qos", "constraint", "reservation", "gres")
_COUNTS = {
    "nodes": "node_count",
    "ntasks": "ranks",
    "ntasks-per-node": "ranks_per_node",
    "cpus-per-task": "cpus_per_rank",
}
_MOST_LINES, _MOST_COUNT = 200, 10**6
_MEMORY = re.compile(r"([0-9]{1,9})([KMGT]?)B?", re.IGNORECASE)
_MB = {"K": 1 / 1024, "M": 1, "": 1, "G": 1024, "T": 1024**2}
_TIME = re.compile(r"(?:([0-9]{1,4})-)?([0-9]{1,6})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?")
_UNLIMITED = ("infinite", "unlimited", "0")


@dataclass(frozen=True, slots=True)
class BatchLines:
    """What was read. `fields`: first values of the form by its names (seconds, MB); `options`: those of a cluster by
    theirs; memory there is MB on each node. `unread`: the options that say nothing to the form, as they were written.
    """

    fields: Mapping[str, int | str] = field(default_factory=dict)
    options: Mapping[str, int | str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def read_batch_lines(text: str) -> BatchLines:
    """The options of a batch script; the last of two counts, as for sbatch.

    >>> lines = read_batch_lines("#!/bin/bash\\n#SBATCH -N 2 --ntasks=8\\n#SBATCH --time=1:30:00 --mail-type=END")
    >>> dict(lines.fields), lines.unread
    ({'node_count': 2, 'ranks': 8, 'time_limit': 5400}, ('--mail-type=END',))
    """
    fields: dict[str, int | str] = {}
    options: dict[str, int | str] = {}
    unread = []
    per_cpu: int | None = None
    for name, value, written in _options(text):
        if name in _COUNTS and (count := _count(value)):
            fields[_COUNTS[name]] = count
        elif name == "time" and (value in _UNLIMITED or _seconds(value)):
            fields.update({} if value in _UNLIMITED else {"time_limit": _seconds(value) or 0})
        elif name == "job-name" and value.isprintable() and 0 < len(value) <= 120:
            fields["name"] = value
        elif name == "mem" and (size := _megabytes(value)):
            options["memory"] = size
        elif name == "mem-per-cpu" and (size := _megabytes(value)):
            per_cpu = size
        elif name in _TEXTS and value.isprintable() and 0 < len(value) <= 100:
            options[name] = value
        else:
            unread.append(written[:120])
    if per_cpu:
        cpus = fields.get("cpus_per_rank", 1)
        fields["memory_per_rank"] = per_cpu * int(cpus)
    return BatchLines(fields, options, tuple(unread))


def _options(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, value and text of each option, up to the first command."""
    read = 0
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return
        if not line.startswith(_PREFIX + " ") or read >= _MOST_LINES:
            continue
        read += 1
        yield from _options_of(line.removeprefix(_PREFIX))


def _options_of(line: str) -> Iterator[tuple[str, str, str]]:
    try:
        args = shlex.split(line, comments=True)
    except ValueError:
        yield "", "", line.strip()
        return
    while args:
        word = args.pop(0)
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            name, value = _SHORT.get(word[1:2], "") if word.startswith("-") else "", word[2:]
            has_value = value
        if not has_value and args and not args[0].startswith("-"):
            value = args.pop(0)
            word = f"{word} {value}"
        yield name, value, word


def _count(value: str) -> int | None:
    """A whole number; of a range, as --nodes=2-4 has it, nothing: the form has one number."""
    fits = value.isascii() and value.isdecimal() and len(value) <= 7 and 1 <= int(value) <= _MOST_COUNT
    return int(value) if fits else None


def _megabytes(value: str) -> int | None:
    match = _MEMORY.fullmatch(value)
    return max(1, round(int(match[1]) * _MB[match[2].upper()])) if match and int(match[1]) else None


def _seconds(value: str) -> int | None:
    """Of minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds.

    >>> [_seconds(text) for text in ("90", "1:30", "2:00:00", "1-6", "1-6:30", "x")]
    [5400, 90, 7200, 108000, 109800, None]
    """
    match = _TIME.fullmatch(value)
    if match is None:
        return None
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    units: tuple[int, ...] = (3600, 60, 1)
    if days is None and len(numbers) < 3:
        units = (60, 1)
    return int(days or 0) * 86400 + sum(number * unit for number, unit in zip(numbers, units, strict=False)) or None
