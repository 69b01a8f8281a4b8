"""The form of a report at set times."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.web.worded_form import NAME_NEEDED, WordedForm
from scheduling.jobs.core.specification_text import split_names
from scheduling.reports.core.report_times import ReportEvery
from scheduling.reports.models import ReportSchedule
from scheduling.reports.report_tabs import TABS

EVERY = {
    ReportEvery.WEEK: "each Monday, of the week before",
    ReportEvery.MONTH: "on the first of each month, of the month before",
}


class ScheduleForm(WordedForm):
    """Name, time, tabs and people of one report."""

    name = forms.CharField(label="Name", max_length=80, error_messages={"required": NAME_NEEDED})
    every = forms.ChoiceField(label="Sent", choices=[(word.value, label) for word, label in EVERY.items()])
    tabs = forms.MultipleChoiceField(
        label="What is in it",
        choices=[(name, tab.label) for name, tab in TABS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=["people", "waiting"],
    )
    people = forms.CharField(
        label="To whom",
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="User names, with spaces or commas between them. Each gets what that person may see.",
    )

    def clean_people(self) -> list[str]:
        """The names."""
        return list(split_names(self.cleaned_data["people"]))


def first_values(row: ReportSchedule) -> dict[str, Any]:
    """What the form shows first."""
    return {"name": row.name, "every": row.every, "tabs": row.tabs, "people": " ".join(row.people_names)}
