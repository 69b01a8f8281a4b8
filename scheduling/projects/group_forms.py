"""The administrator's forms of a group of people."""

from __future__ import annotations

from django import forms

from gridportal.accounts.group_role_models import GIVEN_ROLES
from gridportal.web.worded_form import WordedForm
from scheduling.jobs.core.specification_text import split_names
from scheduling.jobs.project_models import Project


class GroupNameForm(WordedForm):
    """The name of a group."""

    name = forms.CharField(
        label="Name",
        max_length=150,
        error_messages={"required": "Enter a name."},
        help_text="Such as physics. It begins with a letter, a digit or _, and no person has it.",
    )


class MembersForm(WordedForm):
    """Who is to come in."""

    members = forms.CharField(
        label="User names",
        max_length=20_000,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Enter names of people who have an account."},
        help_text="With spaces or commas between them.",
    )

    def clean_members(self) -> list[str]:
        """The names."""
        return list(split_names(self.cleaned_data["members"]))


class GroupRoleForm(WordedForm):
    """Which role the group gives."""

    role = forms.ChoiceField(
        label="Role", required=False, choices=[("", "none"), *((role, role) for role in reversed(GIVEN_ROLES))]
    )


class ToProjectForm(WordedForm):
    """To which project all members come."""

    project = forms.ModelChoiceField(
        Project.objects.order_by("name"), to_field_name="name", label="Project", empty_label=None
    )
