"""Jobs in a list of the API, written from plain rows: as `JobSerializer` has them, at a third of its cost."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from django.utils import timezone

from gridportal.web.templatetags.job_times import running_seconds
from scheduling.messages import message
from scheduling.pages.job_list import JobList
from scheduling.placing.core.room import Size
from scheduling.placing.selectors.occupancy import Reasons
from scheduling.runs.core.run_checks import is_verified

#: What `jobs_visible_to` adds to a job, and of the rows that it names.
_OTHERS = (
    *("cpus_per_rank", "owner__username", "application__slug", "chosen_nodes", "run_seconds", "run_verified"),
    *("all_runs", "lease_until", "attempts"),
)
_PLAIN = ("id", "name", "cluster", "state", "reason", "ranks", "node_count", "method", "pattern")
_TIMES = ("created_at", "started_at", "ended_at")


class JobRows(JobList):
    """A list of jobs whose parts are documents for the API."""

    def __getitem__(self, part: slice) -> list[dict[str, Any]]:  # type: ignore[override]
        start, stop, _ = part.indices(self._total)
        keys = self.keys(start, stop)
        columns = [*_PLAIN, *_TIMES, *_OTHERS]
        rows = {row["id"]: row for row in self.shown.order_by().filter(pk__in=keys).values(*columns)} if keys else {}
        reasons, zone = Reasons(), timezone.get_current_timezone()
        return [_document(rows[key], reasons, zone) for key in keys if key in rows]


def _document(row: dict[str, Any], reasons: Reasons, zone: tzinfo) -> dict[str, Any]:
    """The members in the order of JobSerializer."""
    size = Size(row["node_count"], row["ranks"] * row["cpus_per_rank"])
    leased = row["lease_until"], row["attempts"]
    reason = reasons.now(row["state"], row["cluster"], size, row["reason"], *leased)
    return {
        "id": row["id"],
        "name": row["name"],
        "owner": row["owner__username"],
        "application": row["application__slug"],
        "cluster": row["cluster"],
        "state": row["state"],
        "reason": message(reason),
        "reason_code": reason.code.value,
        "reason_facts": reason.document()["facts"],
        "ranks": row["ranks"],
        "node_count": row["node_count"],
        "method": row["method"],
        "pattern": row["pattern"],
        "nodes": row["chosen_nodes"],
        "seconds": row["run_seconds"],
        "running_seconds": running_seconds(row["started_at"], row["ended_at"], row["all_runs"], row["state"]),
        "verified": is_verified(row["run_verified"], row["state"]),
        "check_passed": row["run_verified"],
        "created_at": _moment(row["created_at"], zone),
        "started_at": _moment(row["started_at"], zone),
        "ended_at": _moment(row["ended_at"], zone),
    }


def _moment(moment: datetime | None, zone: tzinfo) -> str | None:
    """As the REST framework writes it."""
    text = moment.astimezone(zone).isoformat() if moment else None
    return f"{text[:-6]}Z" if text and text.endswith("+00:00") else text
