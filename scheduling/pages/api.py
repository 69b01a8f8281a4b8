"""Applications, jobs and previews over REST: read input, check permission, call one service, answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.accounts.models import User
from gridportal.base.accepted_values import one_of
from gridportal.base.errors import InputError
from gridportal.base.reasons import Code
from gridportal.web.api_errors import form_errors, valid_data
from gridportal.web.api_limits import PersonThrottle, SubmitThrottle
from gridportal.web.api_parsing import BoundedJSONParser, JSONWithFilesParser, files_of
from gridportal.web.api_permissions import may
from gridportal.web.held_object import HeldObject
from gridportal.web.logs_shown import LOGS, logs_shown
from gridportal.web.long_answers import long_answer
from gridportal.web.paging import distinct
from gridportal.web.write_limit import WriteThrottle
from monitoring.clusters.selectors import configured
from scheduling import tasks
from scheduling.contracts.selectors.run_ends import expected_ends
from scheduling.jobs.core.explanation import NO_EXPLANATION, Explanation
from scheduling.jobs.core.input_files import merged
from scheduling.jobs.core.states import JobState
from scheduling.jobs.filters import SORTS, JobFilterForm, is_ordering
from scheduling.jobs.models import Application, Job
from scheduling.jobs.selectors import viewable_jobs, visible_applications, without_logs
from scheduling.jobs.services import job_inputs, job_spec, registering
from scheduling.matching.match_documents import document
from scheduling.matching.services.limited_match import LONGEST_MATCHES
from scheduling.matching.services.matches_at_once import match_of
from scheduling.messages import documents, message, messages, selection_messages
from scheduling.pages import selectors
from scheduling.pages.api_compare import CompareActions
from scheduling.pages.api_many import ManyActions
from scheduling.pages.api_moves import MoveActions
from scheduling.pages.api_programs import PublishAction
from scheduling.pages.api_requirements import RequirementActions
from scheduling.pages.api_rows import JobRows
from scheduling.pages.api_runs import contract_answer, log_part, phases_of
from scheduling.pages.api_shares import ShareActions
from scheduling.pages.application_serializers import ApplicationSerializer
from scheduling.pages.contract_serializers import ContractSerializer
from scheduling.pages.idempotency import IDEMPOTENCY_KEY, idempotency_key
from scheduling.pages.output_serializers import LogPartSerializer, LogSerializer, PhaseSerializer, ScriptSerializer
from scheduling.pages.placement_serializers import PlacementSerializer, PreviewSerializer, TakeSerializer
from scheduling.pages.requirement_matches import requirement_match
from scheduling.pages.serializers import JobDetailSerializer, JobEventSerializer, JobFilterSerializer, JobSerializer
from scheduling.pages.submit_serializers import ResubmitSerializer, SubmitSerializer
from scheduling.pages.trial_document import trial_document
from scheduling.pages.warning_fields import RegisteredApplicationSerializer
from scheduling.placing.models import Placement
from scheduling.placing.selectors import occupancy
from scheduling.placing.selectors.trial_stories import last_placement, override, trial
from scheduling.placing.services import preview, submission, taking
from scheduling.runs import selectors as runs_selectors
from scheduling.runs.models import Run
from scheduling.runs.services import queue_actions

_MAY_SUBMIT = may("scheduling.submit_job", read="scheduling.view_application")
_WITH_FILES = ("create", "resubmit")
_SUBMITS = ("create", "resubmit", "random_nodes")
#: So many names of clusters that are gone a filter knows.
_MOST_CLUSTERS = 100
#: What is open to those with whom a job is shared.
_READS = frozenset(
    [
        *("retrieve", "events", "log", "script", "placement", "phases", "contract", "requirements", "moves", "data"),
        *("compare", "resubmit", "random_nodes"),
    ]
)


class Applications(HeldObject, mixins.ListModelMixin, mixins.RetrieveModelMixin, PublishAction):
    """The programs that can be run. Administrators register and change them."""

    serializer_class = ApplicationSerializer
    permission_classes = [may("scheduling.register_application", read="scheduling.view_application")]
    lookup_field = "slug"
    lookup_value_regex = "[-a-zA-Z0-9_]+"
    queryset = Application.objects.none()

    def get_queryset(self) -> QuerySet[Application]:
        rows = visible_applications(caller(self.request))
        return without_logs(rows) if self.action == "list" and not logs_shown(self.request) else rows

    @extend_schema(parameters=[LOGS])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """All that the caller may see; programs of logs, which nobody can submit, where `logs` is true."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=ApplicationSerializer, responses={201: RegisteredApplicationSerializer})
    def create(self, request: Request) -> Response:
        """Register one. What speaks against it stands in `warnings`."""
        fields = valid_data(ApplicationSerializer(data=request.data))
        made = registering.register_application(caller(request), fields)
        return Response(RegisteredApplicationSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ApplicationSerializer, responses=RegisteredApplicationSerializer)
    def partial_update(self, request: Request, slug: str) -> Response:
        fields = valid_data(ApplicationSerializer(data=request.data, partial=True))
        with self.held_object() as registered:
            changed = registering.register_application(caller(request), fields, registered)
        return Response(RegisteredApplicationSerializer(changed).data)

    def object_to_change(self) -> Application:
        """People change their own programs elsewhere."""
        return get_object_or_404(Application, slug=self.kwargs["slug"], owner__isnull=True)


class Jobs(mixins.ListModelMixin, CompareActions, ManyActions, MoveActions, RequirementActions, ShareActions):
    """The caller's jobs; everybody's for operators, managers and administrators. Other people's are not found, but for
    those that are shared with the caller: these are not in the list, and only read."""

    serializer_class = JobSerializer
    takes_ordering = True
    queryset = Job.objects.none()
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[Job]:
        person = caller(self.request)
        if self.action in _READS:
            return selectors.with_outcomes(viewable_jobs(person))
        return selectors.jobs_visible_to(person)

    def get_permissions(self) -> list[Any]:
        return [_MAY_SUBMIT()] if self.action in _SUBMITS else [IsAuthenticated()]

    def get_parsers(self) -> list[Any]:
        """Input files come with a submission, in a form; all else is JSON."""
        action = self.action_map.get((self.request.method or "").lower()) if self.request else None
        return [BoundedJSONParser(), *([JSONWithFilesParser()] if action in _WITH_FILES else [])]

    def get_throttles(self) -> list[Any]:
        return [SubmitThrottle() if self.action in _SUBMITS else PersonThrottle(), WriteThrottle()]

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any] | JobRows:  # type: ignore[override]  # for list
        if self.action != "list":
            return queryset
        form = JobFilterForm(self.request.query_params, caller(self.request))
        if not form.is_valid():
            raise ValidationError(form_errors(form))
        sort = self.request.query_params.get("ordering", "")
        if sort and not is_ordering(sort):
            raise InputError("ordering", sort, f"{one_of(SORTS)}, with a minus sign before it to turn it round")
        queryset = self._of_cluster(queryset)
        self._check_owner()
        return JobRows(form.apply(queryset), sort, queryset, at_once=form.reads_names)

    def _of_cluster(self, jobs: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the cluster that the address names. Raises InputError for one that there is not and was not."""
        name = self.request.query_params.get("cluster", "")
        known = {*configured(), *distinct(Job, "cluster", _MOST_CLUSTERS)} if name else ()
        if name and name not in known:
            raise InputError("cluster", name, one_of(sorted(known)))
        return jobs.filter(cluster=name) if name else jobs

    def _check_owner(self) -> None:
        """Raises InputError for a name that nobody has. Who sees the own jobs alone is not told who there is."""
        name = self.request.query_params.get("owner", "").strip()
        if not name or not self.request.user.has_perm("scheduling.view_all_jobs"):
            return
        if not User.objects.filter(username__iexact=name).exists():
            raise InputError("owner", name, "the name of a person who has an account")

    @extend_schema(parameters=[JobFilterSerializer])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Jobs, newest first unless `ordering` says otherwise."""
        rows = self.filter_queryset(self.get_queryset())
        page = self.paginate_queryset(rows)  # type: ignore[arg-type]  # it asks for slices and the count alone
        return self.get_paginated_response(page)

    @extend_schema(
        request=SubmitSerializer,
        responses={200: JobDetailSerializer, 201: JobDetailSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    def create(self, request: Request) -> Response:
        """Submit a job: 201, or 200 when this key has already made it.

        Input files come along in a form (multipart/form-data): the object above as JSON in the part `job`, each file
        in a part `inputs`. They lie in the folder of each run, under their names, before it starts.
        """
        asked = SubmitSerializer(data=request.data, context={"request": request})
        asked.is_valid(raise_exception=True)
        return self._submit(asked.spec(idempotency_key(request, asked.validated_data.get("request_key"))))

    @extend_schema(responses=JobDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One job in full."""
        return self._detail(self.get_object())

    @extend_schema(request=None, responses=JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel the job, whatever it is doing; a second time changes nothing."""
        job = self.get_object()
        if not request.user.has_perm("scheduling.cancel_job", job):
            raise PermissionDenied("Only the owner of a job and operators may cancel it.")
        if submission.cancel_job(caller(request), job).state == JobState.CANCELLING:
            tasks.cancel_run.delay_on_commit(job.pk)
        return self._detail(self.get_object())

    @extend_schema(request=None, responses=JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def hold(self, request: Request, pk: str) -> Response:
        """Keep a job that waits in its cluster's queue from starting."""
        return self._control(queue_actions.hold_job)

    @extend_schema(request=None, responses=JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str) -> Response:
        """Let a held job start."""
        return self._control(queue_actions.release_job)

    @extend_schema(request=None, responses=JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def requeue(self, request: Request, pk: str) -> Response:
        """Stop a running job and put it back into the queue under its own number."""
        return self._control(queue_actions.requeue_job)

    @extend_schema(
        request=ResubmitSerializer,
        responses={200: JobDetailSerializer, 201: JobDetailSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    @action(detail=True, methods=["post"])
    def resubmit(self, request: Request, pk: str) -> Response:
        """Submit the same again as a job of the caller's; what the body names differs. Its input files come along, and
        more may be sent as with a submission: of one name the new one counts."""
        old = self.get_object()
        changes = valid_data(ResubmitSerializer(data=request.data, context={"request": request}))
        keeps = changes.pop("keep_inputs", True)
        key = idempotency_key(request, changes.get("request_key"))
        spec = job_spec.JobSpec.from_row(old).with_changes(changes, key)
        return self._submit(spec if keeps else replace(spec, inputs=()), resubmitted_from=old)

    @extend_schema(responses=JobEventSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def events(self, request: Request, pk: str) -> Response:
        """The steps of the job's life, oldest first."""
        return Response(JobEventSerializer(self.get_object().events.all(), many=True).data)

    @extend_schema(parameters=[LogPartSerializer], responses=LogSerializer)
    @action(detail=True)
    def log(self, request: Request, pk: str) -> Response:
        """A piece of the last run's log, from a byte offset on."""
        run = self._run()
        return log_part(run, request, done=run.job.is_final)

    @extend_schema(responses=ScriptSerializer)
    @action(detail=True)
    def script(self, request: Request, pk: str) -> Response:
        """The exact script of the last run."""
        return Response({"script": self._run().script})

    @extend_schema(responses=PlacementSerializer)
    @action(detail=True)
    def placement(self, request: Request, pk: str) -> Response:
        """Where the last run was placed, and why there."""
        placement = last_placement(self.get_object())
        if placement is None:
            raise NotFound("This job has no placement yet: its nodes are not chosen.")
        return Response(PlacementSerializer(_placement(placement)).data)

    @extend_schema(request=TakeSerializer, responses=JobDetailSerializer)
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str) -> Response:
        """Take a candidate group while the job's skeleton is tried on them, or while it waits in a queue."""
        job = self.get_object()
        if not request.user.has_perm("scheduling.control_job", job):
            raise PermissionDenied("Only the owner of a job and operators may choose its group.")
        asked = valid_data(TakeSerializer(data=request.data))
        taking.take_candidate(caller(request), job, asked["candidate"], asked["reason"])
        tasks.poll_runs.delay_on_commit(job.cluster)
        return self._detail(self.get_object())

    @extend_schema(responses=PhaseSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def phases(self, request: Request, pk: str) -> Response:
        """What each phase of the last run took."""
        return phases_of(self._run())

    @extend_schema(responses=ContractSerializer)
    @action(detail=True)
    def contract(self, request: Request, pk: str) -> Response:
        """What the last run was promised, and what it gets."""
        return contract_answer(self._run())

    def _control(self, do: Callable[[Any, Job], Job]) -> Response:
        job = self.get_object()
        if not self.request.user.has_perm("scheduling.control_job", job):
            raise PermissionDenied("Only the owner of a job and operators may hold, release or requeue it.")
        do(caller(self.request), job)
        return self._detail(self.get_object())

    def _run(self) -> Run:
        run = runs_selectors.last_run(self.get_object())
        if run is None:
            raise NotFound("This job has no run yet: its nodes are not chosen.")
        return run

    def _submit(self, asked: job_spec.JobSpec, resubmitted_from: Job | None = None) -> Response:
        person, files = caller(self.request), files_of(self.request.data)
        if files:
            asked = replace(asked, inputs=merged(asked.inputs, job_inputs.receive(person, files)))
        job, is_new = submission.submit_once(person, asked, resubmitted_from=resubmitted_from)
        tasks.place_soon(job)
        if not is_new:
            return self._detail(self.get_queryset().get(pk=job.pk))
        return self._detail(selectors.as_new(job), status.HTTP_201_CREATED)

    def _detail(self, job: Job, code: int = status.HTTP_200_OK) -> Response:
        job.explanation = messages(occupancy.explanation(job))  # type: ignore[attr-defined]
        document = dict(JobDetailSerializer(job).data)
        if not self.request.user.has_perm("scheduling.read_job_files", job):
            document["inputs"] = None
        return Response(document, status=code)


class PreviewJob(APIView):
    """What the selection would choose now, and the script; nothing is written."""

    permission_classes = [may("scheduling.submit_job")]
    throttle_classes = [SubmitThrottle, PersonThrottle, WriteThrottle]

    @extend_schema(request=SubmitSerializer, responses=PreviewSerializer)
    def post(self, request: Request) -> Response:
        """Candidates with scores for a job as it would be submitted."""
        asked = SubmitSerializer(data=request.data, context={"request": request})
        asked.is_valid(raise_exception=True)
        owner = caller(request)
        with long_answer(owner.pk):
            spec, until = asked.spec(), time.monotonic() + LONGEST_MATCHES
            with match_of(owner.pk, text=spec.classad):
                match = requirement_match(spec, owner, until)
                shown = preview.preview(spec, owner, until, expected_ends)
        requirements = document(match.answer) if match else None
        return Response(PreviewSerializer(_preview(shown) | {"requirements": requirements}).data)


def _placement(placement: Placement) -> dict[str, Any]:
    """With sentences in the place of its reasons."""
    where = (placement.nodes, placement.candidates, occupancy.peak(placement), placement.method)
    return {
        **vars(placement),
        "finding": selection_messages.finding_of(*where),
        "objective": placement.objective.document(),
        "bottleneck": placement.bottleneck.document() if placement.bottleneck else None,
        "candidates": documents.candidates(placement.candidates),
        "warning": _warning(placement.warning, placement.explanation or NO_EXPLANATION),
        "explanation": documents.explanation(placement.explanation or NO_EXPLANATION),
        "trial": trial_document(trial(placement)),
        "override": override(placement),
    }


def _preview(found: preview.Preview) -> dict[str, Any]:
    """With sentences in the place of its reasons."""
    shown = {field.name: getattr(found, field.name) for field in fields(found)}
    first = found.candidates[0] if found.candidates else None
    groups = zip(documents.candidates(found.candidates), found.starts, strict=True)
    return {
        **shown,
        "candidates": [{**group, "expected_start": start} for group, start in groups],
        "bottleneck": first.bottleneck.document() if first and first.bottleneck else None,
        "finding": selection_messages.finding(first, found.peak, talks=found.talks) if first else "",
        "warning": _warning(found.warning, found.explanation),
        "problem": message(found.problem) or None,
        "trial": message(found.trial),
        "after": message(found.after),
        "explanation": documents.explanation(found.explanation),
        "ways": [{"words" if name == "label" else name: value for name, value in way.items()} for way in found.ways],
    }


def _warning(of_figures: str, why: Explanation) -> str:
    """What speaks against the figures, and that none of those are known that the job goes by."""
    unknown = [message(each) for each in why.remarks if each.code is Code.LATENCY_UNKNOWN]
    return " ".join(filter(None, (of_figures, *unknown)))
