"""How often each segment runs in a skeleton of a given length: outer loops are shortened first, and order stays.

A loop of `count` that should run `fraction` as often runs round(count * fraction) times, its body whole. Where that is
less than once the loop goes and its body is shortened in its place, so that what stays in a row stays in the order and
the company it had. A kind that would run less than half a time is kept once when it matters, with its sizes and work
made smaller in proportion: only then do sizes change, for half a message need not take half the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduling.skeletons.core.skeleton.folding import Repeat, Tree, unfold
from scheduling.skeletons.core.skeleton.kinds import Segment

#: A kind with a smaller share of the run's time is left out rather than kept for once.
_MATTERS = 0.005
#: From this many runs on a kind runs once whole.
_WHOLE = 0.5
#: A skeleton may be so many times as long as asked for, for the sake of kinds that run whole.
_LONGER = 1.1
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Scaled:
    """`schedule` over the kinds' numbers; `runs[kind]` how often each is in it; `part[kind]` of its size, 0..1.

    `pace`: what all segments together took, for each second of the sum of what each took by itself: where the ranks
    have most to do in different segments they wait less than each segment says.
    """

    schedule: Tree
    runs: Mapping[int, int]
    part: Mapping[int, float]
    pace: float = 1.0

    def seconds(self, segments: Sequence[Segment]) -> float:
        """What it takes where the trace was made."""
        return self.pace * sum(times * segments[kind].seconds * self.part[kind] for kind, times in self.runs.items())


def scale(tree: Tree, segments: Sequence[Segment], target: float, took: float) -> Scaled:
    """A schedule of about `target` seconds; the whole run, which `took` so many, when that is as short.

    Of the schedules tried it is the longest that is not longer than asked for by more than _LONGER, else the shortest:
    a loop of few rounds runs once rather than twice where both are as far from what was asked for.
    """
    whole = sum(segment.times * segment.seconds for segment in segments)
    pace = min(1.0, took / whole) if whole > 0 else 1.0
    fraction = min(1.0, target / (pace * whole)) if whole > 0 else 1.0
    tried: list[tuple[float, Scaled]] = []
    for _ in range(_TRIES):
        scaled = _at(tree, segments, fraction, whole, pace)
        seconds = scaled.seconds(segments)
        tried.append((seconds, scaled))
        if fraction == 1.0 or 0.9 * target <= seconds <= _LONGER * target or seconds == 0:
            return scaled
        fraction = min(1.0, fraction * target / seconds)
    fitting = [each for each in tried if each[0] <= _LONGER * target]
    return max(fitting, key=lambda each: each[0])[1] if fitting else min(tried, key=lambda each: each[0])[1]


def _at(tree: Tree, segments: Sequence[Segment], fraction: float, whole: float, pace: float) -> Scaled:
    shortener = _Shortener(segments, fraction, whole)
    schedule = shortener.body(tree, fraction)
    runs = Counter(unfold(schedule))
    part = {kind: shortener.part(kind) for kind in runs}
    return Scaled(schedule, dict(runs), part, pace)


class _Shortener:
    def __init__(self, segments: Sequence[Segment], fraction: float, whole: float) -> None:
        self._expected = [segment.times * fraction for segment in segments]
        self._matters = [
            segment.of_round or segment.times * segment.seconds >= _MATTERS * whole for segment in segments
        ]
        self._owed = [
            0.5 if expected >= 1 else 1.0 - 1e-9 if matters else -1.0
            for expected, matters in zip(self._expected, self._matters, strict=True)
        ]

    def part(self, kind: int) -> float:
        expected = self._expected[kind]
        return expected if expected < _WHOLE else 1.0

    def body(self, tree: Tree, want: float) -> Tree:
        kept: list[int | Repeat] = []
        for node in tree:
            if isinstance(node, Repeat):
                kept.extend(self._loop(node, want))
            elif self._due(node, want):
                kept.append(node)
        return tuple(kept)

    def _loop(self, loop: Repeat, want: float) -> Tree:
        times = loop.count * want
        if times < 1:
            return self.body(loop.body, times)
        body = self.body(loop.body, 1.0)
        return (Repeat(round(times), body),) if body else ()

    def _due(self, kind: int, want: float) -> bool:
        """Whether the kind runs here: each runs as often in all as it should, spread evenly."""
        if want >= 1.0:
            return True
        self._owed[kind] += want
        if self._owed[kind] < 1.0:
            return False
        self._owed[kind] -= 1.0
        return True
