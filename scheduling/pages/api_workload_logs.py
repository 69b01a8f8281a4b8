"""Logs that were read over REST, for administrators: which there are, and their removal."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_permissions import may
from scheduling import tasks
from scheduling.workload_logs.models import LoggedCluster
from scheduling.workload_logs.selectors import logs_with_jobs
from scheduling.workload_logs.services.removing_logs import ask_removal


class WorkloadLogSerializer(serializers.ModelSerializer[LoggedCluster]):
    """A log that was read: its cluster, and its jobs."""

    jobs = serializers.IntegerField(read_only=True)
    first = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="When its first job was submitted; null: it has none left."
    )
    last = serializers.DateTimeField(read_only=True, allow_null=True, help_text="When its last job ended.")

    class Meta:
        model = LoggedCluster
        fields = (
            *("name", "computer", "nodes", "processors", "start", "read_at", "removing_at"),
            *("jobs", "first", "last"),
        )
        read_only_fields = fields


class WorkloadLogs(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[LoggedCluster]):
    """Logs of other systems whose jobs were read for reports by `gridportal workload import`."""

    serializer_class = WorkloadLogSerializer
    permission_classes = [may("scheduling.remove_workload_log")]
    queryset = LoggedCluster.objects.none()
    lookup_field = "name"
    lookup_value_regex = "[-a-zA-Z0-9_]{1,60}"

    def get_queryset(self) -> QuerySet[LoggedCluster, Any]:
        return logs_with_jobs()

    @extend_schema(responses={202: WorkloadLogSerializer})
    def destroy(self, request: Request, name: str) -> Response:
        """Remove a log with its jobs, their figures in reports, and the people, groups and applications that nothing
        else uses. A worker does it: the log is not found any more once that is done. This cannot be undone."""
        row = self.get_object()
        row.removing_at = ask_removal(caller(request), row.name).removing_at
        tasks.remove_log.delay_on_commit(row.name)
        return Response(WorkloadLogSerializer(row).data, status=202)
