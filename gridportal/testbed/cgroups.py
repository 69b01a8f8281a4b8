"""One control group per node, where this machine lets us: a share of the processors, and a quota.

What else nodes are limited in stands in `node_limits`; here is where all these groups lie and how they go.

A node of one processor and speed 1 gets one core at most, however many are idle, so that a busy process on it leaves
half of it and not another core; one of c processors gets c cores, and c times the weight where all are busy. One of
speed 0.45 gets 45 % of that; where speeds differ and the machine has fewer cores than they add up to, all get less in
proportion, so that the relative speeds of whole nodes hold with every node busy.
Where nothing is writable there are no groups, and that is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gridportal.testbed import kernel
from gridportal.testbed.state import State

_PERIOD = 20_000  # short: a throttled rank holds up those that wait for its messages
_LEAST = 1_000  # the kernel takes no smaller quota
_PREFIX = "gridportal-"
_NEEDED = frozenset(("cpu", "memory", "pids"))
_OCCUPIED = "@in-use"  # the group of a process that lives as long as the Grid; no node may have an @ in its name
_REST = "@rest"  # below a node's group in version 2: what has no group of its own there
_NOTES = ("trusted.gridportal.state", "user.gridportal.state")  # attributes of a group; the first is for root


def make(state: State, nodes: Iterable[str]) -> dict[str, Path]:
    """A group per node, by its name, without a limit yet; empty when this machine permits none."""
    names = list(nodes)
    for base, version in _hierarchies():
        with contextlib.suppress(OSError):
            groups = fill(base, version, "cpu", state, names)
            for group in groups.values():
                _limit(group, None)
            return groups
    remove(state)
    return {}


def fill(base: Path, version: int, controller: str, state: State, nodes: Iterable[str]) -> dict[str, Path]:
    """Groups below `base` for a Grid's nodes, with a note of whose they are. OSError where that cannot be."""
    top = base / name(state)
    if version == 2:
        (base / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
    top.mkdir(exist_ok=True)
    if version == 2:
        (top / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
    groups = {node: top / node for node in nodes}
    for group in groups.values():
        group.mkdir(exist_ok=True)
    _note_owner(top, state)
    return groups


def occupy(state: State) -> None:
    """Let a process that does nothing sit in all groups of this Grid until this process, its daemon, ends.

    A group with a process in it cannot be removed: so no other Grid takes these for left behind, not even one in
    another mount namespace, which finds nothing where the note says that this one is.
    """
    tops = existing(state)
    if not tops or os.fork() != 0:
        return
    try:
        kernel.die_with_parent(signal.SIGKILL)
        os.setsid()
        for top in tops:
            with contextlib.suppress(OSError):
                (top / _OCCUPIED).mkdir(exist_ok=True)
                join(top / _OCCUPIED)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        while True:
            signal.pause()
    finally:
        os._exit(1)


def limit(groups: Mapping[str, Path], speeds: Mapping[str, float], cpus: Mapping[str, int], cores: int) -> None:
    """Hold every node to its share of the cores, and weigh it by its processors; a machine that has no more cores need
    not hold it. OSError when the kernel refuses."""
    for name, share in shares(speeds, cpus, cores).items():
        if name in groups:
            _weigh(groups[name], cpus[name])
            if share < cores:
                _limit(groups[name], max(_LEAST, round(share * _PERIOD)))


def hold(group: Path, cores: float, times: int) -> None:
    """Give what is in `group` so many cores at most, and the weight of `times` processes. OSError."""
    _weigh(group, times)
    _limit(group, max(_LEAST, round(cores * _PERIOD)))


def shares(speeds: Mapping[str, float], cpus: Mapping[str, int], cores: int) -> dict[str, float]:
    """How many cores each node gets.

    >>> one = dict.fromkeys(("msc1", "opus1", "opus2"), 1)
    >>> shares({"msc1": 1.0, "opus1": 0.5, "opus2": 0.5}, one, cores=1)
    {'msc1': 0.5, 'opus1': 0.25, 'opus2': 0.25}
    >>> shares({"n1": 1.0, "n2": 1.0, "n3": 1.0}, {"n1": 1, "n2": 1, "n3": 4}, cores=2)
    {'n1': 1.0, 'n2': 1.0, 'n3': 4.0}
    """
    return {name: cpus[name] * part for name, part in parts(speeds, cpus, cores).items()}


def parts(speeds: Mapping[str, float], cpus: Mapping[str, int], cores: int) -> dict[str, float]:
    """How much of a core each node's processors are.

    >>> parts({"msc1": 1.0, "opus1": 0.5}, {"msc1": 2, "opus1": 2}, cores=2)
    {'msc1': 0.6666666666666666, 'opus1': 0.3333333333333333}
    """
    unit = reference_share(speeds, cpus, cores)
    return {name: min(1.0, speed * unit) for name, speed in speeds.items()}


def reference_share(speeds: Mapping[str, float], cpus: Mapping[str, int], cores: int) -> float:
    """The part of a core of this machine that a processor of speed 1 is.

    >>> reference_share({"msc1": 1.0, "opus1": 0.5, "opus2": 0.5}, {"msc1": 1, "opus1": 1, "opus2": 1}, cores=1)
    0.5
    """
    alike = len(set(speeds.values())) == 1
    return 1.0 if alike else min(1.0, cores / sum(speed * cpus[name] for name, speed in speeds.items()))


def favour(state: State, times: int) -> None:
    """Let the whole Grid weigh as much as `times` processes of its machine, for what must not be disturbed.

    Without that all nodes together weigh as one process (or one session, where the kernel groups these), and whatever
    runs beside the Grid slows its programs down.
    """
    for top in [group for group in possible(state) if group.is_dir()]:
        _weigh(top, times)


def remove(state: State) -> None:
    """Remove the groups of this state directory's Grid, living or crashed; those still in use stay."""
    for top in existing(state):
        for _ in range(10):
            if _removed(top):
                break
            time.sleep(0.05)


def existing(state: State) -> list[Path]:
    """The top groups that this state directory's Grid has, or has left, of whatever controller."""
    return [group for group in everywhere(state) if group.is_dir()]


def possible(state: State) -> list[Path]:
    """Where the top groups for the processor of this state directory's Grid would be."""
    return [base / name(state) for base, _ in _hierarchies()]


def everywhere(state: State) -> list[Path]:
    """Where its top groups of whatever controller would be."""
    return [base / name(state) for base in _bases()]


def abandoned(is_up: Callable[[State], bool]) -> list[Path]:
    """Top groups of any Grid that is not up as far as is seen from here, by the state directory noted on them."""
    found = []
    for base in _bases():
        for top in base.glob(f"{_PREFIX}*"):
            owner = _owner(top)
            if owner is not None and not is_up(owner):
                found.append(top)
    return found


def sweep(is_up: Callable[[State], bool]) -> None:
    """Remove what crashed Grids have left, wherever their state directories are."""
    for top in abandoned(is_up):
        _removed(top)


def writable_place() -> Path | None:
    """Where the groups of a Grid would be made; None when no hierarchy that controls the processor is writable."""
    for base, version in _hierarchies():
        controls = version == 1 or "cpu" in _names_in(base / "cgroup.controllers")
        if controls and os.access(base, os.W_OK):
            return base
    return None


def add(group: Path, pid: int) -> None:
    """Put a process into a group. OSError when it is gone."""
    (inner(group) / "cgroup.procs").write_text(str(pid), encoding="ascii")


def hand_on(group: Path, controller: str) -> None:
    """Let groups below `group` have limits of their own by `controller`, "memory" or "cpu". OSError.

    In version 2 its processes go to a group below it first, and later ones join that; in version 1 what the groups
    below take of memory counts for it too where the kernel leaves that to be said.
    """
    if not (group / "cgroup.subtree_control").exists():
        with contextlib.suppress(OSError):  # it counts already, or it never does
            if (group / "memory.use_hierarchy").exists():
                (group / "memory.use_hierarchy").write_text("1", encoding="ascii")
        return
    rest = group / _REST
    rest.mkdir(exist_ok=True)
    for pid in _names_in(group / "cgroup.procs"):
        with contextlib.suppress(ProcessLookupError):
            (rest / "cgroup.procs").write_text(pid, encoding="ascii")
    (group / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")


def tasks(group: Path) -> list[str]:
    """The threads in a group and in those below it. OSError when it is gone."""
    file = "tasks" if (group / "tasks").exists() else "cgroup.threads"
    groups = [group, *(path for path in group.iterdir() if path.is_dir())]
    return [name for each in groups for name in _names_in(each / file)]


def inner(group: Path) -> Path:
    """Where the processes of a group are: itself, or the group below it for those that have none of their own."""
    return group / _REST if (group / _REST).is_dir() else group


def join(group: Path) -> None:
    """Put this process, which must have one thread only, into a group. OSError.

    In version 1 as a thread: for a whole process the kernel waits until no other one forks or ends (5.4).
    """
    group = inner(group)
    file = "tasks" if (group / "tasks").exists() else "cgroup.procs"
    (group / file).write_text("0", encoding="ascii")


def name(state: State) -> str:
    """What the top groups of this state directory's Grid are called. The same path may be another folder in another
    mount namespace of this machine, so the folder itself counts."""
    about = state.root.stat() if state.root.exists() else None
    folder = f"{about.st_dev}:{about.st_ino}:" if about else ""
    return _PREFIX + hashlib.sha256(f"{folder}{state.root}".encode()).hexdigest()[:12]


def _removed(top: Path) -> bool:
    try:
        children = [path for path in top.iterdir() if path.is_dir()]
        for child in sorted(children, key=lambda each: each.name != _OCCUPIED):  # first what tells of a living Grid
            for below in [path for path in child.iterdir() if path.is_dir()]:
                below.rmdir()
            child.rmdir()
        top.rmdir()
    except OSError:
        return False
    return True


def _note_owner(top: Path, state: State) -> None:
    """Write the state directory onto the group itself, so that nothing else has to be kept; not everybody may."""
    for note in _NOTES:
        with contextlib.suppress(OSError):
            os.setxattr(top, note, os.fsencode(state.root))
            return


def _owner(top: Path) -> State | None:
    for note in _NOTES:
        with contextlib.suppress(OSError):
            return State(os.fsdecode(os.getxattr(top, note)))
    return None


def _limit(group: Path, quota: int | None) -> None:
    """Microseconds of each period; None for no limit."""
    if _is_v2(group):
        (group / "cpu.max").write_text(f"{quota or 'max'} {_PERIOD}", encoding="ascii")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD), encoding="ascii")
        (group / "cpu.cfs_quota_us").write_text(str(quota or -1), encoding="ascii")


def _weigh(group: Path, times: int) -> None:
    """As much as so many processes outside of any group."""
    file, value = ("cpu.weight", min(10_000, 100 * times)) if _is_v2(group) else ("cpu.shares", 1024 * times)
    (group / file).write_text(str(value), encoding="ascii")


def _is_v2(group: Path) -> bool:
    return (group / "cpu.max").exists()


def _hierarchies() -> list[tuple[Path, int]]:
    """Our own places in the hierarchies that control the processor, with their versions."""
    return places("cpu")


def _bases() -> list[Path]:
    """Our own places in all hierarchies that a Grid has groups in."""
    return list(dict.fromkeys(base for base, _ in [*_hierarchies(), *places("memory"), *places("pids")]))


def places(controller: str) -> list[tuple[Path, int]]:
    """Where groups of ours would be in the hierarchies that may have `controller`, with their versions."""
    return [(own if version == 1 else _with_room(own, top), version) for top, own, version in _mounted(controller)]


def limiting(controller: str) -> list[Path]:
    """The groups that we are in, and all above them, in the hierarchies that may have `controller`."""
    return [each for top, own, _ in _mounted(controller) for each in _upwards(own, top)]


def _mounted(controller: str) -> list[tuple[Path, Path, int]]:
    """Of each such hierarchy the top, our own group, and the version."""
    own = _own_paths()
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            left, _, right = line.partition(" - ")
            kind, _, options = right.split(" ", 2)
            target = Path(left.split()[4])
            if kind == "cgroup" and controller in options.split(","):
                found.append((target, target / own.get(controller, "/").lstrip("/"), 1))
            elif kind == "cgroup2":
                found.append((target, target / own.get("", "/").lstrip("/"), 2))
    return found


def _with_room(own: Path, top: Path) -> Path:
    """The nearest group, from our own upwards, that may give groups of ours most of what they need (version 2).

    Not our own as a rule: a group with processes in it hands no controller on to others (cgroups(7)), and as a service
    or session of systemd we are in such a one, with other processes beside us that are not ours to move.
    """
    roomy = [each for each in _upwards(own, top) if _may_hand_on(each)]
    return max(roomy, key=lambda each: len(_NEEDED.intersection(_names_in(each / "cgroup.controllers"))), default=own)


def _may_hand_on(group: Path) -> bool:
    is_root = not (group / "cgroup.type").exists()  # which alone may have processes too
    return os.access(group, os.W_OK) and (is_root or not _names_in(group / "cgroup.procs"))


def _upwards(group: Path, top: Path) -> list[Path]:
    return [each for each in (group, *group.parents) if each.is_relative_to(top)]


def _names_in(file: Path) -> list[str]:
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
