"""Executions get the work of rounds which the trace has kept, in the place of their mean.

The rounds between two kept blocks become those of the earlier block, again and again, scaled so that each call has the
sum that it had. Which round stands for which follows from their numbers alone, so ranks that had more to do in the same
round still have. Skeletons run few rounds, so they take fewer blocks, or shorter ones, than the trace may have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from scheduling.profiles.core.trace import Call, Loop, Node, unfolded, weighted

#: So many rounds in a row are a block of the recording library.
BLOCK = 8
#: Of an execution that has its mean.
NO_ROUND = -1


@dataclass(frozen=True, slots=True)
class RoundChoice:
    """Which kept rounds stand for all of a loop: the first `length` of blocks that are as many as fit into `fraction`
    of its rounds, so that a skeleton of that fraction runs each of them. Without one: all that were kept."""

    length: int = BLOCK
    fraction: float = math.inf

    def places(self, loop: Loop) -> tuple[int, ...]:
        """For each round of `loop` the place of its stand-in among the kept ones; empty where none fits.

        >>> RoundChoice(length=2).places(Loop(20, (), (0, 1, 2, 3, 4, 5, 6, 7, 16, 17)))
        (0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 8, 9, 8, 9)
        """
        kept = range(len(loop.rounds))
        blocks = [list(block) for _, block in groupby(kept, lambda place: loop.rounds[place] // BLOCK)]
        most = math.floor(min(float(len(blocks)), self.fraction * loop.count / self.length))
        if not most:
            return ()
        blocks = blocks[:: math.ceil(len(blocks) / most)]
        if len(blocks) > 1 and self.fraction * (loop.count - loop.rounds[blocks[-1][0]]) < self.length:
            blocks.pop()  # what it stands for, the loop's end, is too short to run once
        begins = [loop.rounds[block[0]] for block in blocks]
        ends = [*begins[1:], loop.count]
        chosen: list[int] = []
        for block, end in zip(blocks, ends, strict=True):
            shown = block[: self.length]
            chosen.extend(shown[k % len(shown)] for k in range(end - len(chosen)))
        return tuple(chosen)


def executed(body: Sequence[Node], choice: RoundChoice | None) -> Iterator[tuple[Call, float, int]]:
    """The calls in the order in which they ran, with the cpu seconds before each and the round that stands for its own:
    a number for each kept round of the rank; NO_ROUND where it has its mean."""
    first = 0
    for node in body:
        places = choice.places(node) if choice is not None and isinstance(node, Loop) else ()
        if not places:
            yield from ((call, call.compute.cpu, NO_ROUND) for call in unfolded((node,)))
            continue
        assert isinstance(node, Loop)  # noqa: S101 - it has places
        work = {id(call): _scaled(call, node, Counter(places)) for call, _ in weighted(node.body)}
        for place in places:
            yield from ((call, work[id(call)][place], first + place) for call in unfolded(node.body))
        first += len(node.rounds)


def _scaled(call: Call, loop: Loop, times: Mapping[int, int]) -> Sequence[float]:
    """By place: the seconds before a call, of which place p counts `times[p]` times, with their true sum."""
    compute = call.compute
    total = sum(compute.rounds[place] * n for place, n in times.items()) if compute.rounds else 0.0
    if not total:
        return [compute.cpu] * len(loop.rounds)
    return [seconds * compute.cpu * loop.count / total for seconds in compute.rounds]
