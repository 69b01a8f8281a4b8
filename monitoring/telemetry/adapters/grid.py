"""Telemetry of the emulated Grid: its structure, sweeps of real transfers, and the load of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from gridportal.base.errors import BackendError, InputError
from gridportal.network import topology as core
from gridportal.network.sweep_result import ClusterFacts, Look, Measurement, NodeLoad, PairRate, Together


class GridClient(Protocol):
    """The part of gridportal.testbed.client.Grid that this adapter needs."""

    def status(self) -> dict[str, Any]: ...
    def topology(self) -> dict[str, Any]: ...
    def probe(self, nodes: Sequence[str] | None = None) -> dict[str, Any]: ...
    def node_load(self) -> list[dict[str, Any]]: ...


class GridTelemetry:
    """Asks the Grid; every method raises BackendError when it does not answer or answers nonsense."""

    def __init__(self, grid: GridClient) -> None:
        self._grid = grid

    def facts(self) -> ClusterFacts:
        """Structure and peaks. The document's present shaping is dropped: what is available has to be measured."""
        status, document = self._grid.status(), self._grid.topology()
        for link in document.get("links", document.get("edges", [])):
            link["bandwidth"] = link.get("capacity", link.get("bandwidth"))
        try:
            topology = core.parse(document, name=str(status.get("topology") or "grid"))
        except InputError as error:
            raise BackendError(f"The Grid describes itself in a way that cannot be read: {error}") from error
        isolation = status.get("isolation") or {}
        offers = {
            "isolation": str(isolation.get("level") or ""),
            "node_limits": isolation.get("limits") or {},
            "processor": float(status.get("processor") or 1.0),
        }
        return ClusterFacts(topology, str(status.get("mode") or ""), str(status.get("warning") or ""), offers)

    def measure(self) -> Measurement:
        """One sweep over all pairs of nodes; takes seconds."""
        answer = self._grid.probe()
        try:
            return Measurement(
                at=float(answer["at"]),
                seconds=float(answer["seconds"]),
                bytes=int(answer["bytes"]),
                pairs=tuple(_pair(pair) for pair in answer["pairs"]),
                loads=tuple(_load(node) for node in answer["nodes"]),
                together=tuple(_together(link) for link in answer.get("together", ())),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BackendError(f"The Grid measured something that cannot be read ({error!r}).") from error

    def probe_pair(self, source: str, target: str) -> PairRate:
        """A transfer between two nodes alone."""
        answer = self._grid.probe([source, target])
        try:
            rates = {(pair.source, pair.target): pair for pair in map(_pair, answer["pairs"])}
            return rates[source, target]
        except (KeyError, TypeError, ValueError) as error:
            raise BackendError(f"The Grid measured nothing that can be read from {source} to {target}.") from error

    def loads(self) -> tuple[NodeLoad, ...]:
        """The nodes' cpu and load of this moment; no transfers."""
        return tuple(_load(node) for node in self._grid.node_load())

    def look(self) -> Look:
        """The loads; which nodes are taken is for the portal to know, because nobody else submits to the Grid."""
        return Look(self.loads())


def connect(state_dir: Path) -> GridTelemetry:
    """Telemetry of the Grid whose socket is in `state_dir`; nothing is asked of it yet."""
    from gridportal.testbed.client import Grid

    return GridTelemetry(Grid(state_dir))


def _pair(raw: dict[str, Any]) -> PairRate:
    latency = raw.get("latency")
    return PairRate(
        str(raw["source"]), str(raw["target"]), float(raw["bandwidth"]), None if latency is None else float(latency)
    )


def _together(raw: dict[str, Any]) -> Together:
    return Together(str(raw["source"]), str(raw["target"]), float(raw["bandwidth"]), bool(raw["filled"]))


def _load(raw: dict[str, Any]) -> NodeLoad:
    cpu = float(raw["cpu"])
    load = raw.get("load")
    return NodeLoad(str(raw["id"]), cpu, float(load) if load is not None else 1.0 / max(cpu, 1e-6) - 1.0)
