"""What every page's frame needs: version, age and warnings of the clusters' data, and which part one is in."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from gridportal.accounts.models import User
from gridportal.accounts.rules import operates
from gridportal.serve import parts
from monitoring.clusters.models import Cluster
from scheduling.maintenance import selectors as maintenance
from scheduling.maintenance.put_away import still_shown
from scheduling.notices import selectors as notices

VERSION = version("gridportal")
# Which entry of the rail a page belongs to, by the name of its address.
SECTIONS = {
    "submit": "submit",
    "job": "jobs",
    "job-run": "jobs",
    "jobs": "jobs",
    "jobs-compare": "jobs",
    "sweep": "jobs",
    "sweeps": "jobs",
    "topology": "topology",
    "node": "topology",
    "link": "topology",
    "telemetry": "telemetry",
    "application": "applications",
    "applications": "applications",
    "application-new": "applications",
    "application-edit": "applications",
    "experiments": "experiments",
    "experiment": "experiments",
    "experiment-start": "experiments",
    "migrations": "migrations",
    "migration": "migrations",
    "migration-rules": "migrations",
    "match-requests": "requests",
    "match-request": "requests",
    "match-request-new": "requests",
    "resource-ad-change": "requests",
    "report": "reports",
    "report-sections": "reports",
    "report-schedules": "reports",
    "report-schedule-new": "reports",
    "report-schedule-edit": "reports",
    "workload-logs": "reports",
    "workload-log-remove": "reports",
    "alerts": "alerts",
    "alert-rule": "alerts",
    "alert-rule-new": "alerts",
    "maintenance": "maintenance",
    "maintenance-plan": "maintenance",
    "announcement-make": "maintenance",
    "projects": "projects",
    "project": "projects",
    "project-new": "projects",
    "project-edit": "projects",
    "budget-new": "projects",
    "budget-edit": "projects",
    "people": "people",
    "person-invite": "people",
    **dict.fromkeys(
        ("groups", "group", "group-new", "group-add", "group-rename", "group-role", "group-project"), "people"
    ),
    "clusters": "clusters",
    "cluster": "clusters",
    "settings": "settings",
    "notices": "notices",
    "notice-settings": "notices",
    "account": "account",
    "account-password": "account",
    "account-token-add": "account",
    "second-factor": "account",
    "second-factor-remove": "account",
    "second-factor-codes": "account",
    "second-factor-confirm": "account",
    "security-key-new": "account",
    "saved-views": "account",
    "audit": "audit",
    "help": "help",
}


def shell(request: HttpRequest) -> dict[str, Any]:
    """Version, section, clusters and parts; clusters and parts are read only when a page shows them."""
    match = request.resolver_match
    return {
        "version": VERSION,
        "section": SECTIONS.get(match.url_name or "", "") if match else "",
        "clusters": SimpleLazyObject(_clusters),
        "announcements_now": SimpleLazyObject(lambda: still_shown(request, maintenance.shown(timezone.now()))),
        "maintenance_soon": SimpleLazyObject(lambda: list(maintenance.soon(timezone.now()))),
        "unread_notices": SimpleLazyObject(lambda: _unread(request)),
        "troubled_parts": SimpleLazyObject(lambda: _troubled_parts(request)),
    }


def _unread(request: HttpRequest) -> int:
    """How many notices the caller has not read."""
    person = getattr(request, "user", None)
    return notices.unread(person) if isinstance(person, User) else 0


def _troubled_parts(request: HttpRequest) -> list[parts.Part]:
    """For operators and administrators, which of the portal's processes are not well or were just started again; those
    that are down first, those that are up last."""
    if not operates.test(getattr(request, "user", None) or AnonymousUser()):
        return []
    troubled = [part for part in parts.read(settings.PORTAL.home) or () if part.is_worth_telling]
    return sorted(troubled, key=lambda part: (not part.is_down, part.state is parts.State.UP))


def _clusters() -> list[Cluster]:
    return list(Cluster.objects.order_by("name"))
