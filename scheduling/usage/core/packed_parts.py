"""What one person's jobs used in a period, by part and name, as one text: a report reads one row for each period in
place of one for each sum.

The text is JSON: of each part, of each name, the numbers of `SUMMED`, the newest job, and how many waited how long and
were slowed down how much (`packed_counts`). Sums of nodes go without the last two: no report shows them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from scheduling.usage.core.packed_counts import packed, unpacked
from scheduling.usage.core.use_parts import SUMMED, Figures, UsePart

Parts = dict[tuple[UsePart, str], Figures]


def packed_parts(parts: Mapping[tuple[UsePart, str], Figures]) -> str:
    """The text of these sums.

    >>> packed_parts({(UsePart.SITE, "cmu"): Figures(jobs=2, newest=7)})
    '{"site":{"cmu":[2,0,0,0,0,0,0,0,7,"",""]}}'
    """
    entries = defaultdict[str, dict[str, list[Any]]](dict)
    for (part, name), figures in parts.items():
        spread = (Counter[int](),) * 2 if part is UsePart.NODE else (figures.waits, figures.slowdowns)
        numbers = [getattr(figures, column) for column in SUMMED]
        entries[part.value][name] = [*numbers, figures.newest, *map(packed, spread)]
    return json.dumps(entries, separators=(",", ":"))


def unpacked_parts(texts: Iterable[str], wanted: Collection[UsePart] = tuple(UsePart)) -> Parts:
    """The sums of several texts added up, of these parts alone. Cost: the length of the texts.

    >>> text = packed_parts({(UsePart.SITE, "cmu"): Figures(jobs=2, newest=7)})
    >>> unpacked_parts([text, text])[UsePart.SITE, "cmu"].jobs
    4
    """
    entries = defaultdict[tuple[UsePart, str], list[Sequence[Any]]](list)
    for text in texts:
        of_part = json.loads(text)
        for part in wanted:
            for name, entry in of_part.get(part.value, {}).items():
                entries[part, name].append(entry)
    return {place: _added(several) for place, several in entries.items()}


def _added(entries: Sequence[Sequence[Any]]) -> Figures:
    *numbers, newest, waits, slowdowns = zip(*entries, strict=True)
    sums = {column: sum(values) for column, values in zip(SUMMED, numbers, strict=True)}
    waited, slowed = unpacked("".join(waits)), unpacked("".join(slowdowns))
    return Figures(**sums, newest=max(newest), waits=waited, slowdowns=slowed)
