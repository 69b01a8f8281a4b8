"""The state directory of a Grid: where its record, socket, log and per-node files lie.

A Unix socket's path may have 107 bytes, and MPICH's mpiexec splits the name of its launcher at spaces. Where the state
directory is deeper than that, or has other than plain characters in its path, both lie in a short private directory,
and the record says where.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gridportal.base import atomic_file, file_lock, folders
from gridportal.base.errors import BackendError

_LONGEST_SOCKET = 100
_PLAIN = re.compile(r"[\w./+@%:,=~-]+", re.ASCII)
_LAUNCHER = "enter-node"
_WAITING = "waiting-ranks.so"
_CLEARING = 120.0  # seconds that clearing away what a crash has left may take
_CHECKOUT = Path(__file__).resolve().parents[2]


def default_directory() -> Path:
    """$GRIDPORTAL_HOME/grid; GRIDPORTAL_HOME is <checkout>/var unless set."""
    home = os.environ.get("GRIDPORTAL_HOME")
    return (Path(home) if home else _CHECKOUT / "var") / "grid"


def write_atomically(path: Path, document: Any) -> None:
    """Write JSON so that a reader sees the old text or the new one, never half."""
    atomic_file.write(path, json.dumps(document))


class State:
    """The files of one Grid. `root` is made private (0700) when it is made.

    `socket` is where its daemon listens, for the daemon itself: beside it lies the launcher that mpiexec is told of.
    """

    def __init__(self, root: str | Path, socket: str | Path | None = None) -> None:
        self.root = Path(root).absolute()
        self.record_file = self.root / "grid.json"
        self.log = self.root / "gridd.log"
        self.runs = self.root / "runs.jsonl"
        self.hosts = self.root / "hosts"
        self.launcher = (Path(socket).parent if socket else self.root) / _LAUNCHER
        self.waiting = self.launcher.with_name(_WAITING)
        self.rules = self.root / "rules.json"
        self.owners = self.root / "owners.json"
        self.doors = self.root / "doors"
        self.scratch = self.root / "scratch"
        self.lock = self.root / "up.lock"
        self.agents = self.root / "agents"
        self.agent_key = self.agents / "key"
        self.depots = self.agents / "depots.json"

    def prepare(self) -> None:
        """Make the directory and forget what an earlier Grid left, except the table of its runs."""
        self._make()
        for left in (self.root / "nodes", self.doors, self.agents, *self.root.glob("command-*")):
            shutil.rmtree(left, ignore_errors=True)
        self.scratch.mkdir(exist_ok=True)
        self.doors.mkdir(mode=0o700, exist_ok=True)

    def _make(self) -> None:
        default = default_directory()
        if self.root == default.absolute():
            folders.home(default.parent)
            folders.private(self.root, folders.HOME, given=default.parent)
        else:
            folders.private(self.root, "state_dir")

    def node(self, name: str) -> Path:
        """The folder of one node: its `pid`, `cgroup` and `scratch`."""
        return self.root / "nodes" / name

    def depot(self, name: str) -> Path:
        """What the depot of one node keeps; as on a disk of the node's own it is there for the next Grid, too."""
        return self.root / "depots" / name

    def agent(self, name: str) -> str:
        """Where the agent of one node listens."""
        return f"unix:{self.agents / name}.sock"

    def write_launcher(self, script: str) -> None:
        """What mpiexec calls in place of ssh; a link where it lies elsewhere, since /tmp may forbid programs."""
        real = self.root / _LAUNCHER
        real.write_text(script, encoding="utf-8")
        real.chmod(0o700)
        if self.launcher != real:
            self.launcher.unlink(missing_ok=True)
            self.launcher.symlink_to(real)

    def new_socket(self) -> str:
        """An address for the daemon's socket that is short and plain enough."""
        path = str(self.root / "gridd.sock")
        if len(path.encode()) > _LONGEST_SOCKET or not _PLAIN.fullmatch(path):
            path = str(Path(tempfile.mkdtemp(prefix="gridportal-", dir="/tmp")) / "gridd.sock")
        return path

    def record(self) -> dict[str, Any] | None:
        """What the last `up` wrote: pid, start_time, socket, topology, mode; None when there was none."""
        try:
            document = json.loads(self.record_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else None

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Nobody else clears away or brings up a Grid here meanwhile. Raises BackendError where one does not end."""
        self._make()
        with file_lock.hold(self.lock, _CLEARING) as ours:
            if not ours:
                raise BackendError(f"Another command has been clearing the Grid in {self.root} for {_CLEARING:g} s.")
            yield

    def forget(self) -> None:
        """Remove the record and all sockets, and their private directory where they had one."""
        record = self.record()
        if record and record.get("socket"):
            path = Path(record["socket"])
            path.unlink(missing_ok=True)
            if path.parent != self.root:
                with contextlib.suppress(OSError):
                    (path.parent / _LAUNCHER).unlink(missing_ok=True)
                    path.parent.rmdir()
        for left in (self.agents, self.doors):
            shutil.rmtree(left, ignore_errors=True)
        self.record_file.unlink(missing_ok=True)
