"""Pins that cannot be kept: what the selection refuses them with."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.errors import ImpossibleError
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.selection.core.placement import Request


def contradiction(asked: ApplicationSpecification, rank: int) -> ImpossibleError:
    """For a rank that is pinned to a node, and its group to others.

    >>> pins = {"0": "n1", "a": ["n2", "n3"]}
    >>> print(contradiction(ApplicationSpecification.read({"groups": [{"name": "a", "count": 2}], "pins": pins}), 0))
    Rank 0 is pinned to n1, and its group a to n2 or n3: no node is both. Take one of these pins away.
    """
    of_group = next(pin for pin in asked.pins if isinstance(pin.what, str) and rank in asked.members(pin.what))
    own = next(pin for pin in asked.pins if pin.what == rank)
    where = f"pinned to {' or '.join(own.nodes)}, and its group {of_group.what} to {' or '.join(of_group.nodes)}"
    return ImpossibleError(f"Rank {rank} is {where}: no node is both. Take one of these pins away.")


def cannot_be_used(request: Request, rank: int, names: Sequence[str]) -> ImpossibleError:
    """For a rank all of whose nodes are left out, with the cause for each.

    >>> print(cannot_be_used(Request(1, "compute", exclude=frozenset({"a"})), 0, ["a"]))
    Rank 0 is pinned to a, which cannot be used: it is excluded or in use.
    >>> print(cannot_be_used(Request(1, "compute", exclude=frozenset({"a"}), require={"site": "utk"}), 0, ["a", "b"]))
    Rank 0 is pinned to a or b, which cannot be used: a is excluded or in use; b does not meet site=utk.
    """
    causes = "; ".join(f"{name if len(names) > 1 else 'it'} {_cause(request, name)}" for name in names)
    return ImpossibleError(f"Rank {rank} is pinned to {' or '.join(names)}, which cannot be used: {causes}.")


def _cause(request: Request, name: str) -> str:
    if name in request.excluded:
        return "is excluded or in use"
    if request.slots is not None and request.slots.get(name, 1) < 1:
        return "has no room for a rank"
    conditions = [label_conditions.written(*pair) for pair in sorted(request.require.items())]
    conditions += [f"cpu >= {request.min_cpu:g}"] if request.min_cpu > 0 else []
    return f"does not meet {' and '.join(conditions)}"
