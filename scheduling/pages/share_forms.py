"""The forms to share a job: with a person or a group, and by a link."""

from __future__ import annotations

from django import forms

from gridportal.web.worded_form import WordedForm
from scheduling.jobs.services.sharing_jobs import MAX_DAYS, USUAL_DAYS

_FILES = "With the files of its runs"


class PartnerForm(WordedForm):
    """With whom. The field is called `with`, as in the address of a program that is shared."""

    with_files = forms.BooleanField(label=_FILES, required=False)

    field_order = ("with", "with_files")

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.fields["with"] = forms.CharField(
            label="Person or group",
            max_length=150,
            widget=forms.TextInput(attrs={"autocomplete": "off", "list": "own-groups"}),
            help_text="A user name, or a group of yours.",
        )
        self.order_fields(self.field_order)


class LinkForm(WordedForm):
    """How long a link lasts."""

    days = forms.IntegerField(
        label="Days that the link lasts", min_value=1, max_value=MAX_DAYS, initial=USUAL_DAYS, help_text="1 to 365."
    )
    link_with_files = forms.BooleanField(label=_FILES, required=False)
