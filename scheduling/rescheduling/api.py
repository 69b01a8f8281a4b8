"""Decisions on moves over REST: read input, check permission, call one service, answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import WordedSerializer, valid_data
from scheduling.jobs.core.explanation import Explanation, NodeReason, ReasonCount
from scheduling.messages import message
from scheduling.rescheduling import decision_messages, selectors
from scheduling.rescheduling.core.move_progress import MoveStage, StageProgress, StageState
from scheduling.rescheduling.difference_messages import what_differs
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.services import deciding


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
    reason = serializers.SerializerMethodField()
    missed = serializers.SerializerMethodField()

    class Meta:
        model = MoveDecision
        fields: tuple[str, ...] = (
            *("id", "job", "cluster", "run_number", "mode", "policy", "state", "state_since", "verdict"),
            *("verdict_until", "nodes_now", "nodes", "complete", "ret_current", "ret_new", "cost", "cost_kind"),
            *("costs", "gain", "threshold", "average", "measured_at", "created_at", "expires_at", "by", "why"),
            *("reason", "groups", "continuation", "outcome", "missed", "finding"),
        )
        read_only_fields = fields

    def get_finding(self, row: MoveDecision) -> str:
        """The sentence of its page."""
        return decision_messages.finding(row)

    def get_reason(self, row: MoveDecision) -> str:
        """Why it is in its state, as the portal found: why it expired or failed; empty where a person decided."""
        steps = list(row.events.all())
        return message(steps[-1].reason) if steps else ""

    def get_missed(self, row: MoveDecision) -> float | None:
        """The share of its time that moving would have saved a job that stayed and has ended well, else null."""
        return selectors.missed(row)


class StageSerializer(serializers.Serializer[StageProgress]):
    """A stage of a move: seconds that it took or has taken so far, and that it was to take; null: nobody knows."""

    stage = serializers.ChoiceField(choices=[each.value for each in MoveStage])
    state = serializers.ChoiceField(choices=[each.value for each in StageState])
    seconds = serializers.FloatField(allow_null=True)
    predicted = serializers.FloatField(allow_null=True)


class NodeLackSerializer(serializers.Serializer[NodeReason]):
    """A node, and what it lacked: the code with its facts, and in words."""

    node = serializers.CharField()
    code = serializers.CharField(source="reason.code.value")
    facts = serializers.JSONField(source="reason.facts")
    reason = serializers.SerializerMethodField()

    def get_reason(self, row: NodeReason) -> str:
        """What it lacked, in words."""
        return message(row.reason)


class LackCountSerializer(serializers.Serializer[ReasonCount]):
    """How many nodes lacked the same kind of thing, and in words what one of them lacked."""

    nodes = serializers.IntegerField()
    code = serializers.CharField(source="reason.code.value")
    reason = serializers.SerializerMethodField()

    def get_reason(self, row: ReasonCount) -> str:
        """What one of them lacked, in words."""
        return message(row.reason)


class LackingSerializer(serializers.Serializer[Explanation]):
    """What other nodes lacked where none could take the job: counts of all nodes, and the first of them by name."""

    counts = LackCountSerializer(many=True)
    nodes = NodeLackSerializer(many=True)


class DecisionDetailSerializer(DecisionSerializer):
    """The same with its steps, how far its move is, in `difference` what differs between both node sets, and in
    `lacking` what other nodes lacked where none could take the job."""

    events = DecisionEventSerializer(many=True)
    progress = serializers.SerializerMethodField()
    difference = serializers.SerializerMethodField()
    lacking = LackingSerializer(source="what_nodes_lack", read_only=True)

    class Meta(DecisionSerializer.Meta):
        fields = (*DecisionSerializer.Meta.fields, "difference", "lacking", "events", "progress")
        read_only_fields = fields

    def get_difference(self, row: MoveDecision) -> str:
        """The sentence of its page; empty where nothing is known of both."""
        return what_differs(row, *selectors.peaks_and_promise(row))

    @extend_schema_field(StageSerializer(many=True))
    def get_progress(self, row: MoveDecision) -> Any:
        """Its stages; empty while the move has not begun."""
        return [StageSerializer(each).data for each in selectors.progress_of(row, timezone.now())]


class ReasonSerializer(WordedSerializer):
    """Why, for whoever looks at it later."""

    reason = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class OverrideSerializer(WordedSerializer):
    """Other nodes, each once or rank by rank, or another number of ranks, or both; and why."""

    nodes = serializers.ListField(
        child=serializers.CharField(max_length=255),
        required=False,
        default=list,
        max_length=100_000,
        help_text="Empty: the portal chooses them for the number of ranks.",
    )
    ranks = serializers.IntegerField(min_value=1, max_value=100_000, required=False, allow_null=True, default=None)
    reason = serializers.CharField(max_length=500)


class Migrations(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[MoveDecision]):
    """Decisions on moves, the newest first; of their own jobs for users, all for operators and managers."""

    serializer_class = DecisionSerializer
    permission_classes = [IsAuthenticated]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = MoveDecision.objects.none()

    def get_queryset(self) -> QuerySet[MoveDecision]:
        user = caller(self.request)
        rows = MoveDecision.objects.select_related("job", "continuation")
        if self.action == "list":
            rows = rows.prefetch_related("events")
        return rows if user.has_perm("scheduling.view_moves") else rows.filter(Q(job__owner=user))

    @extend_schema(responses=DecisionDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One decision with its steps."""
        return self._detail(self.get_object())

    @extend_schema(request=ReasonSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Let the job move as proposed."""
        reason = valid_data(ReasonSerializer(data=request.data))["reason"]
        return self._decide("approve", lambda row: deciding.approve(caller(request), row, reason))

    @extend_schema(request=ReasonSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def refuse(self, request: Request, pk: str) -> Response:
        """Let it stay; a reason is needed."""
        reason = valid_data(ReasonSerializer(data=request.data))["reason"]
        return self._decide("refuse", lambda row: deciding.refuse(caller(request), row, reason))

    @extend_schema(request=OverrideSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def override(self, request: Request, pk: str) -> Response:
        """Let it move to other nodes, or to another number of them; a reason is needed."""
        asked = valid_data(OverrideSerializer(data=request.data))
        user, nodes, why, ranks = caller(request), asked["nodes"], asked["reason"], asked["ranks"]
        return self._decide("override", lambda row: deciding.override(user, row, nodes, why, ranks))

    def _decide(self, verb: str, act: Callable[[MoveDecision], MoveDecision]) -> Response:
        row = self.get_object()
        if not self.request.user.has_perm(f"scheduling.{verb}_move"):
            raise PermissionDenied(decision_messages.refusal(verb))
        return self._detail(act(row))

    def _detail(self, row: MoveDecision) -> Response:
        return Response(DecisionDetailSerializer(row).data)
