"""Tables in the order that the address asks for: `sort=name`, or `sort=-name` downwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import QuerySet

from gridportal.web.paging import CHUNK, LongList, Row, in_order

Item = TypeVar("Item")
#: A list of at most so many rows is read whole to be sorted; a longer one has the sorts alone that an index serves.
MOST_SORTED = 2_000


def _itself(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class ColumnSort:
    """What a column of a list sorts by: the `values` that are read of each row, and the `key` made of them, None where
    it is not known."""

    values: tuple[str, ...]
    key: Callable[..., Any] = _itself


def by_column(*values: str) -> ColumnSort:
    """The sort by one column of the table as it is; text without regard to capitals."""
    return ColumnSort(values, folded)


def folded(value: Any) -> Any:
    """Text without its capitals, None for an empty one; another value as it is."""
    return (value.casefold() or None) if isinstance(value, str) else value


def sorted_items(items: Iterable[Item], key: Callable[[Item], Any], *, backwards: bool = False) -> list[Item]:
    """The items by their key, downwards if `backwards`; what has none (None) at the end, whichever way. Equal ones keep
    their order.

    >>> sorted_items([3, None, 1], lambda item: item, backwards=True)
    [3, 1, None]
    """
    keyed = [(key(item), item) for item in items]
    known = sorted((pair for pair in keyed if pair[0] is not None), key=lambda pair: pair[0], reverse=backwards)
    return [item for _, item in known] + [item for value, item in keyed if value is None]


def sorted_by(items: Iterable[Item], sort: str, keys: Mapping[str, Callable[[Item], Any]]) -> list[Item]:
    """The items as `sort` says; in their own order where it names none of `keys`."""
    key = keys.get(sort.removeprefix("-"))
    return sorted_items(items, key, backwards=sort.startswith("-")) if key else list(items)


class SortedList(LongList[Row]):
    """The rows of an ordered queryset, sorted by one of `sorts` where there are few enough; else in their own order.

    Costs one statement that reads the values of all rows, at most MOST_SORTED.
    """

    def __init__(
        self,
        queryset: QuerySet[Row],
        sort: str,
        sorts: Mapping[str, ColumnSort],
        shown: QuerySet[Row] | None = None,
    ) -> None:
        super().__init__(queryset, shown)
        self._sorts, self._asked = sorts, sort

    @property
    def unsorted(self) -> Mapping[str, int]:
        """The columns that this list is too long to be sorted by, each with how many rows it may have for that."""
        return {} if self._total <= MOST_SORTED else dict.fromkeys(self._sorts, MOST_SORTED)

    @property
    def sort(self) -> str:
        """The sort that is on; empty for none."""
        return self._asked if self._by else ""

    def keys(self, start: int, stop: int) -> list[Any]:
        """The primary keys of the rows from `start` to before `stop`."""
        return self._sorted_keys[start:stop] if self._by else super().keys(start, stop)

    def __iter__(self) -> Iterator[Row]:
        if not self._by:
            yield from super().__iter__()
            return
        for start in range(0, len(self._sorted_keys), CHUNK):
            yield from in_order(self.shown, self._sorted_keys[start : start + CHUNK])

    @cached_property
    def _by(self) -> ColumnSort | None:
        by = self._sorts.get(self._asked.removeprefix("-"))
        return by if by and self._total <= MOST_SORTED else None

    @cached_property
    def _sorted_keys(self) -> list[Any]:
        return sorted_keys(self.queryset, self._by, self._asked) if self._by else []


def sorted_keys(queryset: QuerySet[Any], by: ColumnSort, sort: str) -> list[Any]:
    """The primary keys of all rows, read with one statement and sorted by a column."""
    rows = queryset.values_list("pk", *by.values)
    return [row[0] for row in sorted_items(rows, lambda row: by.key(*row[1:]), backwards=sort.startswith("-"))]
