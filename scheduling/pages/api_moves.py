"""Moves, checkpoints and data of a job over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.long_answers import long_answer
from scheduling import tasks
from scheduling.checkpoints import selectors
from scheduling.checkpoints.models import RuntimeSupport
from scheduling.jobs.models import Job
from scheduling.pages.move_serializers import (
    ExpectedMoveSerializer,
    MoveRequestSerializer,
    MoveSerializer,
    RuntimeSupportSerializer,
)
from scheduling.rescheduling.services import expected_moves


class MoveActions(viewsets.GenericViewSet[Job]):
    """What the view set of jobs has for them."""

    @extend_schema(request=MoveRequestSerializer, responses={200: ExpectedMoveSerializer, 202: MoveSerializer})
    @action(detail=True, methods=["post"])
    def move(self, request: Request, pk: str) -> Response:
        """Have the job stopped with a checkpoint and go on, or go on from the last one where it has stopped or failed;
        202: its nodes are chosen next. 409: it is being moved. With `dry_run` nothing is stopped, and 200 tells what
        it is expected to take."""
        job = self.get_object()
        if not request.user.has_perm("scheduling.move_job", job):
            raise PermissionDenied("Only the owner of a job and operators may have it stopped and go on elsewhere.")
        asked = MoveRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        sent: dict[str, Any] = asked.validated_data
        nodes, ranks = sent.get("nodes"), sent.get("ranks")
        if sent["dry_run"]:
            with long_answer(caller(request).pk):
                found = expected_moves.expected(job, nodes, ranks)
            return Response(ExpectedMoveSerializer(found).data)
        made, _ = expected_moves.move(job, by=caller(request), nodes=nodes, ranks=ranks, reason=sent.get("reason", ""))
        tasks.continue_jobs.delay_on_commit(job.cluster)
        return Response(MoveSerializer(made).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(responses=MoveSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def moves(self, request: Request, pk: str) -> Response:
        """Each time that the job was stopped and went on, oldest first, with what each phase took."""
        return Response(MoveSerializer(selectors.moves_of(self.get_object()), many=True).data)

    @extend_schema(responses=RuntimeSupportSerializer)
    @action(detail=True)
    def data(self, request: Request, pk: str) -> Response:
        """How the job's data lie now, its checkpoints or restart files, and what it would go on from."""
        row = RuntimeSupport.objects.filter(job=self.get_object()).select_related("job__application").first()
        if row is None:
            raise NotFound("Nothing is known of its data: the program cannot be stopped, or has not started yet.")
        return Response(RuntimeSupportSerializer(row).data)
