"""What part of a job's work each of its ranks is to do, in rank order.

Source: Set matching 2002, 3.3 and 4.2: a mapper gives each machine a share, in proportion to how fast it is predicted
to be; a machine with two processors runs two subtasks, which do half of its share each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gridportal.base.work_shares import shares


def of_machines(nodes: Sequence[str], by_machine: Mapping[str, float]) -> list[float]:
    """The share of each rank from those of the machines, as a mapper gave them; empty where it gave one of them none.

    >>> of_machines(["torc2", "torc2", "o"], {"torc2": 146, "o": 54})
    [73.0, 73.0, 54.0]
    """
    ranks = Counter(nodes)
    if any(by_machine.get(node, 0) <= 0 for node in nodes):
        return []
    return [by_machine[node] / ranks[node] for node in nodes]


def by_speed(nodes: Sequence[str], effective_cpu: Mapping[str, float]) -> list[float]:
    """Parts of 1 in proportion to what a rank on each node has of the reference processor; 1 where nobody knows.

    >>> by_speed(["dralion", "cirque"], {"dralion": 0.9, "cirque": 0.3})
    [0.75, 0.25]
    """
    return shares([effective_cpu.get(node, 1.0) for node in nodes], None)
