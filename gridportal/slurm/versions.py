"""What kind of Slurm this is: one `scontrol show config` says version, cluster, accounting and memory of ended jobs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gridportal.base.errors import BackendError

#: The versions that this adapter was tried with: (major, minor), both ends included.
OLDEST, NEWEST = (22, 5), (25, 11)
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class Cluster:
    """`accounting`: sacct answers. `min_job_age`: seconds that an ended job stays in squeue. `starts_parts`: whether
    its scheduler starts jobs of several parts."""

    name: str
    version: tuple[int, int, int]
    accounting: bool
    min_job_age: float
    topology: str = ""
    starts_parts: bool = True

    @property
    def warning(self) -> str:
        """One sentence when the version is outside those that were tried, else ""."""
        if OLDEST <= self.version[:2] <= NEWEST:
            return ""
        low, high = (f"{major}.{minor:02d}" for major, minor in (OLDEST, NEWEST))
        return f"Slurm {'.'.join(map(str, self.version))} was not tried with this portal; {low} to {high} were."


def version(text: str) -> tuple[int, int, int]:
    """The version in a text; (0, 0, 0) when there is none.

    >>> version("slurm-wlm 22.05.8"), version("slurm 25.05"), version("?")
    ((22, 5, 8), (25, 5, 0), (0, 0, 0))
    """
    match = _VERSION.search(text)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def parse_config(output: str) -> Cluster:
    """The cluster from `scontrol show config`; BackendError when it is something else."""
    values: dict[str, str] = {}
    for line in output.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            values.setdefault(key.strip(), value.strip())
    if "SLURM_VERSION" not in values and "ClusterName" not in values:
        raise BackendError("scontrol show config gave an answer that is no configuration of Slurm.")
    age = re.match(r"\d+", values.get("MinJobAge", ""))
    storage = values.get("AccountingStorageType", "").lower()
    return Cluster(
        values.get("ClusterName", ""),
        version(values.get("SLURM_VERSION", "")),
        storage not in ("", "(null)", "none", "accounting_storage/none"),
        float(age[0]) if age else 300.0,
        values.get("TopologyPlugin", ""),
        values.get("SchedulerType", "sched/backfill") == "sched/backfill",
    )
