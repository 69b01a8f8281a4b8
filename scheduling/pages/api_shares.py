"""With whom a job is shared, over REST."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import WordedSerializer
from scheduling.jobs.models import Job
from scheduling.jobs.services import sharing_jobs
from scheduling.jobs.share_models import JobShare


class NewShareSerializer(WordedSerializer):
    """With whom; without, by a link."""

    whom = serializers.CharField(
        required=False, max_length=150, help_text="The user name of a person, or a group of yours; none: make a link."
    )
    days = serializers.IntegerField(
        required=False, min_value=1, max_value=sharing_jobs.MAX_DAYS, help_text="How long a link lasts; else 30."
    )
    with_files = serializers.BooleanField(required=False, default=False, help_text="The files of its runs, too.")


class JobShareSerializer(serializers.Serializer[Any]):
    """Somebody with whom a job is shared. `link`: its address, only in the answer that makes it."""

    id = serializers.IntegerField()
    whom = serializers.CharField(source="with_whom")
    is_link = serializers.BooleanField()
    with_files = serializers.BooleanField()
    made_by = serializers.CharField(source="made_by.username")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    opened_by = serializers.SerializerMethodField()
    link = serializers.SerializerMethodField()

    def get_opened_by(self, share: JobShare) -> list[str]:
        """The user names of who has opened a link."""
        return [visit.person.username for visit in share.visits.all()]

    def get_link(self, _: JobShare) -> str | None:
        """Its address."""
        link: str | None = self.context.get("link")
        return link


class ShareActions(viewsets.GenericViewSet[Job]):
    """What the view set of jobs has for it."""

    @extend_schema(methods=["GET"], responses=JobShareSerializer(many=True))
    @extend_schema(methods=["POST"], request=NewShareSerializer, responses={201: JobShareSerializer})
    @action(detail=True, methods=["get", "post"], pagination_class=None)
    def shares(self, request: Request, pk: str) -> Response:
        """With whom it is shared; or share it with a person, a group or, without `whom`, by a link."""
        sends = request.method == "POST"
        job = self._shareable(request, "scheduling.share_job" if sends else "scheduling.unshare_job")
        if not sends:
            rows = job.shares.select_related("person", "group", "made_by").prefetch_related("visits__person")
            return Response(JobShareSerializer(rows, many=True).data)
        asked = NewShareSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given, context = asked.validated_data, {}
        if whom := given.get("whom"):
            made = sharing_jobs.share_job(caller(request), job, whom, with_files=given["with_files"])
        else:
            days = given.get("days", sharing_jobs.USUAL_DAYS)
            made, secret = sharing_jobs.make_link(caller(request), job, days=days, with_files=given["with_files"])
            context = {"link": request.build_absolute_uri(reverse("shared-job", args=[secret]))}
        return Response(JobShareSerializer(made, context=context).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=None,
        responses={204: None},
        parameters=[OpenApiParameter("share", int, OpenApiParameter.PATH, description="Its id.")],
    )
    @action(
        detail=True,
        methods=["delete"],
        url_path=r"shares/(?P<share>[0-9]{1,18})",
        url_name="share",
        pagination_class=None,
    )
    def unshare(self, request: Request, pk: str, share: str) -> Response:
        """Share it no more with one of them."""
        job = self._shareable(request, "scheduling.unshare_job")
        sharing_jobs.stop_sharing_job(caller(request), get_object_or_404(JobShare, pk=int(share), job=job))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _shareable(self, request: Request, permission: str) -> Job:
        job = self.get_object()
        if not request.user.has_perm(permission, job):
            raise PermissionDenied("Only its owner shares a job; operators see with whom, and can end it.")
        return job
