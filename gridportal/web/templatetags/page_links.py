"""Links of a page to itself in another view, and from what it shows to the page of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from gridportal.web.templatetags.units import NOTHING

register = template.Library()

#: Under this name the heads of a table leave their columns for the choice above it.
_CHOICE = "columns_of_the_sort_choice"
_DIRECTIONS = (("", "upwards"), ("-", "downwards"))


@register.simple_tag
def holder(held: Mapping[str, int], node: str) -> SafeString | str:
    """Which job holds a node, as a link."""
    job = held.get(node)
    return NOTHING if job is None else format_html('<a href="{}">job {}</a>', reverse("job", args=[job]), job)


@register.simple_tag(takes_context=True)
def address(context: Any, **changes: Any) -> str:
    """This page's query with some values changed; an empty value drops the name."""
    query: QueryDict = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return "?" + urlencode([(name, item) for name, items in query.lists() for item in items if item])


@register.simple_tag(takes_context=True)
def page_address(context: Any, number: int | str, table: Any = "") -> str:
    """This page's query for another part of its list; `table`: the one, of several with keys, that the part is of."""
    if not table:
        return address(context, page=number)
    return address(context, page=f"{table.key}:{number}" if number else "") + f"#{table.key}"


@register.simple_tag(takes_context=True)
def time_range(context: Any) -> str:
    """The range of time of this page's query, for a link to another page that has one; empty where there is none."""
    query: QueryDict = context["request"].GET
    found = [(name, query[name]) for name in ("since", "start", "until") if query.get(name)]
    return f"?{urlencode(found)}" if found else ""


@register.inclusion_tag("partials/sort_head.html", takes_context=True)
def sort_head(
    context: Any, name: str, label: str, css: str = "", by: str = "sort", pages: str = "page", hint: str = ""
) -> dict[str, Any]:
    """A table head that sorts: ascending, then descending. The page's `sort` says which is on; its `unsorted` has the
    columns of a list that is too long for their sort, each with the most rows that can be sorted so.

    `by`, `pages`: what the sort and the pages are called in the address; another table than the page's first has its
    own, and stands at `#pages`. A table of the page that has no sort is included with `plain_heads`.
    """
    now = context.get(by, "")
    following = f"-{name}" if now == name else name
    direction = {name: "ascending", f"-{name}": "descending"}.get(now, "")
    href = address(context, **{by: following, pages: ""}) + ("" if pages == "page" else f"#{pages}")
    most = context.get("unsorted", {}).get(name, 0)
    href = "" if most or context.get("plain_heads") else href
    label = label.replace(", s", ",\N{NO-BREAK SPACE}s")
    if href and (choice := context.get(_CHOICE)) is not None:
        choice.append(SortColumn(name, label, now, by, pages))
    return {
        "label": label,
        "css": css,
        "href": href,
        "direction": direction,
        "id": f"{by}-{name}",
        "most": most,
        "hint": hint,
    }


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column by which a table can be sorted. `now`: the sort that is on; `by`, `pages`: as in `sort_head`."""

    name: str
    label: str
    now: str
    by: str
    pages: str

    @property
    def options(self) -> list[tuple[str, str, bool]]:
        """Both directions: what the address says of it, in words, and whether it is on."""
        values = [(f"{sign}{self.name}", f"{self.label}, {word}") for sign, word in _DIRECTIONS]
        return [(value, words, value == self.now) for value, words in values]


class _SortChoice(template.Node):
    """A table under a choice of what it is sorted by, for narrow pages, where its rows are cards without heads."""

    def __init__(self, table: template.NodeList) -> None:
        self._table = table

    def render(self, context: template.Context) -> SafeString:
        columns: list[SortColumn] = []
        with context.push(**{_CHOICE: columns}):
            table = self._table.render(context)
        if not columns:
            return table
        by, pages = columns[0].by, columns[0].pages
        query: QueryDict = context["request"].GET
        kept = [(name, item) for name, items in query.lists() for item in items if item and name not in (by, pages)]
        values = {"columns": columns, "kept": kept, "by": by, "pages": pages, "id": f"choice-of-{by}-{columns[0].name}"}
        choice = render_to_string("partials/sort_choice.html", values)
        return mark_safe(choice + table)  # noqa: S308  both are rendered


@register.tag
def sort_choice(parser: template.base.Parser, token: template.base.Token) -> _SortChoice:
    """`{% sort_choice %}` a table with `sort_head`s `{% endsort_choice %}`: where the table has no heads because the
    page is narrow, a choice stands above it. It works without the page's script."""
    table = parser.parse(("endsort_choice",))
    parser.delete_first_token()
    return _SortChoice(table)
