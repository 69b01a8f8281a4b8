"""Parts of long lists: on the way to a part only keys are read, from the nearer end of the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import Aggregate, Model, QuerySet

Row = TypeVar("Row", bound=Model)
CHUNK = 500


class LongList(Generic[Row]):
    """The rows of an ordered queryset for a paginator: `count()` and slices.

    `shown` has what is displayed of the same rows, such as annotations and joins; it is asked for the rows of a slice
    alone. Costs as many index entries as lie between the slice and the nearer end.
    """

    def __init__(self, queryset: QuerySet[Row], shown: QuerySet[Row] | None = None) -> None:
        self.queryset = queryset
        self.shown = queryset if shown is None else shown

    def count(self) -> int:
        """How many rows there are; asked for once."""
        return self._total

    def __len__(self) -> int:
        return self._total

    def __getitem__(self, part: slice) -> list[Row]:
        start, stop, _ = part.indices(self._total)
        return in_order(self.shown, self.keys(start, stop))

    def __iter__(self) -> Iterator[Row]:
        return streamed(self.queryset, self.shown)

    def keys(self, start: int, stop: int) -> list[Any]:
        """The primary keys of the rows from `start` to before `stop`."""
        return keys_between(self.queryset, start, stop, self._total)

    @cached_property
    def _total(self) -> int:
        return self.queryset.count()


def page_of(rows: LongList[Row], size: int, number: str | None) -> Page[Row]:
    """One page of `size` rows; the first or the last where `number` is none that exists."""
    return Paginator(rows, size).get_page(number)  # type: ignore[arg-type]  # it asks for slices and the count alone


def keys_between(queryset: QuerySet[Any], start: int, stop: int, total: int) -> list[Any]:
    """The primary keys of the rows `start` to before `stop` of `total`, read from the nearer end."""
    if start >= stop:
        return []
    keys = queryset.values_list("pk", flat=True)
    if total <= CHUNK:  # asked for a few of them a database may look through all rows in the order of the list
        return list(keys)[start:stop]
    if start <= total - stop:
        return list(keys[start:stop])
    return list(keys.reverse()[total - stop : total - start])[::-1]


def all_keys(queryset: QuerySet[Any], order: Sequence[str]) -> list[Any]:
    """The primary keys of all rows in this order, with one statement. PostgreSQL sends them as one array: a row for
    each key would cost as much again."""
    if connection.vendor != "postgresql":
        return list(queryset.order_by(*order).values_list("pk", flat=True))
    keys: list[Any] = queryset.aggregate(keys=_keys_in(order, default=[]))["keys"]
    return keys


def keys_by(queryset: QuerySet[Any], column: str, order: str) -> dict[Any, list[Any]]:
    """The same for each value of a column, in the column's order."""
    if connection.vendor == "postgresql":
        return dict(queryset.order_by(column).values_list(column).annotate(keys=_keys_in(order)))
    keys: dict[Any, list[Any]] = {}
    for value, key in queryset.order_by(column, order).values_list(column, "pk"):
        keys.setdefault(value, []).append(key)
    return keys


def _keys_in(order: str | Sequence[str], **more: Any) -> Aggregate:
    """Only on PostgreSQL: this imports its library, which takes a tenth of the time in which a portal starts."""
    from django.contrib.postgres.aggregates import ArrayAgg

    return ArrayAgg("pk", order_by=order, **more)


def in_order(shown: QuerySet[Row], keys: list[Any]) -> list[Row]:
    """The rows with these keys, in their order; one that is gone by now is left out."""
    rows = shown.order_by().in_bulk(keys) if keys else {}
    return [rows[key] for key in keys if key in rows]


def streamed(queryset: QuerySet[Row], shown: QuerySet[Row]) -> Iterator[Row]:
    """All rows in order, in constant memory. PostgreSQL keeps the keys in a cursor of its own; it would have to finish
    the whole rows before it gave the first of them."""
    keys = queryset.values_list("pk", flat=True).iterator(chunk_size=CHUNK)
    while part := list(islice(keys, CHUNK)):
        yield from in_order(shown, part)


def distinct(model: type[Model], column: str, most: int | None = None) -> list[Any]:
    """The different values of an indexed column, in its order, the first `most` of them: one step in the index for
    each value, whatever the number of rows. (DISTINCT reads every row.)"""
    return [value for (value,) in _for_each_value(model, column, "value", most)]


def counted(model: type[Model], column: str) -> dict[Any, int]:
    """How many rows have each value of an indexed column, in its order, from the index alone. (GROUP BY reads rows.)"""
    name, table = _quoted(model, column)
    number = f"(SELECT COUNT(*) FROM {table} WHERE {name} = steps.value)"  # noqa: S608
    return dict(_for_each_value(model, column, f"value, {number}"))


def _for_each_value(model: type[Model], column: str, wanted: str, most: int | None = None) -> list[Any]:
    name, table = _quoted(model, column)
    least = f"SELECT min({name}) AS value FROM {table}"  # noqa: S608
    following = f"SELECT ({least} WHERE {name} > steps.value) FROM steps WHERE steps.value IS NOT NULL"  # noqa: S608
    steps = f"WITH RECURSIVE steps AS ({least} UNION ALL {following})"
    with connection.cursor() as cursor:
        limit = "" if most is None else f" LIMIT {most:d}"
        cursor.execute(f"{steps} SELECT {wanted} FROM steps WHERE value IS NOT NULL{limit}")  # noqa: S608
        return list(cursor.fetchall())


def _quoted(model: type[Model], column: str) -> tuple[str, str]:
    """Column and table as names in a statement; both are the model's own."""
    name = str(model._meta.get_field(column).column)  # type: ignore[union-attr]  # the name is of a column
    return connection.ops.quote_name(name), connection.ops.quote_name(model._meta.db_table)
