"""What the form does not take of the #SBATCH lines of a script, a sentence for each."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.accepted_values import one_of
from scheduling.jobs.core.batch_lines import UnreadOption

_MOST_NAMED = 12


def unread_option(option: UnreadOption) -> str:
    """Of an option that cannot be read, or has no field.

    >>> unread_option(UnreadOption("--nodes=2-4", "one whole number from 1 to 1000000"))
    '--nodes=2-4 cannot be read; accepted is one whole number from 1 to 1000000.'
    >>> unread_option(UnreadOption("--mail-type=END"))
    '--mail-type=END: the form has no field for it.'
    """
    if option.accepted:
        return f"{option.written} cannot be read; accepted is {option.accepted}."
    return f"{option.written}: the form has no field for it."


def passed_lines(count: int) -> str:
    """Of lines that do not count."""
    lines = "1 more line #SBATCH does" if count == 1 else f"{count} more lines #SBATCH do"
    return f"{lines} not count: only the first 200 before the first command do."


def no_cluster_options(option: str, value: object) -> str:
    """Of an option that no cluster has."""
    written = f"--{option}" if value is True else f"--{option}={value}"
    return f"{written}: no cluster of this portal has such a choice."


def not_offered(option: str, value: object, cluster: str, choices: Sequence[str]) -> str:
    """Of a partition, account, QOS or reservation that a cluster has not."""
    return f"--{option}={value}: {cluster} has no such {option}; accepted is {one_of(choices, _MOST_NAMED)}."


def unknown_job(number: int) -> str:
    """Of a job that this person cannot see, or that there is not."""
    return f"--dependency: you can see no job {number} of this portal; enter the job’s number here, not that of Slurm."


def after_begin(number: int) -> str:
    """Of a job that has to begin only."""
    return f"--dependency=after:{number}: the portal waits until job {number} has ended, not only until it begins."


def gres_not_shared(value: object, ranks: int) -> str:
    """Of GRES of a node that cannot be shared out among its ranks."""
    share = f"cannot be shared out evenly among {ranks} ranks there"
    return f"--gres={value} is of each node, and {share}; enter GRES of each rank."
