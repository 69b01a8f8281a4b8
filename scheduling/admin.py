"""Applications are registered on the portal's own pages; jobs and their records are only read here."""

from __future__ import annotations

from django.contrib import admin

from gridportal.accounts.admin import ReadOnlyAdmin
from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.messages import message
from scheduling.placing.models import Decision, Placement
from scheduling.runs.models import Run
from scheduling.skeletons.models import Skeleton, SkeletonRun


class _ReasonedAdmin(ReadOnlyAdmin):
    @admin.display(description="reason")
    def why(self, row: JobEvent | SkeletonRun) -> str:
        """Its reason in words."""
        return message(row.reason)


@admin.register(Application)
class ApplicationAdmin(ReadOnlyAdmin):
    list_display = ("slug", "name", "pattern", "enabled", "updated_at")
    list_filter = ("enabled",)


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "owner", "application", "state", "ranks", "node_count", "created_at", "ended_at")
    list_filter = ("state", "application", "method")
    list_select_related = ("owner", "application")
    search_fields = ("=id", "name", "owner__username")


@admin.register(JobEvent)
class JobEventAdmin(_ReasonedAdmin):
    list_display = ("job", "at", "from_state", "to_state", "actor", "why")
    list_select_related = ("job",)
    search_fields = ("=job__id",)


@admin.register(Placement)
class PlacementAdmin(ReadOnlyAdmin):
    list_display = ("job", "created_at", "method", "pattern", "nodes", "optimal", "seconds")
    list_select_related = ("job",)
    search_fields = ("=job__id",)


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("job", "at", "mode", "by", "candidate", "why")
    list_select_related = ("job",)
    search_fields = ("=job__id", "by")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "key",
        "backend",
        "state",
        "started_at",
        "ended_at",
        "exit_code",
        "verified",
        "is_verified",
        "seconds",
    )
    list_filter = ("state", "backend", "verified")
    search_fields = ("=job__id", "key")


@admin.register(Skeleton)
class SkeletonAdmin(ReadOnlyAdmin):
    list_display = ("id", "application", "ranks", "expected", "seconds", "why", "created_at")
    list_select_related = ("application",)

    @admin.display(description="problem")
    def why(self, row: Skeleton) -> str:
        """Its problem in words."""
        return message(row.problem)


@admin.register(SkeletonRun)
class SkeletonRunAdmin(_ReasonedAdmin):
    list_display = ("key", "backend", "state", "nodes", "seconds", "predicted", "started_at", "ended_at", "why")
    list_filter = ("state", "backend")
    search_fields = ("=job__id", "key")
