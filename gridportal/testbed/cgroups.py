"""One control group per node, where this machine lets us: equal shares of the processor, and a quota for slow nodes.

A node of speed 0.45 gets 45 % of one core. Where nothing is writable there are no groups, and that is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from gridportal.testbed.state import State

_PERIOD = 100_000


def make(state: State, speeds: Mapping[str, float]) -> dict[str, Path]:
    """A group per node, by its name; empty when this machine permits none."""
    for base, version in _hierarchies():
        with contextlib.suppress(OSError):
            return _fill(base / _name(state), version, speeds)
    remove(state)
    return {}


def remove(state: State) -> None:
    """Remove the groups of this state directory's Grid, living or crashed; those still in use stay."""
    for top in existing(state):
        for _ in range(10):
            if _removed(top):
                break
            time.sleep(0.05)


def existing(state: State) -> list[Path]:
    """The top groups that this state directory's Grid has, or has left."""
    return [base / _name(state) for base, _ in _hierarchies() if (base / _name(state)).is_dir()]


def writable_place() -> Path | None:
    """Where the groups of a Grid would be made; None when no hierarchy that controls the processor is writable."""
    for base, version in _hierarchies():
        controls = version == 1 or "cpu" in _words(base / "cgroup.controllers")
        if controls and os.access(base, os.W_OK):
            return base
    return None


def add(group: Path, pid: int) -> None:
    """Put a process into a group. OSError when it is gone."""
    (group / "cgroup.procs").write_text(str(pid), encoding="ascii")


def _removed(top: Path) -> bool:
    try:
        for child in [path for path in top.iterdir() if path.is_dir()]:
            child.rmdir()
        top.rmdir()
    except OSError:
        return False
    return True


def _name(state: State) -> str:
    return "gridportal-" + hashlib.sha256(str(state.root).encode()).hexdigest()[:12]


def _fill(top: Path, version: int, speeds: Mapping[str, float]) -> dict[str, Path]:
    if version == 2:
        (top.parent / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
    top.mkdir(exist_ok=True)
    if version == 2:
        (top / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
    groups = {name: top / name for name in speeds}
    for name, group in groups.items():
        group.mkdir(exist_ok=True)
        if speeds[name] < 1:
            _limit(group, version, speeds[name])
    return groups


def _limit(group: Path, version: int, speed: float) -> None:
    quota = max(1000, round(speed * _PERIOD))
    if version == 2:
        (group / "cpu.max").write_text(f"{quota} {_PERIOD}", encoding="ascii")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD), encoding="ascii")
        (group / "cpu.cfs_quota_us").write_text(str(quota), encoding="ascii")


def _hierarchies() -> list[tuple[Path, int]]:
    """Our own places in the hierarchies that control the processor, with their versions."""
    places = _own_paths()
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            left, _, right = line.partition(" - ")
            kind, _, options = right.split(" ", 2)
            target = Path(left.split()[4])
            if kind == "cgroup" and "cpu" in options.split(","):
                found.append((target / places.get("cpu", "/").lstrip("/"), 1))
            elif kind == "cgroup2":
                found.append((target / places.get("", "/").lstrip("/"), 2))
    return found


def _words(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return file.read_text(encoding="ascii").split()
    return []


def _own_paths() -> dict[str, str]:
    paths: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, names, path = line.split(":", 2)
            paths |= dict.fromkeys(names.split(","), path)
    return paths
