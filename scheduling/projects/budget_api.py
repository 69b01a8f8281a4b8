"""Budgets of projects over REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.base.errors import InputError
from gridportal.web.api_errors import SlugField, WordedSerializer, valid_data
from gridportal.web.api_permissions import may
from scheduling.jobs.project_models import Project
from scheduling.projects import budget_services
from scheduling.projects.budget_messages import WHAT_IS_NEW
from scheduling.projects.budget_selectors import budget_state, budgets_of
from scheduling.projects.budget_services import FIELDS, MOST_NODE_HOURS
from scheduling.projects.core.budget_state import WhenUsed
from scheduling.projects.models import Budget

#: What a change has to say, and what of it is accepted.
_WITH_A_CHANGE = {
    "reason": "a reason of 3 to 500 characters",
    "version": "the version of the budget that you have read, a whole number",
}


class BudgetStateSerializer(serializers.Serializer[Any]):
    """Node-hours used until now and left; `may_take`: what jobs that run and wait may still take by their limits."""

    used = serializers.FloatField()
    left = serializers.FloatField()
    percent = serializers.FloatField()
    level = serializers.CharField(help_text="plenty, low or used up")
    may_take = serializers.FloatField()
    open_jobs = serializers.IntegerField()
    unlimited = serializers.IntegerField(help_text="Open jobs without a time limit.")


class BudgetSerializer(serializers.ModelSerializer[Budget]):
    """A budget with how far it is used. `ends` is its last day; `version` goes back with a change."""

    project = serializers.CharField(source="project.name", read_only=True)
    state = serializers.SerializerMethodField()

    class Meta:
        model = Budget
        fields = ("id", "project", *FIELDS, "version", "state")
        read_only_fields = fields

    @extend_schema(responses=BudgetStateSerializer)
    def get_state(self, row: Budget) -> dict[str, Any]:
        """How far it is used now."""
        found: dict[str, Any] = dict(BudgetStateSerializer(budget_state(row)).data)
        return found


class _BudgetValues(WordedSerializer):
    """What a manager says of a budget."""

    node_hours = serializers.FloatField(max_value=MOST_NODE_HOURS)
    begins = serializers.DateField()
    ends = serializers.DateField(help_text="Its last day.")
    warn_at = serializers.IntegerField(min_value=1, max_value=100, required=False, help_text="Percent; 80 unless said.")
    when_used = serializers.ChoiceField(
        choices=[each.value for each in WhenUsed], required=False, help_text=WHAT_IS_NEW
    )
    reason = serializers.CharField(max_length=500)


class NewBudgetSerializer(_BudgetValues):
    """A new budget."""

    project = SlugField(slug_field="name", queryset=Project.objects.order_by("name"))


class ChangedBudgetSerializer(_BudgetValues):
    """Other values; `version` is the one that was read."""

    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class Budgets(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Budget]):
    """The budgets of the projects that the caller sees, the newest first."""

    serializer_class = BudgetSerializer
    permission_classes = [may("scheduling.manage_budgets", read="scheduling.view_budgets")]
    queryset = Budget.objects.none()
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[Budget]:
        return budgets_of(caller(self.request))

    @extend_schema(request=NewBudgetSerializer, responses={201: BudgetSerializer})
    def create(self, request: Request) -> Response:
        """Give a project a budget."""
        asked = valid_data(NewBudgetSerializer(data=request.data))
        project, reason = asked.pop("project"), asked.pop("reason")
        made = budget_services.make_budget(caller(request), project, asked, reason)
        return Response(BudgetSerializer(made).data, status=201)

    @extend_schema(request=ChangedBudgetSerializer, responses=BudgetSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change what the body names; it has the version that was read, and a reason."""
        row = self.get_object()
        serializer = ChangedBudgetSerializer(data=request.data, partial=True)
        asked = valid_data(serializer)
        for name, accepted in _WITH_A_CHANGE.items():
            if name not in asked:
                raise InputError(name, None, accepted)
        reason, version = asked.pop("reason"), asked.pop("version")
        changed = budget_services.change_budget(caller(request), row.pk, asked, reason, version)
        return Response(BudgetSerializer(changed).data)
