"""Adding to the sums of each person what counting_periods has added up, in its transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple

from scheduling.usage.core.packed_parts import packed_parts, unpacked_parts
from scheduling.usage.core.use_parts import Figures, UsePart
from scheduling.usage.models import PersonUse


class PersonPlace(NamedTuple):
    """One row: whose, "day" or "month" and its first day, and where."""

    owner_id: int
    period: str
    start: date
    cluster: str


PersonSums = dict[PersonPlace, dict[tuple[UsePart, str], Figures]]


def count_people(sums: Mapping[PersonPlace, Mapping[tuple[UsePart, str], Figures]]) -> None:
    """Add to the rows that are there, and make those that are not."""
    row_of = {PersonPlace(*(getattr(row, c) for c in PersonPlace._fields)): row for row in _rows(sums)}
    made, again = list[PersonUse](), list[PersonUse]()
    for place, parts in sums.items():
        own = {key: figures for key, figures in parts.items() if key[0] is not UsePart.PERSON}
        row = row_of.get(place)
        (made if row is None else again).append(_added(row or PersonUse(**place._asdict()), own))
    PersonUse.objects.bulk_create(made, batch_size=500)
    PersonUse.objects.bulk_create(
        again, batch_size=500, update_conflicts=True, unique_fields=["id"], update_fields=["parts"]
    )


def _rows(places: Iterable[PersonPlace]) -> Iterable[PersonUse]:
    """The rows of these people and days; of a day also those of other people of the batch."""
    for period in {place.period for place in places}:
        wanted = [place for place in places if place.period == period]
        rows = PersonUse.objects.filter(period=period, start__in={place.start for place in wanted})
        yield from rows.filter(owner__in={place.owner_id for place in wanted})


def _added(row: PersonUse, more: Mapping[tuple[UsePart, str], Figures]) -> PersonUse:
    sums = unpacked_parts([row.parts]) if row.parts else {}
    for key, figures in more.items():
        sums.setdefault(key, Figures()).add(figures)
    row.parts = packed_parts(sums)
    return row
