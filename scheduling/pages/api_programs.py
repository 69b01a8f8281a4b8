"""Programs that people bring themselves, over REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.base.errors import InputError
from gridportal.web.api_errors import WordedSerializer
from gridportal.web.api_limits import PersonThrottle, SubmitThrottle
from gridportal.web.api_permissions import may
from gridportal.web.held_object import HeldObject
from gridportal.web.write_limit import WriteThrottle
from scheduling import tasks
from scheduling.jobs.core import program_start
from scheduling.jobs.core.program_start import ProgramKind
from scheduling.jobs.models import Application
from scheduling.jobs.selectors import may_use, visible_applications
from scheduling.jobs.services import own_programs
from scheduling.jobs.services.own_programs import ProgramRequest
from scheduling.pages import selectors
from scheduling.pages.application_serializers import OutputPatternsDocument
from scheduling.pages.serializers import JobSerializer
from scheduling.pages.warning_fields import WarningSerializer, warning_documents
from scheduling.placing.services import program_test


class OwnProgramSerializer(WordedSerializer):
    """A program of the caller's own. Either `path` or `content` says where it is; the rest is as an application has
    it."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(
        choices=program_start.KIND_CHOICES, required=False, help_text="What starts its ranks."
    )
    path = serializers.CharField(required=False, allow_blank=True, max_length=1000, help_text="On the nodes.")
    content = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, help_text="The text of a script; empty: as it was."
    )
    arguments = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)
    mpi = serializers.ChoiceField(choices=list(program_start.MPI_LABELS.items()), required=False)
    description = serializers.CharField(required=False, allow_blank=True, max_length=10_000)
    parameters = serializers.ListField(child=serializers.DictField(), required=False)
    environment = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    modules = serializers.ListField(child=serializers.CharField(), required=False)
    output_patterns = OutputPatternsDocument(required=False, help_text="As an application has them.")
    pattern = serializers.CharField(required=False, allow_blank=True, max_length=60)
    ranks = serializers.DictField(required=False)
    enabled = serializers.BooleanField(required=False)

    def to_representation(self, instance: Application) -> dict[str, Any]:
        """With its address, with whom it is shared, and whether it is offered."""
        return {
            "slug": instance.slug,
            **program_document(instance),
            "shared_with": [share.with_whom for share in instance.shares.all()],
            "offered_at": instance.offered_at,
        }


class RegisteredProgramSerializer(OwnProgramSerializer):
    """A program as it is now, with what speaks against it."""

    warnings = WarningSerializer(many=True, read_only=True, help_text="What speaks against it; nothing is refused.")

    def to_representation(self, instance: Application) -> dict[str, Any]:
        """With its warnings."""
        return {**super().to_representation(instance), "warnings": warning_documents(instance)}


class ShareSerializer(WordedSerializer):
    """With whom."""

    whom = serializers.CharField(max_length=150, help_text="The user name of a person, or a group of yours.")
    stop = serializers.BooleanField(required=False, default=False, help_text="Share no more.")


class OfferSerializer(WordedSerializer):
    """Whether the program is offered."""

    offered = serializers.BooleanField(default=True)


class OwnPrograms(HeldObject, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Application]):
    """The caller's own programs. Of other people's one can be read that is shared with the caller, and all by who sees
    everybody's jobs, as among the applications; its text only by who may use it, and by administrators."""

    serializer_class = OwnProgramSerializer
    permission_classes = [may("scheduling.submit_job", read="scheduling.view_application")]
    lookup_field = "slug"
    lookup_value_regex = "[-a-zA-Z0-9_]+"
    queryset = Application.objects.none()

    def get_queryset(self) -> QuerySet[Application]:
        user = caller(self.request)
        seen = visible_applications(user) if self.action == "retrieve" else Application.objects.filter(owner=user)
        rows = Application.objects.filter(pk__in=seen.values("pk"), program__isnull=False)
        return rows.select_related("program").prefetch_related("shares__person", "shares__group")

    @extend_schema(responses=RegisteredProgramSerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """One of them, with what speaks against it."""
        user, application = caller(request), self.get_object()
        document = dict(RegisteredProgramSerializer(application).data)
        if not (may_use(user, application) or user.has_perm("scheduling.register_application")):
            document.pop("content", None)
        if application.owner_id != user.pk:
            document.pop("shared_with")
        return Response(document)

    @extend_schema(request=OwnProgramSerializer, responses={201: RegisteredProgramSerializer})
    def create(self, request: Request) -> Response:
        """Bring one. What speaks against it stands in `warnings`; a test run tells more."""
        made = own_programs.save_program(caller(request), asked_by_document(request.data))
        return Response(RegisteredProgramSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=OwnProgramSerializer, responses=RegisteredProgramSerializer)
    def partial_update(self, request: Request, slug: str) -> Response:
        with self.held_object() as application:
            asked = asked_by_document(request.data, application)
            changed = own_programs.save_program(caller(request), asked, application)
        return Response(RegisteredProgramSerializer(changed).data)

    @extend_schema(request=None, responses={201: JobSerializer})
    @action(detail=True, methods=["post"], throttle_classes=[SubmitThrottle, PersonThrottle, WriteThrottle])
    def test(self, request: Request, slug: str) -> Response:
        """Submit a job of it with two ranks and two minutes: whether the nodes find the program, and how it begins."""
        job = program_test.submit_test(caller(request), self.get_object())
        tasks.place_soon(job)
        return Response(JobSerializer(selectors.as_new(job)).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str) -> Response:
        """Take it away; one that jobs have run is kept."""
        own_programs.remove_program(caller(request), self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ShareSerializer, responses=OwnProgramSerializer)
    @action(detail=True, methods=["post"])
    def share(self, request: Request, slug: str) -> Response:
        """Let a person or a group of the caller's submit it."""
        application, asked = self.get_object(), ShareSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        whom = asked.validated_data["whom"]
        if asked.validated_data["stop"]:
            rows = [share for share in application.shares.all() if share.with_whom == whom]
            if not rows:
                raise InputError("whom", whom, "somebody that it is shared with")
            own_programs.stop_sharing(caller(request), rows[0])
        else:
            own_programs.share_program(caller(request), application, whom)
        return Response(OwnProgramSerializer(self.get_object()).data)

    @extend_schema(request=OfferSerializer, responses=OwnProgramSerializer)
    @action(detail=True, methods=["post"])
    def offer(self, request: Request, slug: str) -> Response:
        """Ask the administrators to publish it, or ask no more."""
        application, asked = self.get_object(), OfferSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        own_programs.offer_program(caller(request), application, offered=asked.validated_data["offered"])
        return Response(OwnProgramSerializer(application).data)


class PublishSerializer(WordedSerializer):
    """Which offer is meant: what was changed since has to be looked at again."""

    offered_at = serializers.DateTimeField()


class PublishAction(viewsets.GenericViewSet[Application]):
    """Publishing what a person has offered."""

    @extend_schema(request=PublishSerializer, responses=OpenApiTypes.OBJECT)
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, slug: str) -> Response:
        """Make an offered program everybody's."""
        asked = PublishSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = own_programs.publish_program(caller(request), self.get_object(), asked.validated_data["offered_at"])
        return Response(self.get_serializer(made).data)


def program_document(application: Application) -> dict[str, Any]:
    """A program as its owner sends it."""
    program = application.program
    return {
        "name": application.name,
        "kind": program.kind,
        **({"path": program.path} if program.path else {"content": program.text}),
        "arguments": program_start.arguments_of(ProgramKind(program.kind), application.command),
        "mpi": program.mpi,
        "description": application.description,
        "parameters": application.parameters,
        "environment": application.environment,
        "modules": application.modules,
        "pattern": application.pattern,
        "output_patterns": application.output_patterns.document(),
        "ranks": application.ranks,
        "enabled": application.enabled,
    }


def asked_by_document(document: Any, application: Application | None = None) -> ProgramRequest:
    """What a document asks for; of a program that is there, the rest stays. Raises ValidationError."""
    sent = OwnProgramSerializer(data=document, partial=application is not None)
    sent.is_valid(raise_exception=True)
    given = dict(sent.validated_data)
    before = {} if application is None else program_document(application)
    if given.get("content"):
        before.pop("path", None)
    if given.get("path"):
        before.pop("content", None)
    content = {**before, **given}.pop("content", "")
    fields = {name: value for name, value in {**before, **given}.items() if name != "content"}
    return ProgramRequest(
        **fields,
        content=content.replace("\r\n", "\n").encode() if content else None,
        file_name="script",
    )
