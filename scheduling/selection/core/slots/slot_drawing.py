"""The random method where ranks may share nodes: each rank on a slot drawn among those that it may have."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from scheduling.selection.core.drawing import distinct
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.threshold import Clock, Group


def draw_on_slots(
    room: Room,
    ranks: int,
    k: int,
    keeps: Callable[[Group], bool],
    *,
    rng: random.Random,
    clock: Clock,
    deadline: float,
) -> list[Group]:
    """At most `k` placements on different node sets, of those that `keep` what is asked for; fewer where they are
    rarely hit. Every slot that a rank may have is as likely as any other, as long as there is room for the rest."""

    def one() -> Group | None:
        group = _drawn(room, ranks, rng)
        return group if group is not None and room.holds(group) and keeps(group) else None

    return distinct(one, k, clock, deadline)


def _drawn(room: Room, ranks: int, rng: random.Random) -> Group | None:
    left = room.capacity.copy()
    usable = np.flatnonzero(left > 0).tolist()
    if room.nodes is not None:
        if len(usable) < room.nodes:
            return None
        chosen = rng.sample(usable, room.nodes)
        left[[node for node in usable if node not in chosen]] = 0
    at = [-1] * ranks
    for rank in sorted(rng.sample(range(ranks), ranks), key=lambda rank: len(room.allows(rank))):
        slots = [node for node in room.allows(rank).tolist() for _ in range(int(left[node]))]
        if not slots:
            return None
        at[rank] = rng.choice(slots)
        left[at[rank]] -= 1
    return tuple(at)
