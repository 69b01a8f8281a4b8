"""Alerts and their rules over REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import cached_property
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import SlugField, WordedSerializer, valid_data
from gridportal.web.api_permissions import may
from monitoring.clusters.models import Cluster
from scheduling.alerts.alert_text import UNMEASURED, missing_subject, rule_text
from scheduling.alerts.core.alert_states import AlertState
from scheduling.alerts.models import Alert, AlertRule
from scheduling.alerts.selectors import alert_rows
from scheduling.alerts.selectors.alert_subjects import without_values
from scheduling.alerts.services import changing_rules

_ROWS = "[0-9]{1,18}"
_READ = may("scheduling.view_alerts")
_CHANGE = may("scheduling.change_alert_rules", read="scheduling.view_alerts")


class AlertRuleSerializer(serializers.ModelSerializer[AlertRule]):
    """A rule; values in the units of the series: bit/s, seconds, 0..1."""

    cluster = serializers.CharField(source="cluster.name", read_only=True)
    text = serializers.SerializerMethodField()
    problem = serializers.SerializerMethodField()
    firing = serializers.IntegerField(read_only=True, help_text="Alerts that it has now.")

    class Meta:
        model = AlertRule
        fields = (
            *("id", "name", "cluster", "metric", "subject", "above", "level", "clear", "hold", "enabled", "text"),
            *("problem", "firing", "muted_until", "judged_at", "created_by", "created_at"),
        )
        read_only_fields = fields

    def get_text(self, row: AlertRule) -> str:
        """When it fires and ends, in a sentence."""
        return rule_text(row)

    def get_problem(self, row: AlertRule) -> str:
        """Why it cannot fire: its node or link is not there any more, or nothing measures it. Empty where it can."""
        gone, silent = self._without_values
        if row.pk in gone:
            return missing_subject(row)
        return UNMEASURED if row.pk in silent else ""

    @cached_property
    def _without_values(self) -> tuple[set[int], set[int]]:
        """The numbers of such rules among all that are shown, looked up once."""
        parent = self.parent
        rows: Any = parent.instance if isinstance(parent, serializers.ListSerializer) else [self.instance]
        return without_values(rows, timezone.now())


class AlertSerializer(serializers.ModelSerializer[Alert]):
    """One time that a rule fired; `value` is that of then."""

    rule_name = serializers.CharField(source="rule.name", read_only=True)
    metric = serializers.CharField(source="rule.metric", read_only=True)

    class Meta:
        model = Alert
        fields = ("id", "rule", "rule_name", "metric", "subject", "state", "value", "since", "fired_at", "ended_at")
        read_only_fields = fields


class RuleChangeSerializer(WordedSerializer):
    """What is to change; what is not named stays, but `clear` goes along with a level that it was equal to."""

    name = serializers.CharField(max_length=80, required=False)
    cluster = SlugField(slug_field="name", queryset=Cluster.objects.order_by("name"), required=False)
    metric = serializers.CharField(max_length=40, required=False)
    subject = serializers.CharField(max_length=200, required=False, allow_blank=True)
    above = serializers.BooleanField(required=False)
    level = serializers.FloatField(required=False)
    clear = serializers.FloatField(required=False)
    hold = serializers.IntegerField(required=False, min_value=0, max_value=changing_rules.MOST_HOLD)
    enabled = serializers.BooleanField(required=False)


class NewRuleSerializer(RuleChangeSerializer):
    """A new rule. Without `clear` alerts end at the level."""

    name = serializers.CharField(max_length=80)
    cluster = SlugField(slug_field="name", queryset=Cluster.objects.order_by("name"))
    metric = serializers.CharField(max_length=40)
    level = serializers.FloatField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """With all that was left out."""
        return {"clear": attrs["level"], **attrs}


class MuteSerializer(WordedSerializer):
    """For how long nobody is told; 0: from now on again."""

    seconds = serializers.IntegerField(min_value=0, max_value=changing_rules.MOST_MUTED)


class AlertFilterSerializer(WordedSerializer):
    """Which alerts."""

    state = serializers.ChoiceField(choices=[each.value for each in AlertState], required=False)
    rule = serializers.IntegerField(required=False, min_value=1, max_value=2**62)


class Alerts(mixins.ListModelMixin, viewsets.GenericViewSet[Alert]):
    """What fires and has fired, the newest first."""

    serializer_class = AlertSerializer
    permission_classes = [_READ]
    queryset = Alert.objects.none()

    def get_queryset(self) -> QuerySet[Alert]:
        asked = AlertFilterSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        return alert_rows.alerts(asked.validated_data.get("state", ""), asked.validated_data.get("rule"))

    @extend_schema(
        parameters=[
            OpenApiParameter("state", OpenApiTypes.STR, enum=[each.value for each in AlertState]),
            OpenApiParameter("rule", OpenApiTypes.INT),
        ]
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Alerts, of one state or one rule where these are named."""
        return super().list(request, *args, **kwargs)


class AlertRules(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[AlertRule]):
    """The rules of alerts; operators make, change, mute and remove them."""

    serializer_class = AlertRuleSerializer
    permission_classes = [_CHANGE]
    lookup_value_regex = _ROWS
    queryset = AlertRule.objects.none()

    def get_queryset(self) -> QuerySet[AlertRule]:
        return alert_rows.rules()

    @extend_schema(request=NewRuleSerializer, responses={201: AlertRuleSerializer})
    def create(self, request: Request) -> Response:
        """A new rule, which is judged within seconds."""
        given = valid_data(NewRuleSerializer(data=request.data))
        made = changing_rules.make_rule(caller(request), given)
        return Response(self._document(made.pk), status=201)

    @extend_schema(request=RuleChangeSerializer, responses=AlertRuleSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change what is named. What it found ends where it watches something else from now on."""
        row = self.get_object()
        changing_rules.change_rule(caller(request), row.pk, valid_data(RuleChangeSerializer(data=request.data)))
        return Response(self._document(row.pk))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Remove a rule and its history."""
        changing_rules.remove_rule(caller(request), self.get_object().pk)
        return Response(status=204)

    @extend_schema(request=MuteSerializer, responses=AlertRuleSerializer)
    @action(detail=True, methods=["post"])
    def mute(self, request: Request, pk: str) -> Response:
        """Tell nobody of it for a while."""
        row = self.get_object()
        changing_rules.mute_rule(caller(request), row.pk, valid_data(MuteSerializer(data=request.data))["seconds"])
        return Response(self._document(row.pk))

    def _document(self, pk: int) -> Any:
        return AlertRuleSerializer(alert_rows.rules().get(pk=pk)).data
