"""The `#SBATCH` lines of a batch script, as what the submit form asks for.

Slurm reads options from the comments before the first command; so does this. What the form has no field for is named,
never dropped in silence. Source: the manual of sbatch, Slurm 24.11.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gridportal.base.errors import InputError
from gridportal.base.sizes import in_unit
from scheduling.jobs.core.batch_dependencies import Dependencies, read_dependencies
from scheduling.jobs.core.cluster_options import ClusterOptions

_PREFIX = re.compile(r"#SBATCH\s+")
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
    "d": "dependency",
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
_TIME = re.compile(r"(?:([0-9]{1,4})-)?([0-9]{1,6})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?")
_UNLIMITED = ("infinite", "unlimited", "0")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class UnreadOption:
    """An option that says nothing to the form, as it was written. accepted: what its field takes; empty where there is
    no field for it."""

    written: str
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class BatchLines:
    """What was read. `fields`: first values of the form by its names (seconds, MB); `options`: those of a cluster by
    theirs; memory there is MB on each node. `dependencies`: the jobs that others are named as. `unread`: the options
    that say nothing to the form; `passed`: how many lines do not count, for they stand behind the first command or
    are too many.
    """

    fields: Mapping[str, int | str] = field(default_factory=dict)
    options: Mapping[str, int | str] = field(default_factory=dict)
    dependencies: Dependencies = field(default_factory=Dependencies)
    unread: tuple[UnreadOption, ...] = ()
    passed: int = 0


def read_batch_lines(text: str) -> BatchLines:
    """The options of a batch script; the last of two counts, as for sbatch.

    >>> lines = read_batch_lines("#!/bin/bash\\n#SBATCH -N 2 --ntasks=8\\n#SBATCH --time=1:30:00 --mail-type=END")
    >>> dict(lines.fields), lines.unread
    ({'node_count': 2, 'ranks': 8, 'time_limit': 5400}, (UnreadOption(written='--mail-type=END', accepted=''),))
    """
    lines, passed = _lines(text)
    read, unread = _Values(), []
    for name, value, written in (each for line in lines for each in _options_of(line)):
        try:
            is_read = read.take(name, value)
        except InputError as error:
            unread.append(UnreadOption(written[:_LONGEST], error.accepted))
        else:
            unread += [] if is_read else [UnreadOption(written[:_LONGEST])]
    return BatchLines(read.form_fields(), read.options, read.dependencies, tuple(unread), passed)


@dataclass(slots=True)
class _Values:
    """What the options that were read so far say."""

    fields: dict[str, int | str] = field(default_factory=dict)
    options: dict[str, int | str] = field(default_factory=dict)
    dependencies: Dependencies = field(default_factory=Dependencies)
    per_cpu: int = 0

    def take(self, name: str, value: str) -> bool:
        """Whether the form has a field for this option. Raises InputError where the field cannot have the value."""
        if name in _COUNTS:
            self.fields[_COUNTS[name]] = _count(name, value)
        elif name == "job-name":
            self.fields["name"] = _job_name(value)
        elif name == "time":
            self._take_time(value)
        elif name == "mem":
            self.options["memory"] = _megabytes(name, value)
        elif name == "mem-per-cpu":
            self.per_cpu = _megabytes(name, value)
        elif name == "dependency":
            self.dependencies = read_dependencies(value)
        elif name == "exclusive" and not value:
            self.options["exclusive"] = True
        elif name in _TEXTS:
            self.options[name] = str(ClusterOptions.read({name: value or "-"}).document()[name])
        else:
            return False
        return True

    def _take_time(self, value: str) -> None:
        self.fields.pop("time_limit", None)
        if value.lower() not in _UNLIMITED:
            self.fields["time_limit"] = _seconds(value)

    def form_fields(self) -> dict[str, int | str]:
        """With the memory of a processor as that of a rank."""
        if not self.per_cpu:
            return self.fields
        return self.fields | {"memory_per_rank": self.per_cpu * int(self.fields.get("cpus_per_rank", 1))}


def _lines(text: str) -> tuple[list[str], int]:
    """The options of each line up to the first command, and how many lines behind it or beyond the most there are."""
    every = text.splitlines()
    commands = (at for at, line in enumerate(every) if line.strip() and not line.lstrip().startswith("#"))
    first = next(commands, len(every))
    found = [line[match.end() :] for line in every[:first] if (match := _PREFIX.match(line))]
    behind = sum(bool(_PREFIX.match(line)) for line in every[first:])
    return found[:_MOST_LINES], behind + max(0, len(found) - _MOST_LINES)


def _options_of(line: str) -> Iterator[tuple[str, str, str]]:
    """Name, value and text of each option of a line."""
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


def _count(name: str, value: str) -> int:
    """A whole number; not a range, as --nodes=2-4 has it: the form has one number. Raises InputError."""
    fits = value.isascii() and value.isdecimal() and len(value) <= 7 and 1 <= int(value) <= _MOST_COUNT
    if not fits:
        raise InputError(name, value, f"one whole number from 1 to {_MOST_COUNT}")
    return int(value)


def _job_name(value: str) -> str:
    if not (value.isprintable() and 0 < len(value) <= _LONGEST):
        raise InputError("job-name", value, f"a name of 1 to {_LONGEST} characters")
    return value


def _megabytes(name: str, value: str) -> int:
    match = _MEMORY.fullmatch(value)
    if not match or not int(match[1]):
        raise InputError(name, value, "a size of more than 0, such as 500M or 4G")
    return max(1, round(in_unit(int(match[1]), match[2] or "M", "M")))


def _seconds(value: str) -> int:
    """Of minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds.
    Raises InputError.

    >>> [_seconds(text) for text in ("90", "1:30", "2:00:00", "1-6", "1-6:30")]
    [5400, 90, 7200, 108000, 109800]
    """
    match = _TIME.fullmatch(value)
    days, *parts = match.groups() if match else (None,)
    numbers = [int(part) for part in parts if part is not None]
    units = (60, 1) if days is None and len(numbers) < 3 else (3600, 60, 1)
    seconds = int(days or 0) * 86400 + sum(number * unit for number, unit in zip(numbers, units, strict=False))
    if not seconds:
        raise InputError("time", value, "minutes, such as 90, or a time such as 1:30:00 or 1-06:00:00")
    return seconds
