"""What one run is to be started with, as a value: who it is, what it sees, what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: Where a run finds the way to its other nodes.
DOOR = "/run/gridportal"
#: With a signal's number: for the run's command alone, not for all of its processes.
ONE = 128


@dataclass(frozen=True, slots=True)
class Identity:
    """The user and group that a run's processes belong to; `name` is what programs are told."""

    uid: int
    gid: int
    name: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use at most: processes of its user and on a node, open files of each, bytes of /tmp and /dev/shm
    on a node, bytes of memory on a node (0: half of the machine's)."""

    processes: int = 4096
    open_files: int = 4096
    memory_files: int = 2**30
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A file or folder `source` that a run finds at `target`; `replaces`: even where it would see something there."""

    source: str
    target: str
    writable: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One node as a run enters it: its namespaces (kind to descriptor), control groups, what is shown only there."""

    namespaces: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[Path, ...] = ()
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """A run to start: `argv` on the first of `places`, in `folder`, with `env` (and the node's name for each node).

    `identity` None: as whoever runs the Grid. `hidden` are folders that look empty but for what of them is shown.
    `door` is the run's folder of that name as the daemon sees it. `own_users`: a user namespace is needed first.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    folder: str
    places: Mapping[str, Place]
    door: str
    identity: Identity | None = None
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()
    own_users: bool = False
