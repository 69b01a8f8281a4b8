"""Reports at set times over REST."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import WordedSerializer, valid_data
from gridportal.web.api_permissions import may
from gridportal.web.held_object import HeldObject
from scheduling.reports import schedule_services
from scheduling.reports.core.report_times import ReportEvery
from scheduling.reports.models import ReportSchedule
from scheduling.reports.report_tabs import TABS
from scheduling.reports.selectors import schedules_of


class ReportScheduleSerializer(serializers.ModelSerializer[ReportSchedule]):
    """A report that some people get by e-mail each week or month."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    tabs = serializers.ListField(child=serializers.CharField(), read_only=True)
    people = serializers.ListField(child=serializers.CharField(), source="people_names", read_only=True)

    class Meta:
        model = ReportSchedule
        fields = ("id", "name", "owner", "every", "tabs", "people", "next_at", "sent_at")
        read_only_fields = fields


class NewReportScheduleSerializer(WordedSerializer):
    """What a manager says of it."""

    name = serializers.CharField(max_length=80)
    every = serializers.ChoiceField(choices=[each.value for each in ReportEvery])
    tabs = serializers.ListField(child=serializers.ChoiceField(choices=list(TABS)), max_length=len(TABS))
    people = serializers.ListField(
        child=serializers.CharField(max_length=150), max_length=schedule_services.MOST_PEOPLE
    )


class ReportSchedules(
    HeldObject, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[ReportSchedule]
):
    """Reports at set times: all for managers and administrators, else those that the caller gets."""

    serializer_class = ReportScheduleSerializer
    permission_classes = [may("scheduling.schedule_reports", read="scheduling.view_budgets")]
    queryset = ReportSchedule.objects.none()
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[ReportSchedule]:
        return schedules_of(caller(self.request))

    @extend_schema(request=NewReportScheduleSerializer, responses={201: ReportScheduleSerializer})
    def create(self, request: Request) -> Response:
        """Have a report sent."""
        asked = valid_data(NewReportScheduleSerializer(data=request.data))
        made = schedule_services.save_schedule(caller(request), None, **asked)
        return Response(ReportScheduleSerializer(made).data, status=201)

    @extend_schema(request=NewReportScheduleSerializer, responses=ReportScheduleSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change what the body names; `people` and `tabs` replace all of them."""
        asked = valid_data(NewReportScheduleSerializer(data=request.data, partial=True))
        with self.held_object() as row:
            own = {"name": row.name, "every": row.every, "tabs": row.tabs, "people": row.people_names}
            changed = schedule_services.save_schedule(caller(request), row, **own | asked)
        return Response(ReportScheduleSerializer(changed).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Send it no more."""
        schedule_services.remove_schedule(caller(request), self.get_object())
        return Response(status=204)
