"""Decisions on moves over REST: read input, check permission, call one service, answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
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
from scheduling.rescheduling.core.move_kinds import MoveKind
from scheduling.rescheduling.core.move_progress import MoveStage, StageProgress, StageState
from scheduling.rescheduling.difference_messages import what_differs
from scheduling.rescheduling.models import DecisionEvent, MoveDecision
from scheduling.rescheduling.other_moves import OtherMove, other_moves
from scheduling.rescheduling.services import deciding

#: So many of the newest moves without a decision are told of; the CSV has all.
_MOST_OTHERS = 1000


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
    """A decision on a move: seconds, shares, nodes rank by rank; `finding` in words: what failed, where it failed, else
    what the weighing found."""

    finding = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()
    reason_code = serializers.SerializerMethodField(
        help_text="The same as a code, which never changes; none: a person decided, or nothing is to say."
    )
    reason_facts = serializers.SerializerMethodField(help_text="What that code is about.")
    missed = serializers.SerializerMethodField()
    asked_by = serializers.CharField(
        source="person_asking",
        read_only=True,
        allow_null=True,
        help_text="Who had it weighed: such a move is proposed whatever its figures say. Null: the portal itself.",
    )
    pays = serializers.BooleanField(
        read_only=True,
        allow_null=True,
        help_text="Whether the gain is above the threshold; null: nobody can predict it. False beside the verdict "
        "move: it is proposed only because `asked_by` asked.",
    )

    class Meta:
        model = MoveDecision
        fields: tuple[str, ...] = (
            *("id", "job", "cluster", "run_number", "mode", "asked_by", "policy", "state", "state_since", "verdict"),
            *("verdict_until", "nodes_now", "nodes", "complete", "ret_current", "ret_new", "cost", "cost_kind"),
            *("costs", "gain", "threshold", "pays", "average", "measured_at", "created_at", "expires_at", "by", "why"),
            *("reason", "reason_code", "reason_facts", "groups", "continuation", "outcome", "missed", "finding"),
        )
        read_only_fields = fields

    def get_finding(self, row: MoveDecision) -> str:
        """The sentence of its page."""
        return decision_messages.failure(row) or decision_messages.finding(row)

    def get_reason(self, row: MoveDecision) -> str:
        """Why it is in its state, as the portal found: why it expired or failed; empty where a person decided."""
        return message(decision_messages.last_reason(row))

    def get_reason_code(self, row: MoveDecision) -> str:
        """The code of that."""
        return decision_messages.last_reason(row).code.value

    def get_reason_facts(self, row: MoveDecision) -> dict[str, Any]:
        """Its facts by their names."""
        facts: dict[str, Any] = decision_messages.last_reason(row).document()["facts"]
        return facts

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
        return what_differs(row, *selectors.to_compare(row))

    @extend_schema_field(StageSerializer(many=True))
    def get_progress(self, row: MoveDecision) -> Any:
        """Its stages; empty while the move has not begun."""
        return [StageSerializer(each).data for each in selectors.progress_of(row, timezone.now())]


class OtherMoveSerializer(serializers.Serializer[OtherMove]):
    """A move that no decision asked for; `kind` says what it was. times: how often a cluster started it again;
    total: seconds from the request until its program computed again, null where nobody measured them."""

    kind = serializers.ChoiceField(choices=[each.value for each in MoveKind if each is not MoveKind.DECISION])
    job = serializers.IntegerField(source="job.pk")
    cluster = serializers.CharField(source="job.cluster")
    state = serializers.CharField()
    nodes_now = serializers.ListField(child=serializers.CharField())
    nodes = serializers.ListField(child=serializers.CharField())
    by = serializers.CharField()
    why = serializers.CharField()
    reason = serializers.SerializerMethodField()
    reason_code = serializers.CharField(source="reason.code.value")
    asked_at = serializers.DateTimeField()
    settled_at = serializers.DateTimeField(source="settled")
    total = serializers.FloatField(allow_null=True)
    times = serializers.IntegerField()

    def get_reason(self, move: OtherMove) -> str:
        """Why it ended so, in words; empty for none."""
        return message(move.reason)


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
    reason = serializers.CharField(
        max_length=500, required=False, allow_blank=True, default="", help_text="Needed, with 3 letters at least."
    )


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

    @extend_schema(responses=OtherMoveSerializer(many=True))
    @action(detail=False, url_path="without-decision", url_name="without-decision")
    def without_decision(self, request: Request) -> Response:
        """Moves that no decision asked for, the newest first: direct ones, and what clusters put back. Direct
        ones count when it is weighed whether a job or its nodes were moved a short while ago."""
        user = caller(request)
        owner = None if user.has_perm("scheduling.view_moves") else user.pk
        page: Any = self.paginate_queryset(list(islice(other_moves(owner), _MOST_OTHERS)))
        return self.get_paginated_response(OtherMoveSerializer(page, many=True).data)

    @extend_schema(responses=DecisionDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One decision with its steps."""
        return self._detail(self.get_object())

    @extend_schema(request=ReasonSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Let the job move as proposed."""
        user = caller(request)
        return self._decide(
            "approve", ReasonSerializer, lambda row, asked: deciding.approve(user, row, asked["reason"])
        )

    @extend_schema(request=ReasonSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def refuse(self, request: Request, pk: str) -> Response:
        """Let it stay; a reason is needed."""
        user = caller(request)
        return self._decide("refuse", ReasonSerializer, lambda row, asked: deciding.refuse(user, row, asked["reason"]))

    @extend_schema(request=OverrideSerializer, responses=DecisionDetailSerializer)
    @action(detail=True, methods=["post"])
    def override(self, request: Request, pk: str) -> Response:
        """Let it move to other nodes, or to another number of them; a reason is needed."""
        user = caller(request)

        def override(row: MoveDecision, asked: dict[str, Any]) -> MoveDecision:
            return deciding.override(user, row, asked["nodes"], asked["reason"], asked["ranks"])

        return self._decide("override", OverrideSerializer, override)

    def _decide(
        self,
        verb: str,
        serializer: type[WordedSerializer],
        act: Callable[[MoveDecision, dict[str, Any]], MoveDecision],
    ) -> Response:
        row = self.get_object()
        if not self.request.user.has_perm(f"scheduling.{verb}_move"):
            raise PermissionDenied(decision_messages.refusal(verb))
        return self._detail(act(row, valid_data(serializer(data=self.request.data))))

    def _detail(self, row: MoveDecision) -> Response:
        return Response(DecisionDetailSerializer(row).data)
