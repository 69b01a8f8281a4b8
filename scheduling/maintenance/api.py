"""Maintenance and announcements over REST."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import SlugField, WordedSerializer, valid_data
from gridportal.web.api_permissions import may
from monitoring.clusters.models import Cluster
from scheduling.maintenance import selectors, services
from scheduling.maintenance.models import LEVELS, MaintenanceWindow, PageAnnouncement


class MaintenanceSerializer(serializers.ModelSerializer[MaintenanceWindow]):
    """A time of maintenance; `phase`: planned, now or over; without nodes it is for all of the cluster."""

    cluster = serializers.CharField(source="cluster.name", read_only=True)
    nodes = serializers.ListField(child=serializers.CharField(), read_only=True)
    phase = serializers.CharField(read_only=True)

    class Meta:
        model = MaintenanceWindow
        fields = ("id", "cluster", "nodes", "start", "end", "why", "phase", "created_by", "created_at")
        read_only_fields = fields


class PlannedMaintenanceSerializer(MaintenanceSerializer):
    """One that was planned just now."""

    overlaps = serializers.ListField(
        child=serializers.IntegerField(), read_only=True, help_text="Others then on one of these nodes."
    )

    class Meta(MaintenanceSerializer.Meta):
        fields = (*MaintenanceSerializer.Meta.fields, "overlaps")  # type: ignore[assignment]  # one more
        read_only_fields = fields  # type: ignore[assignment]  # the same


class NewMaintenanceSerializer(WordedSerializer):
    """A new time."""

    cluster = SlugField(slug_field="name", queryset=Cluster.objects.order_by("name"))
    nodes = serializers.ListField(
        child=serializers.CharField(max_length=80), required=False, default=list, max_length=20_000
    )
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    why = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class AnnouncementSerializer(serializers.ModelSerializer[PageAnnouncement]):
    """What every page says."""

    class Meta:
        model = PageAnnouncement
        fields = ("id", "text", "level", "start", "end", "created_by")
        read_only_fields = fields


class NewAnnouncementSerializer(WordedSerializer):
    """A new announcement: from now on, and until somebody ends it, unless it says otherwise."""

    text = serializers.CharField(max_length=500)
    level = serializers.ChoiceField(choices=LEVELS, required=False, default="note")
    start = serializers.DateTimeField(required=False, allow_null=True, default=None)
    end = serializers.DateTimeField(required=False, allow_null=True, default=None)


class MaintenanceWindows(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[MaintenanceWindow]):
    """Times in which nodes are worked on."""

    serializer_class = MaintenanceSerializer
    permission_classes = [may("scheduling.plan_maintenance", read="scheduling.view_maintenance")]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = MaintenanceWindow.objects.none()

    def get_queryset(self) -> QuerySet[MaintenanceWindow]:
        return selectors.windows(timezone.now())

    @extend_schema(request=NewMaintenanceSerializer, responses={201: PlannedMaintenanceSerializer})
    def create(self, request: Request) -> Response:
        """Plan one. No job is placed on its nodes that could run into it."""
        asked = valid_data(NewMaintenanceSerializer(data=request.data))
        row = services.plan_maintenance(caller(request), **asked)
        overlaps = [each.pk for each in selectors.overlapping(row)]
        return Response({**MaintenanceSerializer(row).data, "overlaps": overlaps}, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """End one that is under way; take back one that has not begun."""
        services.end_maintenance(caller(request), self.get_object().pk)
        return Response(status=204)


class Announcements(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[PageAnnouncement]):
    """What every page says now, or will say."""

    serializer_class = AnnouncementSerializer
    permission_classes = [may("scheduling.make_announcement", read="scheduling.view_maintenance")]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = PageAnnouncement.objects.none()

    def get_queryset(self) -> QuerySet[PageAnnouncement]:
        return selectors.announcements(timezone.now())

    @extend_schema(request=NewAnnouncementSerializer, responses={201: AnnouncementSerializer})
    def create(self, request: Request) -> Response:
        """Say something on all pages."""
        row = services.announce_on_pages(caller(request), **valid_data(NewAnnouncementSerializer(data=request.data)))
        return Response(AnnouncementSerializer(row).data, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Show it no more."""
        services.end_announcement(caller(request), self.get_object().pk)
        return Response(status=204)
