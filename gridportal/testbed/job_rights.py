"""What a job may do on a cluster, in words: for the page of its telemetry and for whoever runs the portal."""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.base.clusters import Cluster
from gridportal.testbed.sandbox.level import Isolation

_FILES = {
    Isolation.OWN_USER: "hidden from jobs, and closed to their users",
    Isolation.OWN_VIEW: "hidden from jobs",
}
_USERS = {
    Isolation.OWN_USER: "a user of their owner's own",
    Isolation.OWN_VIEW: "the user who runs the Grid",
    Isolation.NONE: "the user who runs the Grid",
}
_REMAINS = "use up its nodes' processor, fill the disk of run directories, read what everybody may read"
_SHARED = "this machine's: jobs reach each other and whatever listens on it, on 127.0.0.1 too"

_OPEN = "open to jobs: nothing keeps them apart here"
_HERE = [
    ("Jobs run as", "the user who runs the portal"),
    ("The portal's home, keys, database, sockets", _OPEN),
    ("Other people's runs, scratch and processes", _OPEN),
    ("Network", _SHARED),
    ("Memory, processes, open files, core files", "not limited by the portal"),
    ("What a job leaves running", "ends with it, also what has left its session"),
    ("What remains", "whatever the user who runs the portal may do"),
]


def rights(
    cluster: Cluster, isolation: Isolation, limits: Mapping[str, int] | None = None, mode: str = ""
) -> list[tuple[str, str]]:
    """What and how, row by row. `isolation`, `limits` of a node (memory in bytes, processes; 0 for none) and `mode` are
    what the cluster said last, if it says such things."""
    if cluster.traits.part_of_portal:
        return _on_grid(isolation, limits or {}, mode)
    return _HERE if cluster.traits.has_slots else _on_slurm(as_person=cluster.as_person)


def _on_grid(isolation: Isolation, limits: Mapping[str, int], mode: str) -> list[tuple[str, str]]:
    if isolation is Isolation.UNTESTED:
        return [("Jobs run as", "not known: the Grid has not said how far it keeps jobs apart")]
    open_ = "open to jobs: this machine permits no better"
    kept = isolation is not Isolation.NONE
    return [
        ("Jobs run as", _USERS[isolation]),
        ("The portal's home, keys, database, sockets", _FILES.get(isolation, open_)),
        ("Other people's runs, scratch and processes", _FILES.get(isolation, open_)),
        ("Rest of the machine's files", "read-only" if kept else open_),
        ("Network", _SHARED if mode == "unshaped" else "that of its nodes, shared with the jobs on these"),
        ("Open files, core files", "limited by settings" if kept else "not limited"),
        ("Memory", _memory(limits)),
        ("Processes", _processes(limits, isolation)),
        ("What a job leaves running", "ends with it" if kept else "ends with it, unless it clears its environment"),
        ("What remains", _REMAINS if kept else "whatever the user who runs the Grid may do"),
    ]


def _memory(limits: Mapping[str, int]) -> str:
    most = limits.get("memory", 0)
    return f"at most {most / 2**30:.3g} GiB on a node" if most else "not limited: no control group can be written here"


def _processes(limits: Mapping[str, int], isolation: Isolation) -> str:
    most, each = limits.get("processes", 0), isolation is Isolation.OWN_USER
    if most:
        return f"at most {most:,} on a node" + (", and of each owner" if each else "")
    return "limited by settings" if isolation is not Isolation.NONE else "not limited"


def _on_slurm(*, as_person: bool) -> list[tuple[str, str]]:
    closed = "closed to jobs by the rights of files" if as_person else "open to jobs: set a prefix with {user}"
    return [
        ("Jobs run as", "their owner" if as_person else "the user who runs the portal, or logs in for it"),
        ("The portal's home, keys, database, sockets", closed),
        ("Other people's runs and scratch", closed),
        ("Processes, open files, core files", "as Slurm and the nodes limit them"),
        ("What a job leaves running", "as ProctrackType of Slurm says"),
    ]
