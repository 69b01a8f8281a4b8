"""What the page of a list needs of the views that a person has saved, and of the columns that are chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from gridportal.accounts.caller import caller
from gridportal.accounts.list_pages import ALL, COLUMN, LISTS, same_view
from gridportal.accounts.saved_view_models import SavedView
from gridportal.accounts.saved_views import saved_views


def usual_view(request: HttpRequest, key: str) -> HttpResponse | None:
    """Where somebody goes who opens a list without a word on what to show, and has a view for that; else None."""
    if request.META.get("QUERY_STRING") or getattr(request, "htmx", False):
        return None
    view = next((each for each in _views(request, key) if each.is_default and each.query), None)
    return redirect(view) if view else None


def _views(request: HttpRequest, key: str) -> list[SavedView]:
    """A person's views of a list by name, asked for once in a request."""
    kept: dict[str, list[SavedView]] = request.__dict__.setdefault("_saved_views", {})
    if key not in kept:
        kept[key] = list(saved_views(caller(request), key))
    return kept[key]


def list_context(request: HttpRequest, key: str, *, lacks: Collection[str] = (), **place: str) -> dict[str, Any]:
    """The columns that are `shown`; `wide`, the class of those that a telephone leaves out unless they were chosen; how
    `cleared` of filters the list is; and the bar of saved views, `view_bar`. `place`: what a view keeps that stands in
    the path of this page and not in its query. `lacks`: columns that this person's list never has."""
    bar = ViewBar(request, key, place, lacks)
    return {"shown": bar.shown, "wide": "" if bar.columns else "if-wide", "cleared": bar.cleared, "view_bar": bar}


class ViewBar:
    """A person's views of a list, and what of the address stays when another part of it changes."""

    def __init__(self, request: HttpRequest, key: str, place: Mapping[str, str], lacks: Collection[str] = ()) -> None:
        self._request = request
        self.page = LISTS[key]
        self.offered = [column for column in self.page.columns if column.name not in lacks]
        chosen = request.GET.getlist(COLUMN)
        self.shown = self.page.shown(chosen)
        self.columns = [name for name in chosen if name in self.shown]
        asked = self.page.kept(request.META.get("QUERY_STRING", ""))
        self.is_plain = not asked
        self.query = "&".join(part for part in (urlencode(place), asked) if part)

    @property
    def filters(self) -> list[tuple[str, str]]:
        """Names and values of the address, without the columns."""
        pairs = [(name, str(value)) for name, values in self._request.GET.lists() for value in values]
        return [(name, value) for name, value in pairs if name in self.page.parameters and name != COLUMN and value]

    @property
    def cleared(self) -> str:
        """The address of every row, in the same columns."""
        return "?" + urlencode([("view", ALL), *((COLUMN, name) for name in self.columns)])

    @property
    def views(self) -> list[SavedView]:
        """By name."""
        return _views(self._request, self.page.key)

    @cached_property
    def current(self) -> SavedView | None:
        """The one that shows what is shown now."""
        return next((view for view in self.views if same_view(view.query, self.query)), None)
