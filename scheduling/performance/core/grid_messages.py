"""What messages along the rows and columns of a process grid take, with all rows, or all columns, at it at once.

Links are shared max-min among the messages of one round. Costs are pairs: seconds, and seconds for each byte.

A node of an emulated Grid that has a part of a processor gets it in pieces, one in each 20 ms, and its rank takes
messages in these alone: where two of them wait for each other a message takes a part of that time (`turn`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gridportal.base.errors import ImpossibleError
from gridportal.network.flows import Flow, flow_query
from gridportal.network.routes import Routes
from gridportal.network.topology import Topology

#: Seconds that MPI needs for a message between nodes beside the latency, and for one inside a node; byte/s in there.
_MESSAGE, _INSIDE_MESSAGE, _INSIDE = 30e-6, 5e-6, 2e9
Pair = tuple[str, str]
#: Seconds after which a node that is held to a part of a processor gets it again (`gridportal.testbed.cgroups`), and
#: which part of that a message waits on average: measured, see docs/decisions/performance-models.md.
_PERIOD, _WAITED, _STEEPNESS = 0.02, 1.5, 7.4


def turn(part: float) -> float:
    """Seconds that a message waits for a rank that has this part of a processor of the machine.

    >>> turn(1.0), turn(0.25) > 0.001
    (0.0, True)
    """
    return 0.0 if part >= 1 else _WAITED * _PERIOD * (1 - part) * math.exp(-_STEEPNESS * part / (1 - part))


@dataclass(frozen=True, slots=True)
class MessageCost:
    """Seconds of a message of no bytes, and for each byte."""

    fixed: float = 0.0
    per_byte: float = 0.0

    def of(self, size: float) -> float:
        """Seconds for so many bytes."""
        return self.fixed + size * self.per_byte

    def __add__(self, other: MessageCost) -> MessageCost:
        return MessageCost(self.fixed + other.fixed, self.per_byte + other.per_byte)


class GridMessages:
    """Messages among ranks that stand on `nodes`, in rank order, as a grid of `rows` x `columns`, row by row."""

    def __init__(self, network: Topology, nodes: Sequence[str], rows: int, columns: int, share: float = 1.0) -> None:
        """`share`: what a node of speed 1 has of a processor of its machine."""
        self._network, self._routes = network, Routes(network)
        self._nodes, self.rows, self.columns = nodes, rows, columns
        self._turns = {each.id: turn(share * each.speed) if share < 1 else 0.0 for each in network.nodes}

    def row_broadcast(self, root: int) -> MessageCost:
        """From grid column `root` to all others, in every row at once: a binomial tree, round by round."""
        cost, reached = MessageCost(), 1
        while reached < self.columns:
            steps = [(at, at + reached) for at in range(reached) if at + reached < self.columns]
            cost += self._round(
                (self._at(row, root + source), self._at(row, root + target))
                for row in range(self.rows)
                for source, target in steps
            )
            reached *= 2
        return cost

    def column_broadcast(self, root: int) -> MessageCost:
        """From grid row `root` to all others, in every column at once."""
        cost, reached = MessageCost(), 1
        while reached < self.rows:
            steps = [(at, at + reached) for at in range(reached) if at + reached < self.rows]
            cost += self._round(
                (self._at(root + source, column), self._at(root + target, column))
                for column in range(self.columns)
                for source, target in steps
            )
            reached *= 2
        return cost

    def column_sum(self, columns: Iterable[int]) -> MessageCost:
        """A sum over each of these columns at once, on all of its ranks: halves are exchanged, then sent back."""
        if self.rows == 1:
            return MessageCost()
        chosen = list(columns)
        ring = self._round(
            (self._at(row, column), self._at(row + 1, column)) for row in range(self.rows) for column in chosen
        )
        rounds = math.ceil(math.log2(self.rows))
        return MessageCost(rounds * ring.fixed, 2 * (self.rows - 1) / self.rows * ring.per_byte)

    def sum_of_all(self) -> MessageCost:
        """A sum over all ranks, on each of them: its rounds along the rows and along the columns."""
        return self.column_sum(range(self.columns)) + self.row_sum()

    def row_sum(self) -> MessageCost:
        """A sum over each row at once, on all of its ranks."""
        if self.columns == 1:
            return MessageCost()
        places = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        ring = self._round((self._at(row, column), self._at(row, column + 1)) for row, column in places)
        rounds = math.ceil(math.log2(self.columns))
        return MessageCost(rounds * ring.fixed, 2 * (self.columns - 1) / self.columns * ring.per_byte)

    def halo(self, down: int, across: int) -> MessageCost:
        """From each rank to the one so many rows below and columns beside it, where there is one, all at once."""
        places = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        inside = [
            (row, column)
            for row, column in places
            if 0 <= row + down < self.rows and 0 <= column + across < self.columns
        ]
        return self._round((self._at(*place), self._at(place[0] + down, place[1] + across)) for place in inside)

    def _at(self, row: int, column: int) -> str:
        return self._nodes[row % self.rows * self.columns + column % self.columns]

    def _round(self, pairs: Iterable[Pair]) -> MessageCost:
        """Messages of one size, all at once: as long as the slowest."""
        every = list(pairs)
        between = [Flow(*pair) for pair in every if pair[0] != pair[1]]
        inside = MessageCost(_INSIDE_MESSAGE, 1 / _INSIDE) if len(between) < len(every) else MessageCost()
        slowest = [inside]
        for rate in flow_query(self._network, between, routing=self._routes) if between else ():
            if rate.bandwidth <= 0:
                raise ImpossibleError(f"Nothing gets from {rate.source} to {rate.target}: there is no path left.")
            waits = max(self._turns[rate.source], self._turns[rate.target])
            slowest.append(MessageCost(_MESSAGE + (rate.latency or 0.0) + waits, 8 / rate.bandwidth))
        return MessageCost(max(each.fixed for each in slowest), max(each.per_byte for each in slowest))
