"""The list of jobs in any order: how many there are, and any part of it without sorting all of them.

Applications, owners, states and numbers of nodes have few values, so a list in such an order is cut into groups of one
value: they are counted with one question, and a part is then read from the one or two groups that it lies in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from gridportal.accounts.models import User
from gridportal.web.paging import all_keys, counted, keys_between, keys_by
from gridportal.web.sorting import SortedList
from scheduling.jobs.filters import NEWEST_FIRST, ordering
from scheduling.jobs.models import Application, Job
from scheduling.pages.job_sorts import SHORT_SORTS


class _Group(NamedTuple):
    """The jobs that have one of some values, which read alike."""

    values: list[Any]
    size: int


class JobList(SortedList[Job]):
    """Jobs in the order that the address asks for: `sort` is what it says.

    `at_once`: the numbers of all jobs are read with one statement, where finding a part costs as much as finding all.
    """

    def __init__(
        self, found: QuerySet[Job], sort: str, shown: QuerySet[Job] | None = None, *, at_once: bool = False
    ) -> None:
        usual, columns = ordering(sort)
        super().__init__(found.order_by(*columns), sort, SHORT_SORTS, shown)
        self._usual, self._at_once, self._order = usual, at_once, columns
        self._backwards = usual.startswith("-")
        self._column = _COLUMNS.get(usual.removeprefix("-"))

    @property
    def sort(self) -> str:
        """The sort that is on."""
        return super().sort or self._usual

    def keys(self, start: int, stop: int) -> list[int]:
        """The numbers of the jobs from `start` to before `stop`."""
        if super().sort:
            return super().keys(start, stop)
        if self._at_once:
            return self._all[start:stop]
        return list(self._grouped(start, stop)) if self._column else super().keys(start, stop)

    @cached_property
    def _total(self) -> int:
        if self._at_once:
            return len(self._all)
        return sum(group.size for group in self._groups) if self._column else self.queryset.count()

    @cached_property
    def _all(self) -> list[int]:
        """The numbers of all jobs, in the order of the list."""
        if self._column is None:
            return all_keys(self.queryset.order_by(), self._order)
        numbers = keys_by(self.queryset.order_by(), self._column, NEWEST_FIRST)
        groups = [sorted(chain(*(numbers[value] for value in alike)), reverse=True) for alike in self._alike(numbers)]
        return list(chain(*(reversed(groups) if self._backwards else groups)))

    @cached_property
    def _groups(self) -> list[_Group]:
        """In the order of the list."""
        sizes = self._sizes(str(self._column))
        groups = [_Group(values, sum(sizes[value] for value in values)) for values in self._alike(sizes)]
        return groups[::-1] if self._backwards else groups

    def _sizes(self, column: str) -> dict[Any, int]:
        """How many jobs have each value, from the first value to the last."""
        if not self.queryset.query.where:
            return counted(Job, column)
        return dict(self.queryset.order_by(column).values_list(column).annotate(Count("pk")))

    def _alike(self, values: Iterable[Any]) -> list[list[Any]]:
        """The values that read alike, from the first to the last; `values` are in the order of the column."""
        named = _NAMED.get(str(self._column))
        if named is None:
            return [[value] for value in values]
        model, name = named
        alike: dict[str, list[Any]] = {}
        for pk, word in model._default_manager.filter(pk__in=list(values)).order_by(name).values_list("pk", name):
            alike.setdefault(word, []).append(pk)
        return list(alike.values())

    def _grouped(self, start: int, stop: int) -> Iterator[int]:
        begin, whole = 0, list[Any]()
        for values, size in self._groups:
            first, last = max(start - begin, 0), min(stop - begin, size)
            begin += size
            if (first, last) == (0, size):
                whole += values
            elif first < last:
                yield from self._of(whole)
                whole = []
                yield from keys_between(self._with(values).order_by(NEWEST_FIRST), first, last, size)
        yield from self._of(whole)

    def _of(self, values: list[Any]) -> list[int]:
        """All jobs with these values, which together are no more than one part of the list."""
        return list(self._with(values).values_list("pk", flat=True)) if values else []

    def _with(self, values: list[Any]) -> QuerySet[Job]:
        return self.queryset.filter(**{f"{self._column}__in": values})


#: The sorts by a column of few values, and where its values are the keys of rows with a name.
_COLUMNS = {"application": "application_id", "owner": "owner_id", "state": "state", "nodes": "node_count"}
_NAMED: dict[str, tuple[type[Application] | type[User], str]] = {
    "application_id": (Application, "name"),
    "owner_id": (User, "username"),
}
