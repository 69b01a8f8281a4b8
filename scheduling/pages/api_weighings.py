"""Having moves of jobs weighed over REST."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.web.api import no_such
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.rescheduling import decision_messages
from scheduling.rescheduling.core.weighing_stage import WeighingStage
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.rescheduling.services import weighing_requests

#: The stage of one that has its decision.
_WEIGHED = "weighed"


class WeighingSerializer(serializers.ModelSerializer[WeighingRequest]):
    """A weighing that somebody asked for: `done` of `total` steps of `stage`; once it has ended the stage is `weighed`,
    all are done, and `decision` is there. One that failed stays at its stage."""

    stage = serializers.SerializerMethodField()
    done = serializers.SerializerMethodField()

    address = serializers.SerializerMethodField(help_text="Where to ask how far it is.")
    asked_by = serializers.CharField(source="asked_by.username", default=None, allow_null=True)
    progress = serializers.SerializerMethodField(help_text="The same as a sentence.")
    problem = serializers.SerializerMethodField(help_text="Why it was not weighed, or empty.")
    problem_code = serializers.CharField(
        source="problem.code.value",
        read_only=True,
        help_text="The same as a code, which never changes.",
    )
    problem_facts = serializers.SerializerMethodField(help_text="What that code is about: which stage failed, and why.")

    class Meta:
        model = WeighingRequest
        fields = (
            *("id", "address", "job", "asked_by", "asked_at", "stage", "done", "total", "progress"),
            *("ended_at", "decision", "problem", "problem_code", "problem_facts"),
        )
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=[*(each.value for each in WeighingStage), _WEIGHED]))
    def get_stage(self, row: WeighingRequest) -> str:
        """What is done now."""
        return _WEIGHED if row.is_weighed else str(row.stage)

    def get_done(self, row: WeighingRequest) -> int:
        """How many steps of the stage are done."""
        return row.total if row.is_weighed else row.done

    def get_address(self, row: WeighingRequest) -> str:
        """Of the REST API."""
        return reverse("api-weighing", args=[row.pk])

    def get_progress(self, row: WeighingRequest) -> str:
        """What its page says."""
        return decision_messages.progress_of(row)

    def get_problem(self, row: WeighingRequest) -> str:
        """The sentence."""
        return message(row.problem)

    def get_problem_facts(self, row: WeighingRequest) -> dict[str, Any]:
        """By their names."""
        facts: dict[str, Any] = row.problem.document()["facts"]
        return facts


class ProposeMove(APIView):
    """Having a move of a job weighed because somebody asks."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses={202: WeighingSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """It is weighed next; the answer's `address` says how far that is, and then which decision came of it. While a
        request is open for the job, that one. 409: a move of it is proposed or under way."""
        user, job = caller(request), get_object_or_404(Job.objects.select_related("application", "owner"), pk=pk)
        if not user.has_perm("scheduling.view_job", job):
            raise no_such(Job)
        if not user.has_perm("scheduling.propose_move", job):
            raise PermissionDenied("Only the owner of a job and operators may propose to move it.")
        asked = weighing_requests.ask(user, job)
        tasks.reschedule.delay_on_commit()
        said = WeighingSerializer(asked).data
        return Response(said, status=202, headers={"Location": said["address"]})


class Weighing(APIView):
    """A weighing that somebody asked for."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=WeighingSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """How far it is; once it has ended, its decision."""
        asked = get_object_or_404(WeighingRequest.objects.select_related("job__owner", "asked_by"), pk=pk)
        user = caller(request)
        if not (user.has_perm("scheduling.view_moves") or user.has_perm("scheduling.view_job", asked.job)):
            raise no_such(WeighingRequest)
        return Response(WeighingSerializer(asked).data)
