"""Clusters over REST: how each is, and checks of them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.web.api_permissions import may
from scheduling import tasks
from scheduling.cluster_checks import selectors, services
from scheduling.cluster_checks.check_messages import step_message
from scheduling.cluster_checks.core.check_step import CheckStep, StepResult, Verdict
from scheduling.cluster_checks.models import ClusterCheck


class CheckResultSerializer(serializers.Serializer[StepResult]):
    """One question of a check and its answer."""

    step = serializers.ChoiceField(choices=[step.value for step in CheckStep])
    outcome = serializers.ChoiceField(source="verdict", choices=[verdict.value for verdict in Verdict])
    message = serializers.SerializerMethodField()
    seconds = serializers.FloatField()

    def get_message(self, result: StepResult) -> str:
        return step_message(result)


class ClusterCheckSerializer(serializers.ModelSerializer[ClusterCheck]):
    """A check; `ended_at` is null while more answers come in."""

    asked_by = serializers.CharField(source="asked_by.username", default="", read_only=True)
    results = CheckResultSerializer(source="step_results", many=True, read_only=True)

    class Meta:
        model = ClusterCheck
        fields = ("id", "asked_by", "asked_at", "started_at", "ended_at", "results")
        read_only_fields = fields


class ClusterSerializer(serializers.Serializer[Any]):
    """A cluster as it is now."""

    name = serializers.CharField()
    backend = serializers.CharField(source="setting.backend")
    answers = serializers.BooleanField(allow_null=True, help_text="null: no worker has reached it yet.")
    problems = serializers.SerializerMethodField(help_text="Why it, or its jobs, cannot be followed.")
    nodes = serializers.IntegerField()
    free = serializers.IntegerField(help_text="Nodes that have room for a job now.")
    closed = serializers.IntegerField(help_text="Nodes that take no jobs.")
    busy = serializers.IntegerField(help_text="Nodes on which others run jobs.")
    held = serializers.IntegerField(help_text="Nodes without room beside jobs of the portal.")
    running = serializers.IntegerField(help_text="Jobs that hold nodes.")
    waiting = serializers.IntegerField()
    telemetry_age = serializers.FloatField(source="age", allow_null=True, help_text="Seconds, of the oldest source.")
    check = serializers.SerializerMethodField(help_text="The last one; null: there was none.")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_problems(self, state: Any) -> list[str]:
        return [error for error, _ in state.errors]

    @extend_schema_field(ClusterCheckSerializer(allow_null=True))
    def get_check(self, state: Any) -> dict[str, Any] | None:
        newest = selectors.last_check(state.name)
        return dict(ClusterCheckSerializer(newest).data) if newest else None


class Clusters(APIView):
    """All clusters that are set up."""

    permission_classes = [may("scheduling.view_clusters")]

    @extend_schema(responses=ClusterSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(ClusterSerializer(selectors.cluster_states(), many=True).data)


class ClusterDetail(APIView):
    """One cluster, with its last check."""

    permission_classes = [may("scheduling.view_clusters")]

    @extend_schema(responses=ClusterSerializer)
    def get(self, request: Request, name: str) -> Response:
        return Response(ClusterSerializer(selectors.cluster_state(_set_up(name))).data)


class CheckCluster(APIView):
    """Have all parts of a cluster asked."""

    permission_classes = [may("scheduling.check_cluster")]

    @extend_schema(request=None, responses={202: ClusterCheckSerializer})
    def post(self, request: Request, name: str) -> Response:
        row = services.ask_for_check(caller(request), _set_up(name))
        tasks.check_cluster.delay_on_commit(row.pk)
        return Response(ClusterCheckSerializer(row).data, status=202)


def _set_up(name: str) -> str:
    if name not in settings.CLUSTERS:
        raise Http404(f"No cluster called {name[:60]} is set up.")
    return name
