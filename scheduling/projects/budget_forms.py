"""The manager's form of a budget."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.web.worded_form import WordedForm
from scheduling.projects.budget_messages import WHAT_IS_NEW, WHEN_USED
from scheduling.projects.budget_services import FIELDS
from scheduling.projects.models import Budget


class BudgetForm(WordedForm):
    """The values of one budget, why they are as they are, and which version the person saw."""

    node_hours = forms.FloatField(label="Node-hours", help_text="One node for one hour each, of all jobs together.")
    begins = forms.DateField(label="First day, UTC", widget=forms.DateInput({"type": "date"}))
    ends = forms.DateField(label="Last day, UTC", widget=forms.DateInput({"type": "date"}))
    warn_at = forms.IntegerField(
        label="Warn at, % used",
        initial=80,
        min_value=1,
        max_value=100,
        help_text="Members and managers get a notice then.",
    )
    when_used = forms.ChoiceField(
        label="When it is used up",
        choices=[(word.value, label) for word, label in WHEN_USED.items()],
        help_text=WHAT_IS_NEW,
    )
    reason = forms.CharField(
        label="Reason", min_length=3, max_length=500, help_text="For the audit trail, such as “grant 2026-17”."
    )
    version = forms.IntegerField(widget=forms.HiddenInput, initial=1, min_value=1, max_value=2**31 - 1)

    def values(self) -> dict[str, Any]:
        """What the budget is made of."""
        return {name: self.cleaned_data[name] for name in FIELDS}


def first_values(budget: Budget) -> dict[str, Any]:
    """What the form of a budget shows first."""
    return {name: getattr(budget, name) for name in (*FIELDS, "version")}
