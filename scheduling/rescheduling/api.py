"""Decisions on moves over REST: read input, check permission, call one service, answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import WordedSerializer
from gridportal.web.api_permissions import may
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.rescheduling import decision_messages, selectors
from scheduling.rescheduling.models import DecisionEvent, MoveDecision, ReschedulingPolicy
from scheduling.rescheduling.services import deciding, policies, weighing_jobs


class DecisionEventSerializer(serializers.ModelSerializer[DecisionEvent]):
    """One step of a decision: `why` in a person's own words, `reason` as the portal found."""

    reason = serializers.SerializerMethodField()

    class Meta:
        model = DecisionEvent
        fields = ("at", "from_state", "to_state", "actor", "why", "reason")
        read_only_fields = fields

    def get_reason(self, row: DecisionEvent) -> str:
        """The sentence; empty for none."""
        return message(row.reason)


class DecisionSerializer(serializers.ModelSerializer[MoveDecision]):
    """A decision on a move: seconds, shares, nodes rank by rank; `finding` in words."""

    finding = serializers.SerializerMethodField()

    class Meta:
        model = MoveDecision
        fields: tuple[str, ...] = (
            *("id", "job", "cluster", "run_number", "mode", "policy", "state", "state_since", "verdict"),
            *("verdict_until", "nodes_now", "nodes", "complete", "ret_current", "ret_new", "cost", "cost_kind"),
            *("costs", "gain", "threshold", "average", "measured_at", "created_at", "expires_at", "by", "why"),
            *("continuation", "outcome", "finding"),
        )
        read_only_fields = fields

    def get_finding(self, row: MoveDecision) -> str:
        """The sentence of its page."""
        return decision_messages.finding(row)


class DecisionDetailSerializer(DecisionSerializer):
    """The same with its steps."""

    events = DecisionEventSerializer(many=True)

    class Meta(DecisionSerializer.Meta):
        fields = (*DecisionSerializer.Meta.fields, "events")
        read_only_fields = fields


class ReasonSerializer(WordedSerializer):
    """Why, for whoever looks at it later."""

    reason = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class OverrideSerializer(WordedSerializer):
    """Other nodes, one name for each rank, and why."""

    nodes = serializers.ListField(child=serializers.CharField(max_length=255), min_length=1, max_length=100_000)
    reason = serializers.CharField(max_length=500)


class PolicySerializer(serializers.ModelSerializer[ReschedulingPolicy]):
    """The rules by which jobs of a cluster are moved; times in seconds."""

    changed_at = serializers.DateTimeField(read_only=True, allow_null=True, help_text="None: never.")

    class Meta:
        model = ReschedulingPolicy
        fields = (
            *("cluster", "policy", "cost_kind", "cost_scale", "threshold", "learns_threshold", "expires_after"),
            *("most_per_hour", "job_cooldown", "node_cooldown", "allow", "deny", "changed_by", "changed_at"),
        )
        read_only_fields = ("cluster", "changed_by", "changed_at")


class Migrations(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[MoveDecision]):
    """Decisions on moves, the newest first; of their own jobs for users, all for operators and managers."""

    serializer_class = DecisionSerializer
    permission_classes = [IsAuthenticated]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = MoveDecision.objects.none()

    def get_queryset(self) -> QuerySet[MoveDecision]:
        user = caller(self.request)
        rows = MoveDecision.objects.select_related("job")
        return rows if user.has_perm("scheduling.view_moves") else rows.filter(Q(job__owner=user))

    @extend_schema(responses=DecisionDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One decision with its steps."""
        return self._detail(self.get_object())

    @extend_schema(request=ReasonSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Let the job move as proposed."""
        reason = _valid(ReasonSerializer(data=request.data))["reason"]
        return self._decide(lambda row: deciding.approve(caller(request), row, reason))

    @extend_schema(request=ReasonSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def refuse(self, request: Request, pk: str) -> Response:
        """Let it stay; a reason is needed."""
        reason = _valid(ReasonSerializer(data=request.data))["reason"]
        return self._decide(lambda row: deciding.refuse(caller(request), row, reason))

    @extend_schema(request=OverrideSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def override(self, request: Request, pk: str) -> Response:
        """Let it move to other nodes; a reason is needed."""
        asked = _valid(OverrideSerializer(data=request.data))
        return self._decide(lambda row: deciding.override(caller(request), row, asked["nodes"], asked["reason"]))

    def _decide(self, act: Callable[[MoveDecision], MoveDecision]) -> Response:
        row = self.get_object()
        if not self.request.user.has_perm("scheduling.decide_move"):
            raise PermissionDenied("Only operators may decide on moves.")
        return self._detail(act(row))

    def _detail(self, row: MoveDecision) -> Response:
        return Response(DecisionDetailSerializer(row).data)


class ProposeMove(APIView):
    """Weighing a move of a job because somebody asks."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses={201: DecisionDetailSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Weigh it now; the answer says whether it pays, and waits for an operator."""
        user = caller(request)
        job = get_object_or_404(Job.objects.select_related("application", "owner"), pk=pk)
        if not user.has_perm("scheduling.view_job", job):
            return Response({"detail": f"There is no job {pk}."}, status=404)
        if not user.has_perm("scheduling.propose_move", job):
            raise PermissionDenied("Only the owner of a job and operators may propose to move it.")
        return Response(DecisionDetailSerializer(weighing_jobs.weigh_on_request(user, job)).data, status=201)


class MovePolicy(APIView):
    """The rules by which jobs of a cluster are moved."""

    permission_classes = [may("scheduling.change_move_policy", read="scheduling.view_moves")]

    @extend_schema(responses=PolicySerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """As they are; of a cluster that nobody has changed the defaults."""
        return Response(PolicySerializer(selectors.policy(cluster)).data)

    @extend_schema(request=PolicySerializer, responses=PolicySerializer)
    def patch(self, request: Request, cluster: str) -> Response:
        """Change those that are named."""
        changes = dict(request.data) if isinstance(request.data, dict) else {}
        return Response(PolicySerializer(policies.change_policy(caller(request), cluster, changes)).data)


def _valid(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    found: dict[str, Any] = serializer.validated_data
    return found
