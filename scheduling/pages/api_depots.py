"""What jobs have in the depots over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.web.api_permissions import may
from scheduling.checkpoints.services.depot_use import depot_use


class DepotJobSerializer(serializers.Serializer[Any]):
    """What a job has on a node; `job` is null for one that is deleted, or of another portal."""

    name = serializers.CharField(help_text="As depots call it.")
    job = serializers.IntegerField(source="job.pk", allow_null=True, default=None)
    owner = serializers.CharField(source="job.owner.username", allow_null=True, default=None)
    bytes = serializers.IntegerField()
    shards = serializers.IntegerField()
    written_at = serializers.DateTimeField(allow_null=True)


class DepotNodeSerializer(serializers.Serializer[Any]):
    """The depot of a node, in bytes; null: it does not say."""

    node = serializers.CharField(source="report.node")
    bytes = serializers.IntegerField(source="report.bytes", help_text="What all jobs have there.")
    space = serializers.IntegerField(source="report.space", allow_null=True, help_text="What all jobs may have.")
    job_space = serializers.IntegerField(source="report.job_space", allow_null=True, help_text="What one job may have.")
    free = serializers.IntegerField(source="report.free", allow_null=True, help_text="What may be written now.")
    problem = serializers.CharField(source="report.problem", allow_blank=True, help_text="Why it does not answer.")
    jobs = DepotJobSerializer(many=True)


class DepotUseSerializer(serializers.Serializer[Any]):
    """The depots of a cluster."""

    cluster = serializers.CharField()
    bytes = serializers.IntegerField()
    problem = serializers.CharField(allow_blank=True, help_text="Why nobody can tell.")
    nodes = DepotNodeSerializer(many=True)


class DepotUses(APIView):
    """What jobs have in the depots of each cluster, as these say now."""

    permission_classes = [IsAuthenticated, may("scheduling.view_depots")]

    @extend_schema(responses=DepotUseSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Clusters with depots, node by node."""
        return Response(DepotUseSerializer(depot_use(), many=True).data)
