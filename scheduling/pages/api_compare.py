"""Jobs and runs side by side over REST, and a job once more on random nodes."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from scheduling import tasks
from scheduling.jobs.models import Job
from scheduling.messages import messages
from scheduling.pages import selectors
from scheduling.pages.compare_serializers import ComparedNamesSerializer, ComparisonSerializer
from scheduling.pages.comparison import ComparedRun, also_differs, comparison, may_read_files
from scheduling.pages.comparison_messages import finding, reservations
from scheduling.pages.comparison_names import compared_runs
from scheduling.pages.idempotency import IDEMPOTENCY_KEY, idempotency_key
from scheduling.pages.serializers import JobDetailSerializer
from scheduling.placing.selectors import occupancy
from scheduling.placing.services.random_nodes import submit_with_random_nodes
from scheduling.runs.models import Run


class CompareActions(viewsets.GenericViewSet[Job]):
    """What the view set of jobs has for it."""

    @extend_schema(parameters=[ComparedNamesSerializer], responses=ComparisonSerializer)
    @action(detail=False, pagination_class=None)
    def compare(self, request: Request) -> Response:
        """Two to six jobs or runs side by side: what was asked, nodes, the network then, phases, promised and real."""
        asked = ComparedNamesSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        runs = compared_runs(asked.validated_data["runs"], self._job, self._job_run)
        parts = comparison(runs, names_files=may_read_files(caller(request), runs))
        shown = {
            "finding": finding(runs),
            "reservations": reservations(runs, also_differs(parts)),
            "runs": [_document(each) for each in runs],
            "parts": parts,
        }
        return Response(ComparisonSerializer(shown).data)

    @extend_schema(
        request=None,
        responses={200: JobDetailSerializer, 201: JobDetailSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    @action(detail=True, methods=["post"], url_path="random-nodes", url_name="random-nodes")
    def random_nodes(self, request: Request, pk: str) -> Response:
        """Submit the same on nodes drawn at random, as a job of the caller's, to compare both: 201, or 200 when this
        key has already made it."""
        made, is_new = submit_with_random_nodes(caller(request), self.get_object(), idempotency_key(request))
        tasks.place_soon(made)
        shown = selectors.as_new(made)
        shown.explanation = messages(occupancy.explanation(made))  # type: ignore[attr-defined]
        return Response(
            JobDetailSerializer(shown).data, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        )

    def _job(self, pk: int) -> Job:
        return get_object_or_404(self.get_queryset(), pk=pk)

    def _job_run(self, pk: int, number: int) -> Run:
        return get_object_or_404(Run.objects.select_related("placement"), job=self._job(pk), number=number)


def _document(each: ComparedRun) -> dict[str, Any]:
    placement = each.run.placement if each.run else None
    offered = placement.objective if placement else None
    return {
        "job": each.job.pk,
        "run": each.run.number if each.run else None,
        "name": each.job.name,
        "application": each.job.application.slug,
        "state": each.state,
        "method": each.method,
        "nodes": placement.nodes if placement else [],
        "network_measured": placement.measured_at if placement else None,
        "slowest_pair": offered.min_bandwidth if offered else None,
        "least_free_cpu": offered.min_cpu if offered else None,
        "elapsed": each.elapsed,
        "seconds": each.seconds,
        "promised": each.promised,
        "predicted": each.predicted,
        "verified": each.run.is_verified if each.run else None,
        "check_passed": each.run.verified if each.run else None,
        "phases": each.phases,
    }
