"""Over REST: by which rules a cluster and a job are moved, and dry runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.web.api import no_such
from gridportal.web.api_errors import WordedSerializer, valid_data
from gridportal.web.api_permissions import may
from gridportal.web.long_answers import long_answer
from scheduling.jobs.models import Job
from scheduling.rescheduling import selectors
from scheduling.rescheduling.api import DecisionSerializer
from scheduling.rescheduling.core.decision_states import Policy
from scheduling.rescheduling.models import JobMovePolicy, ReschedulingPolicy
from scheduling.rescheduling.services import dry_runs, policies


class PolicySerializer(serializers.ModelSerializer[ReschedulingPolicy]):
    """The rules by which jobs of a cluster are moved; times in seconds."""

    changed_at = serializers.DateTimeField(read_only=True, allow_null=True, help_text="None: never.")

    class Meta:
        model = ReschedulingPolicy
        fields = (
            *("cluster", "policy", "cost_kind", "cost_scale", "threshold", "learns_threshold", "changes_ranks"),
            "expires_after",
            *("most_per_hour", "most_per_job", "job_cooldown", "node_cooldown", "allow", "deny"),
            *("changed_by", "changed_at"),
        )
        read_only_fields = ("cluster", "changed_by", "changed_at")


class JobPolicySerializer(serializers.ModelSerializer[JobMovePolicy]):
    """Whether one job is moved at all, and by which mode; an empty one is its cluster's."""

    policy = serializers.CharField(read_only=True, help_text="Empty: that of its cluster.")

    class Meta:
        model = JobMovePolicy
        fields = ("job", "opted_out", "policy")
        read_only_fields = fields


class JobPolicyChangeSerializer(WordedSerializer):
    """What is to change; what is not named stays."""

    opted_out = serializers.BooleanField(required=False)
    policy = serializers.ChoiceField(
        choices=[each.value for each in Policy], required=False, allow_blank=True, help_text="Operators only."
    )


class SimulatedMoveSerializer(DecisionSerializer):
    """A decision that is not kept: it has no number."""

    class Meta(DecisionSerializer.Meta):
        fields = (
            *("job", "cluster", "run_number", "mode", "verdict", "verdict_until", "nodes_now", "nodes", "complete"),
            *("ret_current", "ret_new", "cost", "cost_kind", "costs", "gain", "threshold", "pays", "measured_at"),
            "finding",
        )
        read_only_fields = fields


class DryRunSerializer(serializers.Serializer[dry_runs.DryRun]):
    """The series of moves in order, and the jobs that stay. saves: seconds of all together."""

    cluster = serializers.CharField()
    saves = serializers.FloatField()
    moves = SimulatedMoveSerializer(many=True)
    stays = SimulatedMoveSerializer(many=True)
    left_out = serializers.IntegerField(
        help_text="Jobs that were not weighed: there are too many, or it took too long."
    )
    problems = serializers.ListField(child=serializers.CharField())


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


class JobPolicy(APIView):
    """Whether one job is moved at all, and by which mode."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=JobPolicySerializer)
    def get(self, request: Request, pk: int) -> Response:
        """As it is; of a job of which nobody has said anything the defaults."""
        job = _visible(request, pk)
        return Response(JobPolicySerializer(selectors.job_policy(job) or JobMovePolicy(job=job)).data)

    @extend_schema(request=JobPolicyChangeSerializer, responses=JobPolicySerializer)
    def patch(self, request: Request, pk: int) -> Response:
        """Change what is named. The owner may opt out and in; operators also give it a mode of its own."""
        user, job = caller(request), _visible(request, pk)
        if not user.has_perm("scheduling.opt_out_of_moves", job):
            raise PermissionDenied("Only the owner of a job and operators may say how it is moved.")
        named = request.data if isinstance(request.data, Mapping) else {}
        if "policy" in named and not user.has_perm("scheduling.change_job_moves", job):
            raise PermissionDenied("Only operators may give a job a mode of its own.")
        asked = valid_data(JobPolicyChangeSerializer(data=request.data))
        return Response(JobPolicySerializer(policies.change_job_policy(user, job, **asked)).data)


class DryRun(APIView):
    """What the rescheduler would do on a cluster at this moment."""

    permission_classes = [may("scheduling.simulate_moves")]

    @extend_schema(responses=DryRunSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """The whole series of moves in order, capacity deducted; nothing is written and nothing is stopped."""
        with long_answer(caller(request).pk):
            return Response(DryRunSerializer(dry_runs.dry_run(cluster)).data)


def _visible(request: Request, pk: int) -> Job:
    """The job; 404 for one that this person may not see."""
    job = get_object_or_404(Job.objects.select_related("application", "owner"), pk=pk)
    user: Any = request.user
    if not user.has_perm("scheduling.view_job", job):
        raise no_such(Job)
    return job
