"""What is done to a portal, one file for each sort; `known` lists them for a kind of portal."""

from __future__ import annotations

from tests.chaos.disturbances import clocks, databases, disks, kills, locks, stops
from tests.chaos.disturbances.base import Disturbance, Scene


def known(scene: Scene) -> dict[str, Disturbance]:
    """Every disturbance that can be had here, by name."""
    sorts = (kills, stops, disks, locks, clocks, databases)
    return {each.name: each for sort in sorts for each in sort.known(scene)}
