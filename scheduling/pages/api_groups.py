"""Sweeps over REST: read input, check permission, call one service, answer."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_limits import PersonThrottle, SubmitThrottle
from gridportal.web.api_permissions import may
from gridportal.web.write_limit import WriteThrottle
from scheduling import tasks
from scheduling.jobs.group_models import JobGroup
from scheduling.pages.group_serializers import SubmitSweepSerializer, SweepDetailSerializer, SweepSerializer
from scheduling.pages.idempotency import IDEMPOTENCY_KEY, idempotency_key
from scheduling.pages.sweep_results import groups_visible_to
from scheduling.placing.services.many_jobs import cancel_jobs
from scheduling.placing.services.sweep_submission import submit_sweep


class Sweeps(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[JobGroup]):
    """The caller's sweeps; everybody's for operators, managers and administrators. Other people's are not found."""

    serializer_class = SweepSerializer
    permission_classes = [may("scheduling.submit_job", read="scheduling.view_application")]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = JobGroup.objects.none()

    def get_queryset(self) -> QuerySet[JobGroup]:
        return groups_visible_to(caller(self.request))

    def get_permissions(self) -> list[Any]:
        asked = "scheduling.submit_job" if self.action == "create" else "scheduling.view_application"
        return [may(asked)()]

    def get_throttles(self) -> list[Any]:
        return [SubmitThrottle() if self.action == "create" else PersonThrottle(), WriteThrottle()]

    @extend_schema(
        request=SubmitSweepSerializer,
        responses={200: SweepDetailSerializer, 201: SweepDetailSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    def create(self, request: Request) -> Response:
        """Submit a job for each combination of the values, all or none; 200 when the key was used before, 409 when it
        has made another sweep."""
        asked = SubmitSweepSerializer(data=request.data, context={"request": request})
        asked.is_valid(raise_exception=True)
        axes = asked.axes()
        key = idempotency_key(request, asked.validated_data.get("request_key"))
        group, is_new = submit_sweep(caller(request), asked.spec(key), axes)
        for job in group.jobs.all()[:1]:  # a worker that places one of them places all
            tasks.place_soon(job)
        return Response(SweepDetailSerializer(group).data, status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)

    @extend_schema(responses=SweepDetailSerializer)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One sweep with what came of each job."""
        return Response(SweepDetailSerializer(self.get_object()).data)

    @extend_schema(request=None, responses=SweepDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel all its jobs that are not over."""
        group = self.get_object()
        if not request.user.has_perm("scheduling.cancel_job_group", group):
            raise PermissionDenied("Only the owner of a sweep and operators may cancel it.")
        outcome = cancel_jobs(caller(request), [job for job in group.jobs.order_by("pk") if not job.is_final])
        for number in outcome.stopping:
            tasks.cancel_run.delay_on_commit(number)
        return Response(SweepDetailSerializer(group).data)
