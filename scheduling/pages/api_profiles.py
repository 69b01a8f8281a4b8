"""Profiles of applications over REST."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import WordedSerializer
from gridportal.web.api_permissions import may
from scheduling.jobs.selectors import visible_applications
from scheduling.messages import message
from scheduling.profiles.models import Profile
from scheduling.profiles.services import stored_profiles
from scheduling.skeletons.models import Skeleton
from scheduling.skeletons.services import stored_skeletons


class ProfileSerializer(serializers.ModelSerializer[Profile]):
    """Who talks to whom: `document` has the matrices, dominant pairs, phases and calls; see the profile's page."""

    stale = serializers.SerializerMethodField()
    run_failed = serializers.SerializerMethodField()
    warning = serializers.SerializerMethodField()
    warning_code = serializers.SerializerMethodField()

    class Meta:
        model = Profile
        fields = (
            "id",
            "source",
            "ranks",
            "parameters",
            "pattern",
            "stale",
            "run_failed",
            "warning",
            "warning_code",
            "created_at",
            "document",
        )
        read_only_fields = fields

    def get_stale(self, row: Profile) -> bool:
        """Whether no job takes it any more: the application has changed since, or its run failed."""
        return stored_profiles.is_stale(row)

    def get_run_failed(self, row: Profile) -> bool:
        """Whether its run failed before all ranks had called MPI_Finalize, so that no job ever takes it."""
        return stored_profiles.run_failed(row)

    def get_warning(self, row: Profile) -> str:
        """Why a skeleton built from it tells little; empty where nothing speaks against it."""
        return message(stored_profiles.warning(row))

    def get_warning_code(self, row: Profile) -> str:
        """The same as a code: program_waits, or none."""
        return stored_profiles.warning(row).code.value


class ApplicationProfiles(APIView):
    """The profiles of an application, newest first."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=ProfileSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """All of them, those that are stale too."""
        application = get_object_or_404(visible_applications(caller(request)), slug=slug)
        rows: Any = application.profiles.select_related("application")
        return Response(ProfileSerializer(rows, many=True).data)


class SkeletonSerializer(serializers.ModelSerializer[Skeleton]):
    """A skeleton without its document, which is at `file`. Seconds; `problem` says why there is no document."""

    reference = serializers.JSONField(
        source="reference.document",
        read_only=True,
        allow_null=True,
        help_text=Skeleton._meta.get_field("reference").help_text,
    )
    problem = serializers.SerializerMethodField()
    warning = serializers.SerializerMethodField()
    stale = serializers.SerializerMethodField()
    file = serializers.SerializerMethodField()

    class Meta:
        model = Skeleton
        fields = (
            "id",
            "profile",
            "ranks",
            "parameters",
            "expected",
            "seconds",
            "target",
            "rate",
            "reference",
            "problem",
            "warning",
            "stale",
            "file",
            "created_at",
        )
        read_only_fields = fields

    def get_stale(self, row: Skeleton) -> bool:
        """Whether the application has changed since."""
        return stored_skeletons.is_stale(row)

    def get_problem(self, row: Skeleton) -> str:
        return message(row.problem)

    def get_warning(self, row: Skeleton) -> str:
        """Why what it predicts may be far off; empty where nothing speaks against it."""
        return message(stored_profiles.warning(row.profile))

    def get_file(self, row: Skeleton) -> str:
        """The address of its document."""
        return reverse("api-skeleton", args=[row.application.slug, row.pk])


class BuildSerializer(WordedSerializer):
    """From which profile, which must be traced, and how many seconds it is to take; without them the usual."""

    profile = serializers.IntegerField(min_value=1)
    seconds = serializers.FloatField(required=False, min_value=0.001, max_value=86400)


class ApplicationSkeletons(APIView):
    """The skeletons of an application, newest first. Operators and administrators build them."""

    permission_classes = [may("scheduling.build_skeleton", read="scheduling.view_application")]

    @extend_schema(responses=SkeletonSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """All of them, those that are stale too."""
        application = get_object_or_404(visible_applications(caller(request)), slug=slug)
        rows: Any = stored_skeletons.skeletons_of(application)
        return Response(SkeletonSerializer(rows, many=True).data)

    @extend_schema(request=BuildSerializer, responses={200: SkeletonSerializer, 201: SkeletonSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Build one from a traced profile: 201, or 200 when the newest of these ranks and parameters is of this profile
        and for as many seconds, which is given back then."""
        asked = BuildSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        profiles = Profile.objects.filter(application__in=visible_applications(caller(request)))
        profile = get_object_or_404(profiles, application__slug=slug, pk=asked.validated_data["profile"])
        made, is_new = stored_skeletons.build(profile, asked.validated_data.get("seconds"), actor=caller(request))
        shown: Any = made
        return Response(SkeletonSerializer(shown).data, status=201 if is_new else 200)


class ApplicationSkeleton(APIView):
    """The document of a skeleton, as `gridportal skeleton run` takes it."""

    permission_classes = [may("scheduling.build_skeleton", read="scheduling.view_application")]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """404 with the reason where none could be built."""
        rows = Skeleton.objects.filter(application__in=visible_applications(caller(request)))
        row = get_object_or_404(rows, application__slug=slug, pk=pk)
        if row.document is None:
            raise NotFound(f"This skeleton has no document: {message(row.problem)}")
        return Response(row.document)
