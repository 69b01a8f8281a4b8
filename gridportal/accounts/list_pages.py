"""The lists of the portal whose views people save: their filters, and the columns to choose among. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from gridportal.base.errors import InputError

#: What the address of a list has beside its filters.
SORT, COLUMN = "sort", "column"
#: `?view=all`: the list as it is without any view of one's own.
ALL = "all"
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Column:
    """A column that may be left out. `usual`: it is shown unless somebody chooses others."""

    name: str
    label: str
    usual: bool = True


@dataclass(frozen=True, slots=True)
class ListPage:
    """A list: its key, what people call it, the name of its address, and what of the address is kept in a view."""

    key: str
    label: str
    address: str
    filters: Sequence[str]
    columns: Sequence[Column] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """All that a view of this list may have."""
        return (*self.filters, SORT, *((COLUMN,) if self.columns else ()))

    def shown(self, chosen: Iterable[str]) -> frozenset[str]:
        """The columns to show: those chosen, as far as there are such; the usual ones where none is."""
        names = {column.name for column in self.columns}
        return frozenset(names.intersection(chosen) or {column.name for column in self.columns if column.usual})

    def kept(self, query: str) -> str:
        """What a view keeps of the query of an address: filters, sort and columns that say something.

        >>> LISTS["jobs"].kept("state=failed&q=&page=3&view=all&column=state&column=owner")
        'state=failed&column=state&column=owner'
        """
        return urlencode([(name, value) for name, value in _pairs(query) if name in self.parameters and value])

    def read(self, query: str) -> str:
        """The same of what somebody wrote. Raises InputError for what this list does not know."""
        if len(query) > _LONGEST:
            raise InputError("query", query, f"at most {_LONGEST} characters")
        columns = [column.name for column in self.columns]
        for name, value in _pairs(query.removeprefix("?")):
            if name not in self.parameters:
                raise InputError("query", name, f"filters of the list {self.key}: {', '.join(self.parameters)}")
            if name == COLUMN and value not in columns:
                raise InputError("query", value, f"columns of the list {self.key}: {', '.join(columns)}")
        return self.kept(query.removeprefix("?"))


def same_view(one: str, other: str) -> bool:
    """Whether two queries show the same: their order says nothing.

    >>> same_view("state=failed&q=fft", "q=fft&state=failed")
    True
    """
    return sorted(_pairs(one)) == sorted(_pairs(other))


def list_page(key: str) -> ListPage:
    """The list of this key. Raises InputError where there is none."""
    if key not in LISTS:
        raise InputError("list", key, f"one of {', '.join(LISTS)}")
    return LISTS[key]


def _pairs(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)


def _columns(usual: Mapping[str, str], others: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    shown = [Column(name, label) for name, label in usual.items()]
    return (*shown, *(Column(name, label, usual=False) for name, label in (others or {}).items()))


_LISTS = (
    ListPage(
        "jobs",
        "Jobs",
        "jobs",
        ("q", "state", "application", "owner", "method", "since", "start", "until", "ids", "shared"),
        _columns(
            {
                "state": "State",
                "name": "Name",
                "application": "Application",
                "owner": "Owner",
                "ranks": "Ranks",
                "nodes": "Nodes",
                "chosen": "Chosen",
                "running": "Running, s",
                "check": "Check",
                "submitted": "Submitted",
            },
            {
                "cluster": "Cluster",
                "project": "Project",
                "method": "Method",
                "pattern": "Pattern",
                "limit": "Time limit",
                "started": "Started",
                "ended": "Ended",
            },
        ),
    ),
    ListPage(
        "sweeps",
        "Sweeps",
        "sweeps",
        ("q",),
        _columns(
            {
                "name": "Name",
                "application": "Application",
                "owner": "Owner",
                "jobs": "Jobs",
                "submitted": "Submitted",
            }
        ),
    ),
    ListPage(
        "migrations",
        "Migrations",
        "migrations",
        ("show",),
        _columns(
            {
                "job": "Job",
                "state": "State",
                "nodes": "From → to",
                "gain": "Predicted gain",
                "real_gain": "Real gain",
                "cost": "Predicted cost, s",
                "real_cost": "Real cost, s",
                "turned_out": "Turned out",
                "by": "By",
                "when": "When",
                "finding": "Finding",
            },
            {"cluster": "Cluster", "mode": "Mode"},
        ),
    ),
    ListPage(
        "match-requests",
        "Requests",
        "match-requests",
        ("show",),
        _columns(
            {
                "state": "State",
                "owner": "Owner",
                "cluster": "Cluster",
                "sent": "Sent",
                "ended": "Ended or expires",
                "tries": "Tries",
                "finding": "Finding",
            }
        ),
    ),
    ListPage("topology", "Topology", "topology", ("cluster", "q", "since", "start", "until", "node_sort")),
    ListPage(
        "reports",
        "Usage report",
        "reports",
        ("tab", "since", "start", "until", "find", "application", "owner", "state", "method", "q"),
        _columns(
            {
                "jobs": "Jobs",
                "node_hours": "Node-hours",
                "percent": "%",
                "cpu_hours": "Cpu-hours",
                "wait_median_seconds": "Waiting, median",
                "wait_p95_seconds": "Waiting, p95",
                "slowdown_median": "Slowdown, median",
                "failed": "Failed",
            }
        ),
    ),
    ListPage(
        "alerts",
        "Alerts",
        "alerts",
        ("show", "q"),
        _columns({"state": "State", "value": "Value then", "rule": "Rule", "fired": "Fired", "ended": "Ended"}),
    ),
    ListPage(
        "notices",
        "Notices",
        "notices",
        ("show", "kind"),
        _columns({"when": "When", "sent": "Also sent", "read": "Read"}),
    ),
    ListPage("audit", "Audit trail", "audit", ("actor", "action", "object", "last", "since", "until")),
    ListPage(
        "people",
        "People",
        "people",
        ("q", "logs"),
        _columns(
            {
                "state": "State",
                "role": "Role",
                "factor": "Second factor",
                "email": "E-mail",
                "tokens": "API tokens",
                "last": "Last sign-in",
            },
            {"groups": "Groups", "joined": "Since"},
        ),
    ),
)
#: By their keys, in the order of the rail.
LISTS: Mapping[str, ListPage] = {each.key: each for each in _LISTS}
