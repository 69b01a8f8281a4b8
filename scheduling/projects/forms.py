"""The administrator's form of a project."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.web.worded_form import WordedForm
from scheduling.jobs.core.specification_text import split_names
from scheduling.jobs.project_models import Project


class ProjectForm(WordedForm):
    """Name, description and members of one project."""

    name = forms.SlugField(label="Name", max_length=60, help_text="Letters, digits, - and _, such as ocean-2026.")
    description = forms.CharField(label="What it is for", max_length=500, required=False)
    members = forms.CharField(
        label="Members",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="User names, with spaces or commas between them. Their new jobs can belong to this project.",
    )

    def clean_members(self) -> list[str]:
        """The names."""
        return list(split_names(self.cleaned_data["members"]))


def first_values(project: Project) -> dict[str, Any]:
    """What the form of a project shows first."""
    names = project.members.order_by("username").values_list("username", flat=True)
    return {"name": project.name, "description": project.description, "members": " ".join(names)}
