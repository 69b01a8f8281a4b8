"""How many ranks each node has room for, and where each rank may stand: from a request, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Node, Topology
from scheduling.jobs.core import cluster_options, label_conditions
from scheduling.jobs.core.application_specification import ApplicationSpecification, RankGroup
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.selection.core.placement import Request
from scheduling.selection.core.slots.impossible_pins import cannot_be_used, contradiction
from scheduling.selection.core.slots.seating import seated
from scheduling.selection.core.slots.slot_room import Room
from scheduling.selection.core.trees.usable_network import Bools, Floats, Ints

#: A label with so much, and more, tells nothing.
_NO_AMOUNT = 1e12


def room_of(request: Request, usable: Sequence[Node]) -> Room:
    """The room that a request has on the nodes that may be used. Raises InputError, ImpossibleError.

    >>> room_of(Request(None, "compute", ranks=5, slots={"a": 4, "b": 2}), [Node("a"), Node("b"), Node("c")]).capacity
    array([4, 2, 1])
    """
    if request.is_one_a_node and not request.slots:
        capacity = np.ones(len(usable), dtype=np.int64)
    else:
        capacity = np.array([slots(request, node) for node in usable], dtype=np.int64)
    return Room(capacity, request.node_count, _domains(request, usable, capacity))


def slots(request: Request, node: Node) -> int:
    """For how many ranks a node has room."""
    most = request.ranks_per_node
    if request.is_one_a_node:
        most = 1
    has = (request.slots or {}).get(node.id, request.ranks_per_node or 1)
    return has if most is None else min(has, most)


def slots_of(nodes: Iterable[Node], asked: RankRequest) -> dict[str, int] | None:
    """For how many ranks each node has room, by its labels `cpus`, `mem_gb` and `gres` (as gpu:2; none without one);
    None where each rank has a node of its own and needs no more than a processor, so that nobody has to know.

    >>> slots_of([Node("a", labels={"cpus": "8"}), Node("b")], RankRequest(ranks=4, cpus_per_rank=2))
    {'a': 4, 'b': 1}
    """
    needs = asked.cpus_per_rank > 1 or asked.memory_per_rank or asked.gres_per_rank
    if asked.is_one_a_node and not needs:
        return None
    return {node.id: asked.slots(*_has(node)) for node in nodes}


def check_one_rank_fits(topology: Topology, asked: RankRequest) -> None:
    """Raises InputError for processors or memory of a rank that no node has, where all nodes tell theirs.

    Also for GRES of which no node is known to have as much.
    """
    has = [_has(node) for node in topology.compute_nodes()]
    end = f"the most that a node of {topology.name} has"
    cpus = [each[0] for each in has if each[0] is not None]
    if cpus and len(cpus) == len(has) and asked.cpus_per_rank > max(cpus):
        raise InputError("cpus_per_rank", asked.cpus_per_rank, f"at most {max(cpus)}, {end}")
    memory = [each[1] for each in has if each[1] is not None]
    if memory and len(memory) == len(has) and (asked.memory_per_rank or 0) > max(memory):
        raise InputError("memory_per_rank", f"{asked.memory_per_rank}M", f"at most {max(memory)}M, {end}")
    _check_gres_is_there(topology, asked.gres_per_rank)


def _check_gres_is_there(topology: Topology, gres: str) -> None:
    offered = [cluster_options.gres_of_labels(node.labels) for node in topology.compute_nodes()]
    for name, count in cluster_options.gres_counts(gres).items():
        most = max((each.get(name, 0) for each in offered), default=0)
        if count > most:
            there = f"at most {name}:{most}, the most that a node of {topology.name} has"
            none = f"nothing of {name}: no node of {topology.name} has a label gres with it"
            raise InputError("gres_per_rank", gres, there if most else none)


def _has(node: Node) -> tuple[int | None, int | None, dict[str, int]]:
    """Processors and MB of memory of a node, None where its labels do not say; the GRES that they tell of."""
    cpus, memory = (_amount_of(node, name) for name in ("cpus", label_conditions.MEMORY_LABEL))
    return (
        None if cpus is None else int(cpus),
        None if memory is None else int(memory * 1024),
        cluster_options.gres_of_labels(node.labels),
    )


def _amount_of(node: Node, label: str) -> float | None:
    return label_conditions.number(node.labels.get(label), low=0.0, below=_NO_AMOUNT)


def _domains(request: Request, usable: Sequence[Node], capacity: Ints) -> Bools | None:
    """Where each rank may stand, by its pins and by its group; None where every rank may stand everywhere."""
    asked = request.specification
    if asked is None or not (asked.pins or any(group.require or group.most for group in asked.groups)):
        return None
    allowed = np.ones((request.rank_count, len(usable)), dtype=bool)
    _pin(allowed, request, asked, usable)
    for group in asked.groups:
        _require(allowed, asked, group, usable)
    for group in asked.groups:
        if group.most:
            _give_most(allowed, asked, group, usable, capacity)
    return allowed


def _pin(allowed: Bools, request: Request, asked: ApplicationSpecification, usable: Sequence[Node]) -> None:
    place = {node.id: number for number, node in enumerate(usable)}
    for rank, names in asked.pinned().items():
        if rank >= len(allowed):
            raise InputError("pins", rank, f"a rank from 0 to {len(allowed) - 1}")
        pinned = [place[name] for name in names if name in place]
        if not names:
            raise contradiction(asked, rank)
        if not pinned:
            raise cannot_be_used(request, rank, names)
        allowed[rank] &= np.isin(np.arange(len(usable)), pinned)


def _require(allowed: Bools, asked: ApplicationSpecification, group: RankGroup, usable: Sequence[Node]) -> None:
    if not group.require:
        return
    ranks = list(asked.members(group.name))
    meets = np.array([meets_all(node, group.require.items()) for node in usable])
    allowed[ranks] &= meets
    if not allowed[ranks].any(axis=1).all():
        conditions = " and ".join(label_conditions.written(*pair) for pair in group.require.items())
        has = f"{int(meets.sum())} of {len(usable)} nodes {'has' if meets.sum() == 1 else 'have'}"
        raise ImpossibleError(f"The group {group.name} needs a node with {conditions}; {has} that.")


def meets_all(node: Node, conditions: Iterable[tuple[str, str]]) -> bool:
    """Whether a node meets conditions on its labels, memory and speed."""
    has = label_conditions.with_speed(node.labels, node.speed)
    return all(label_conditions.meets(has.get(label), condition) for label, condition in conditions)


def _give_most(
    allowed: Bools, asked: ApplicationSpecification, group: RankGroup, usable: Sequence[Node], capacity: Ints
) -> None:
    """The group gets the best of the nodes that it may be on: as many as its ranks need, and those equal to the last.

    Source: Selection 1999, 3.4 (the node with the maximum available computation capacity for the server). Slots of a
    node on which ranks of other groups are pinned are theirs."""
    ranks = list(asked.members(group.name))
    others = sorted(set(range(len(allowed))) - set(ranks))
    left = capacity.copy()
    for rank in others:
        if allowed[rank].sum() == 1:
            left[allowed[rank]] -= 1
    amount = np.array([_amount(group, node) for node in usable])
    open_to = allowed[ranks].any(axis=0) & (left > 0)
    order = [node for node in np.argsort(-amount, kind="stable").tolist() if open_to[node]]
    if not order:
        return
    enough = int(np.searchsorted(np.cumsum(left[order]), len(ranks)))
    level = amount[order[min(enough, len(order) - 1)]]
    if not allowed[others].all():
        level = _level_with_room(allowed, ranks, amount, [each for each in amount[order] if each <= level], capacity)
    allowed[ranks] &= amount >= level


def _level_with_room(
    allowed: Bools, ranks: Sequence[int], amount: Floats, levels: Sequence[float], capacity: Ints
) -> float:
    """The highest of the falling levels at which all ranks fit, also those that may not stand everywhere; the lowest
    where they fit at none."""
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        narrowed = allowed.copy()
        narrowed[ranks] &= amount >= levels[middle]
        if seated(Room(capacity, None, narrowed), np.ones(len(capacity), dtype=bool), len(allowed)) is None:
            low = middle + 1
        else:
            high = middle
    return levels[low]


def _amount(group: RankGroup, node: Node) -> float:
    if group.most == "cpu":
        return node.effective_cpu
    return _amount_of(node, label_conditions.MEMORY_LABEL) or 0.0
