"""The jobs that `--dependency` of a batch script names, as the form has them.

Source: the manual of sbatch, Slurm 24.11.
"""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.base.errors import InputError
from scheduling.jobs.core.dependency import MOST, check_count

_ACCEPTED = f"after:, afterany: or afterok: with at most {MOST} numbers of jobs, such as afterok:12:15,afterany:16"


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Numbers of jobs. after_begin: those that have to begin only, for sbatch; they are among `after`, too."""

    after: tuple[int, ...] = ()
    after_ok: tuple[int, ...] = ()
    after_begin: tuple[int, ...] = ()


def read_dependencies(value: str) -> Dependencies:
    """What the option has. Raises InputError, also where one of several would do ("?"), as no field says that.

    >>> read_dependencies("afterok:12:15,afterany:16")
    Dependencies(after=(16,), after_ok=(12, 15), after_begin=())
    """
    numbers: dict[str, list[int]] = {"after": [], "afterany": [], "afterok": []}
    for part in value.split(","):
        kind, *jobs = part.split(":")
        if kind not in numbers or not jobs or not all(_is_number(job) for job in jobs):
            raise InputError("dependency", value, _ACCEPTED)
        numbers[kind] += map(int, jobs)
    lists = (numbers["after"] + numbers["afterany"], numbers["afterok"], numbers["after"])
    return Dependencies(*(check_count("dependency", each) for each in lists))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < len(str(2**63 - 1))
