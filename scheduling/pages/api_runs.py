"""The runs of a job over REST, and what a run leaves: its log, its script and its phases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.base import run_listing
from gridportal.base.run_directory import RunFileError
from scheduling.contracts.selectors.contract_stories import contract_document, story_of
from scheduling.contracts.selectors.promises import contract_of
from scheduling.jobs.selectors import viewable_jobs
from scheduling.pages.contract_serializers import ContractSerializer
from scheduling.pages.output_serializers import (
    FilePathSerializer,
    LogPartSerializer,
    LogSerializer,
    PhaseSerializer,
    RunFolderSerializer,
    ScriptSerializer,
)
from scheduling.pages.run_file_access import check_may_read, directory_of, run_archive_response, run_file_response
from scheduling.pages.serializers import RunDetailSerializer
from scheduling.runs import selectors as runs_selectors
from scheduling.runs.models import Run


def log_part(run: Run, request: Request, *, done: bool) -> Response:
    """The answer with a piece of a run's log; `done`: nothing more comes. Raises ValidationError, NotFound for a
    log that cannot be read any more."""
    asked = LogPartSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    try:
        part = runs_selectors.read_log(run, **asked.validated_data, done=done)
    except RunFileError as error:
        if done:
            raise NotFound(str(error)) from error
        part = runs_selectors.LogPart("", 0, 0, complete=False)  # it may be made, or let go of, any moment
    return Response(LogSerializer(part).data)


def phases_of(run: Run) -> Response:
    """The answer with the phases of a run."""
    return Response(PhaseSerializer(runs_selectors.phase_summary(run), many=True).data)


def contract_answer(run: Run) -> Response:
    """The answer with the contract of a run. Raises NotFound where it has none."""
    contract = contract_of(run)
    if contract is None:
        raise NotFound("This run has no contract: one is opened once a run has started.")
    return Response(ContractSerializer(contract_document(story_of(contract))).data)


class JobRuns(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Run]):
    """The attempts of a job, oldest first. Whose job is not found, its runs are not either."""

    serializer_class = RunDetailSerializer
    permission_classes = [IsAuthenticated]
    pagination_class = None
    lookup_field = "number"
    lookup_value_regex = "[0-9]{1,9}"
    queryset = Run.objects.none()

    def get_queryset(self) -> QuerySet[Run]:
        job = get_object_or_404(viewable_jobs(caller(self.request)), pk=self.kwargs["job"])
        return job.runs.select_related("placement").order_by("number")

    @extend_schema(parameters=[LogPartSerializer], responses=LogSerializer)
    @action(detail=True)
    def log(self, request: Request, **_: Any) -> Response:
        """A piece of the run's log, from a byte offset on."""
        run = self.get_object()
        return log_part(run, request, done=runs_selectors.is_over(run))

    @extend_schema(responses=ScriptSerializer)
    @action(detail=True)
    def script(self, request: Request, **_: Any) -> Response:
        """The exact script of the run."""
        return Response({"script": self.get_object().script})

    @extend_schema(responses=PhaseSerializer(many=True))
    @action(detail=True)
    def phases(self, request: Request, **_: Any) -> Response:
        """What each phase of the run took."""
        return phases_of(self.get_object())

    @extend_schema(responses=ContractSerializer)
    @action(detail=True)
    def contract(self, request: Request, **_: Any) -> Response:
        """What the run was promised, and what it gets."""
        return contract_answer(self.get_object())

    @extend_schema(parameters=[FilePathSerializer], responses=RunFolderSerializer)
    @action(detail=True)
    def files(self, request: Request, **_: Any) -> Response:
        """What lies in the run's folder, or in one below it; only its owner and operators may ask."""
        run, path = self.get_object(), _path(request)
        check_may_read(request, run.job)
        with _not_found():
            listing = run_listing.list_folder(directory_of(run), path)
        shown = {"path": path, "entries": listing.entries, "left_out": listing.left_out}
        return Response(RunFolderSerializer(shown).data)

    @extend_schema(parameters=[FilePathSerializer], responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def file(self, request: Request, **_: Any) -> HttpResponseBase:
        """A file of the run's folder, whole or the bytes that the header Range asks for."""
        run = self.get_object()
        check_may_read(request, run.job)
        with _not_found():
            return run_file_response(request, run, _path(request))

    @extend_schema(parameters=[FilePathSerializer], responses={(200, "application/x-tar"): OpenApiTypes.BINARY})
    @action(detail=True)
    def archive(self, request: Request, **_: Any) -> HttpResponseBase:
        """The run's folder, or one below it, as one tar; Content-Length has its size, also for HEAD."""
        run = self.get_object()
        check_may_read(request, run.job)
        with _not_found():
            return run_archive_response(request, run, _path(request))


@contextmanager
def _not_found() -> Iterator[None]:
    """What cannot be read of a run's folder is not there for who asks. Raises NotFound."""
    try:
        yield
    except RunFileError as error:
        raise NotFound(str(error)) from error


def _path(request: Request) -> str:
    asked = FilePathSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    return str(asked.validated_data["path"])
