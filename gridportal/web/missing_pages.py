"""What somebody looked for at an address that has nothing, and where such things are listed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.http import Http404, HttpRequest
from django.urls import NoReverseMatch, Resolver404, reverse

_SHOWN = 80  # characters of an address or a name that a sentence repeats
#: Django's own sentence of a row that is not found: it names classes of ours.
_OF_DJANGO = re.compile(r"No .* matches the given query\.")


@dataclass(frozen=True, slots=True)
class _Kind:
    """Pages of one kind: the address of one, what it is called, and the list of them."""

    address: re.Pattern[str]
    name: str
    list_url: str
    list_name: str


_KINDS = tuple(
    _Kind(re.compile(address), *rest)
    for address, *rest in (
        (r"/jobs/([^/]+)/", "job", "jobs", "All jobs"),
        (r"/sweeps/([^/]+)/", "sweep", "sweeps", "All sweeps"),
        (r"/applications/([^/]+)/", "application", "applications", "All applications"),
        (r"/topology/nodes/([^/]+)/", "node", "topology", "All nodes and links"),
        (r"/clusters/([^/]+)/", "cluster", "clusters", "All clusters"),
        (r"/projects/([^/]+)/", "project", "projects", "All projects"),
        (r"/groups/([^/]+)/", "group", "groups", "All groups"),
        (r"/alerts/rules/([^/]+)/", "alert rule", "alerts", "All alerts and rules"),
        (r"/requests/([^/]+)/", "request", "match-requests", "All requests"),
        (r"/migrations/([^/]+)/", "decision on a move", "migrations", "All migrations"),
        (r"/experiments/([^/]+)/", "experiment", "experiments", "All experiments"),
        (r"/reports/([^/]+)/", "report", "reports", "All reports"),
    )
)


@dataclass(frozen=True, slots=True)
class MissingPage:
    """message: what is not there. list_address, list_name: where such things are listed; empty for none."""

    message: str
    list_address: str = ""
    list_name: str = ""


def missing_page(request: HttpRequest, exception: Exception) -> MissingPage:
    """Of a 404. What somebody may not see is told in the same words as what there is not."""
    kind, name = _kind_of(request.path_info)
    own = str(exception) if isinstance(exception, Http404) and not isinstance(exception, Resolver404) else ""
    said = own if own.endswith(".") and not _OF_DJANGO.fullmatch(own) else ""
    if not said and kind and not isinstance(exception, Resolver404):
        said = f"There is no {kind.name} {name} that you can see; it may have been removed."
    said = said or f"No page has the address {request.path_info[:_SHOWN]}; it may have been mistyped."
    if kind is None:
        return MissingPage(said)
    try:
        return MissingPage(said, reverse(kind.list_url), kind.list_name)
    except NoReverseMatch:
        return MissingPage(said)


def _kind_of(path: str) -> tuple[_Kind | None, str]:
    for kind in _KINDS:
        if match := kind.address.match(path):
            return kind, match[1][:_SHOWN]
    return None, ""
