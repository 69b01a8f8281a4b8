"""Experiments of the papers over REST: what was found, and starting, cancelling and resuming them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.fields import Field
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.experiments import registry, selectors, tasks, trials_csv
from gridportal.experiments.models import Experiment
from gridportal.experiments.plan import MAX_NAME, MAX_SEED_ON_PAGES, Plan
from gridportal.experiments.services import requests
from gridportal.web.api_errors import WordedSerializer
from gridportal.web.api_permissions import may
from scheduling.pages.serializers import ReasonedSerializer


class ExperimentSerializer(ReasonedSerializer):
    """Where an experiment is; `done` and `of` count trials, `now` is the one it is at, `finding` one sentence."""

    started_by = serializers.CharField(source="started_by.username", default=None, allow_null=True, read_only=True)
    finding = serializers.SerializerMethodField()

    class Meta:
        model = Experiment
        fields: tuple[str, ...] = (
            "id",
            "name",
            "seed",
            "full",
            "foreign",
            "only",
            "state",
            "reason",
            "reason_code",
            "reason_facts",
            "done",
            "of",
            "now",
            "started_by",
            "created_at",
            "started_at",
            "ended_at",
            "finding",
        )
        read_only_fields = fields

    def get_finding(self, row: Experiment) -> str:
        """What was found so far; empty before the first trial is over."""
        return selectors.finding(row)


class ExperimentDetailSerializer(ExperimentSerializer):
    """The same with `result`, the summary of all its trials; null before the first is over."""

    class Meta(ExperimentSerializer.Meta):
        fields = (*ExperimentSerializer.Meta.fields, "result")
        read_only_fields = fields


class StartSerializer(WordedSerializer):
    """Which experiment, with which seed (the same seed meets the same traffic), and whether a full run of a night.

    Of skeletons also: whether with programs that are not the project's own, and a single program by its name.
    """

    name = serializers.ChoiceField(choices=())
    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED_ON_PAGES, default=1)
    full = serializers.BooleanField(default=False)
    foreign = serializers.BooleanField(default=False)
    only = serializers.CharField(default="", allow_blank=True, max_length=MAX_NAME)

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        """The fields, with the experiments there are."""
        return {**super().get_fields(), "name": serializers.ChoiceField(choices=registry.names())}


class Experiments(mixins.ListModelMixin, viewsets.GenericViewSet[Experiment]):
    """Experiments, newest first. Everybody reads them; operators and administrators start, cancel and resume them."""

    serializer_class = ExperimentSerializer
    permission_classes = [may("experiments.run_experiment", read="experiments.view_experiment")]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = Experiment.objects.select_related("started_by")

    @extend_schema(request=StartSerializer, responses={201: ExperimentDetailSerializer})
    def create(self, request: Request) -> Response:
        """Put one into the line; one runs at a time."""
        asked = StartSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user = caller(request)
        row = requests.start(user, Plan(**asked.validated_data))
        tasks.tend_experiments.delay_on_commit()
        return Response(ExperimentDetailSerializer(row).data, status=201)

    @extend_schema(responses=ExperimentDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One with the summary of what it found."""
        return Response(ExperimentDetailSerializer(self.get_object()).data)

    @extend_schema(request=None, responses=ExperimentDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """End it after the trial it is at; it can be resumed."""
        return self._act(requests.cancel)

    @extend_schema(request=None, responses=ExperimentDetailSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Let one that was stopped or has failed go on where it was."""
        return self._act(requests.resume)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
    @action(detail=True, url_path="trials.csv", url_name="trials")
    def trials(self, request: Request, pk: str) -> HttpResponse:
        """All its trials as CSV, as the page gives them."""
        row = self.get_object()
        experiment = registry.find(row.name)
        text = trials_csv.text(selectors.trials(row), experiment.columns if experiment else ())
        return HttpResponse(text, content_type="text/csv; charset=utf-8")

    def _act(self, verb: Callable[..., Experiment]) -> Response:
        row = verb(caller(self.request), self.get_object())
        tasks.tend_experiments.delay_on_commit()
        return Response(ExperimentDetailSerializer(row).data)
