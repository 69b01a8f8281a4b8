"""Notices over REST: what one was told, what one has read, and what one chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.accounts.models import User
from gridportal.base.errors import SeveralInputsError
from gridportal.web.api_errors import WordedSerializer
from scheduling.jobs.models import Job
from scheduling.notices import notice_messages, selectors
from scheduling.notices.models import FORMATS, JOB_CHOICES, Delivery, Notice, NoticeSettings
from scheduling.notices.services import choices


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """One way by which a notice goes; `error` of the last attempt that failed."""

    class Meta:
        model = Delivery
        fields = ("channel", "state", "attempts", "sent_at", "error")
        read_only_fields = fields


class NoticeSerializer(serializers.ModelSerializer[Notice]):
    """What one was told."""

    project = serializers.SlugRelatedField[Any](
        slug_field="name", read_only=True, allow_null=True, help_text="Its name."
    )
    application = serializers.SlugRelatedField[Any](
        slug_field="slug", read_only=True, allow_null=True, help_text="Its short name."
    )
    title = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField()
    deliveries = DeliverySerializer(many=True, read_only=True)

    class Meta:
        model = Notice
        fields = (
            *("id", "kind", "job", "decision", "alert", "project", "report", "application"),
            *("title", "text", "created_at", "read_at", "deliveries"),
        )
        read_only_fields = fields

    def get_title(self, row: Notice) -> str:
        """One line."""
        return notice_messages.title(row)

    def get_text(self, row: Notice) -> str:
        """Why, in a sentence; empty for nothing."""
        return notice_messages.text(row)


class NoticeFilterSerializer(WordedSerializer):
    """Which notices."""

    unread = serializers.BooleanField(required=False, default=False, help_text="Only those that were not read.")


class ReadSerializer(WordedSerializer):
    """Which notices were read."""

    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**62),
        required=False,
        max_length=1000,
        help_text="Without it all.",
    )


class ReadCountSerializer(serializers.Serializer[Any]):
    """What came of it."""

    read = serializers.IntegerField(help_text="How many were not read before.")


class SettingsSerializer(WordedSerializer):
    """What one is told: kinds by channel, and where e-mails and webhooks go."""

    page = serializers.ListField(child=serializers.CharField(max_length=10), required=False, max_length=8)
    email = serializers.ListField(child=serializers.CharField(max_length=10), required=False, max_length=8)
    webhook = serializers.ListField(child=serializers.CharField(max_length=10), required=False, max_length=8)
    email_address = serializers.CharField(max_length=254, required=False, allow_blank=True)
    webhook_url = serializers.CharField(max_length=1000, required=False, allow_blank=True)
    webhook_format = serializers.ChoiceField(choices=FORMATS, required=False)


class JobChoiceSerializer(WordedSerializer):
    """What one wants to hear of one job: usual is as of all one's jobs."""

    choice = serializers.ChoiceField(choices=JOB_CHOICES)


@extend_schema(parameters=[NoticeFilterSerializer])
class Notices(generics.ListAPIView[Notice]):
    """What the caller was told, the newest first."""

    serializer_class = NoticeSerializer
    permission_classes = [IsAuthenticated]
    queryset = Notice.objects.none()

    def get_queryset(self) -> QuerySet[Notice]:
        asked = NoticeFilterSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        rows = selectors.on_page(caller(self.request))
        rows = rows.filter(read_at=None) if asked.validated_data["unread"] else rows
        return rows.select_related("job", "decision", "event", "alert__rule", "application").prefetch_related(
            "deliveries"
        )


class ReadNotices(APIView):
    """Marking notices as read."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=ReadSerializer, responses=ReadCountSerializer)
    def post(self, request: Request) -> Response:
        """Those of `ids`, or all."""
        asked = ReadSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return Response({"read": choices.mark_read(caller(request), asked.validated_data.get("ids"))})


class NoticeChoices(APIView):
    """What the caller is told, by which ways."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=SettingsSerializer)
    def get(self, request: Request) -> Response:
        """As it is."""
        return Response(_document(selectors.settings_of(caller(request))))

    @extend_schema(request=SettingsSerializer, responses=SettingsSerializer)
    def patch(self, request: Request) -> Response:
        """Change what is named."""
        person, asked = caller(request), SettingsSerializer(data=request.data)
        if not asked.is_valid():
            raise ValidationError({**asked.errors, **_other_errors(person, asked)})
        return Response(_document(choices.change_settings(person, asked.validated_data)))


class TestNotice(APIView):
    """Trying where notices go."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses={201: NoticeSerializer})
    def post(self, request: Request) -> Response:
        """Send a test by every way that is set up; its deliveries say what became of it."""
        return Response(NoticeSerializer(choices.send_test(caller(request))).data, status=201)


class JobNoticeChoice(APIView):
    """What the caller wants to hear of one job."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=JobChoiceSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """As it is."""
        return Response({"choice": selectors.choice_of(caller(request), _visible(request, pk))})

    @extend_schema(request=JobChoiceSerializer, responses=JobChoiceSerializer)
    def put(self, request: Request, pk: int) -> Response:
        """Change it; who may see a job of another person can follow it this way."""
        job = _visible(request, pk)
        asked = JobChoiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return Response({"choice": choices.choose_for_job(caller(request), job, asked.validated_data["choice"])})


def _visible(request: Request, pk: int) -> Job:
    rows = Job.objects.select_related("owner")
    job = get_object_or_404(rows, pk=pk)
    return job if request.user.has_perm("scheduling.view_job", job) else get_object_or_404(rows.none(), pk=pk)


def _other_errors(person: User, asked: SettingsSerializer) -> dict[str, list[str]]:
    """What else is wrong, in the members whose shape is right."""
    if not isinstance(asked.initial_data, Mapping):
        return {}
    sent = asked.initial_data.items()
    changes = {name: value for name, value in sent if name in asked.fields and name not in asked.errors}
    errors = choices.wrong_settings(person, changes)
    return SeveralInputsError(errors).by_field() if errors else {}


def _document(row: NoticeSettings) -> dict[str, Any]:
    names = ("page", "email", "webhook", "email_address", "webhook_url", "webhook_format")
    return {name: getattr(row, name) for name in names}
