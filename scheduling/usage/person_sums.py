"""What one person's jobs used, from the sums of that person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import date

from django.db.models import Q

from scheduling.usage.core.packed_parts import unpacked_parts
from scheduling.usage.core.use_parts import Figures, UseKey, UsePart, together
from scheduling.usage.models import PersonUse


def sums_of_person(
    owner: int, periods: Q, parts: Collection[UsePart], *, day: date | None = None
) -> dict[tuple[UseKey, date], Figures]:
    """These parts of the sums of one person, for each day on which a period begins; with `day` all added up there.
    All jobs of a person are also the sum of that person. One statement."""
    texts = defaultdict[tuple[str, date], list[str]](list)
    rows = PersonUse.objects.filter(periods, owner=owner)
    for cluster, start, text in rows.values_list("cluster", "start", "parts"):
        texts[cluster, day or start].append(text)
    wanted = {UsePart.WHOLE if part is UsePart.PERSON else part for part in parts}
    found = {}
    for (cluster, begin), several in texts.items():
        for (part, name), figures in unpacked_parts(several, wanted).items():
            if part in parts:
                found[UseKey(part, cluster, name), begin] = figures
            if part is UsePart.WHOLE and UsePart.PERSON in parts:
                found[UseKey(UsePart.PERSON, cluster, str(owner)), begin] = together([figures])
    return found
