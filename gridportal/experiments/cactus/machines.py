"""The paper's machines as nodes of a Grid of their own, and what keeps a node of one processor to one."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gridportal.experiments.cactus.time_slices import lengthen_slice
from gridportal.testbed import cgroups, topologies
from gridportal.testbed.state import State
from scheduling.matching.core.mapping.line_mapper import cactus
from scheduling.matching.core.mapping.mapper_interface import MapperMachine, MapperQuestion
from scheduling.performance.core.cactus_model import CactusMachine, power

TOPOLOGY = "cactus"
#: Seconds between two looks for processes that are not kept to their processor yet.
_LOOKED = 0.05
_PERIOD = 100_000  # microseconds


def topology_file(folder: Path, names: Iterable[str], unit: float) -> Path:
    """The shipped topology with these machines alone, the fastest processor being `unit` of one of this machine."""
    document, kept = json.loads(topologies.find(TOPOLOGY).read_text(encoding="utf-8")), set(names)
    document["nodes"] = [node for node in document["nodes"] if node["kind"] == "network" or node["id"] in kept]
    for node in document["nodes"]:
        if node["kind"] == "compute":
            node["speed"] = round(node["speed"] * unit, 5)
    there = {node["id"] for node in document["nodes"]}
    document["links"] = [link for link in document["links"] if link["source"] in there]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{'-'.join(sorted(kept))}-{unit:g}.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file.resolve()


def machines(names: Iterable[str], unit: float, loads: Mapping[str, float]) -> dict[str, CactusMachine]:
    """The machines by name, with the loads of those that have one."""
    document = json.loads(topologies.find(TOPOLOGY).read_text(encoding="utf-8"))
    nodes = {node["id"]: node for node in document["nodes"]}
    return {
        name: CactusMachine(
            name, nodes[name]["speed"] * unit, nodes[name]["cpus"], loads.get(name, 0.0), nodes[name]["site"]
        )
        for name in names
    }


def line_of(chosen: Sequence[CactusMachine], planes: int) -> list[tuple[CactusMachine, int]]:
    """The machines in the order of the mapper, with the planes that it gives them."""
    asked = tuple(
        MapperMachine(f"{each.name}.{each.site}.edu", each.cpus, 1 / power(each), {"cpuspeed": each.speed})
        for each in chosen
    )
    return [(chosen[share.place], int(share.share)) for share in cactus(MapperQuestion(asked, request={"z": planes}))]


def by_rank(line: Sequence[tuple[CactusMachine, float]]) -> tuple[list[str], list[float]]:
    """The nodes rank by rank, a node for each of its processors, and the share of each rank."""
    ranks = [(machine.name, planes / machine.cpus) for machine, planes in line for _ in range(machine.cpus)]
    return [name for name, _ in ranks], [planes for _, planes in ranks]


def lengthen_periods(state: State, nodes: Iterable[str]) -> None:
    """Hold nodes to their share over a tenth of a second and not a fiftieth, where they exchange nothing over links.

    A quota of some milliseconds is dealt out in pieces as large as itself, so that a node's second processor gets what
    the first has left.
    """
    for group in (top / node for top in cgroups.possible(state) for node in nodes):
        with suppress(OSError, ValueError):
            if (group / "cpu.max").exists():
                quota, period = map(int, (group / "cpu.max").read_text(encoding="ascii").split())
                (group / "cpu.max").write_text(f"{quota * _PERIOD // period} {_PERIOD}", encoding="ascii")
            else:
                files = (group / "cpu.cfs_quota_us", group / "cpu.cfs_period_us")
                quota, period = (int(file.read_text(encoding="ascii")) for file in files)
                if quota > 0:
                    files[0].write_text(str(quota * _PERIOD // period), encoding="ascii")
                    files[1].write_text(str(_PERIOD), encoding="ascii")


@contextmanager
def kept_to_processors(state: State, nodes: Mapping[str, int], *, long_slices: bool) -> Iterator[None]:
    """Keep all processes of each node that has one processor to one of this machine, by `nodes`, until the end, on
    request with long time slices.

    The quota of a node holds for all its processes together, wherever they run: two of them on two processors share it
    half and half, but of three one would have a processor for itself and half of the quota.
    """
    groups = [(top / node, core) for top in cgroups.possible(state) for node, core in nodes.items()]
    ended = threading.Event()
    thread = threading.Thread(target=_keep, args=(groups, ended, long_slices), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _keep(groups: Sequence[tuple[Path, int]], ended: threading.Event, long_slices: bool) -> None:
    kept: set[tuple[str, int]] = set()
    while not ended.wait(_LOOKED):
        for group, core in groups:
            for task in _tasks(group):
                if (task, core) not in kept:
                    with suppress(OSError):  # it has ended
                        os.sched_setaffinity(int(task), {core})
                        if long_slices:
                            lengthen_slice(int(task))
                        kept.add((task, core))


def _tasks(node: Path) -> list[str]:
    with suppress(OSError):  # its Grid has gone
        return cgroups.tasks(node)
    return []
