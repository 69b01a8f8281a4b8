"""The forms of the pages of resource requests."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.web.worded_form import WordedForm
from monitoring.clusters import selectors as clusters
from scheduling.matching.services.checked_texts import LONGEST_KEPT
from scheduling.resource_requests.services.sending_requests import NewRequest

FIRST = """[
  Type = "Set";
  requirements = other.cpu >= 0.5 && SetSize == 2;
  rank = Min(other.cpuspeed);
  Mapper = "block"
]"""
_AREA = {"rows": 12, "spellcheck": "false"}


class SendForm(WordedForm):
    """A request in ClassAds, where it is matched, and how long it waits."""

    text = forms.CharField(
        label="Request",
        max_length=LONGEST_KEPT,
        initial=FIRST,
        widget=forms.Textarea(attrs=_AREA),
        help_text="One ClassAd. What is found now stands beside it while you write.",
    )
    cluster = forms.ChoiceField(label="Cluster", required=False)
    lifetime = forms.IntegerField(
        label="Wait for, s",
        required=False,
        min_value=1,
        max_value=2_592_000,
        help_text="Empty: it is answered at once, with a set or with none.",
    )
    forecast = forms.BooleanField(
        label="By forecasts",
        required=False,
        help_text="Forecast figures, where there are any, in place of measured ones.",
    )
    name = forms.CharField(label="Name", required=False, max_length=80, help_text="Helps you find it later.")
    shared = forms.BooleanField(
        label="Share it", required=False, help_text="Everybody may use what you keep; only you change it."
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["cluster"].choices = [(name, name) for name in clusters.configured()]  # type: ignore[attr-defined]

    def to_request(self) -> NewRequest:
        """What is sent; call only when the form is valid."""
        given = self.cleaned_data
        return NewRequest(given["text"], given["cluster"], given["lifetime"], given["forecast"], given["name"])


class ResourceAdForm(WordedForm):
    """What administrators add to the ad of a node."""

    node = forms.CharField(label="Node", required=False, max_length=80, help_text="Empty: every node.")
    text = forms.CharField(
        label="Ad",
        required=False,
        max_length=LONGEST_KEPT,
        widget=forms.Textarea(attrs=_AREA | {"rows": 5}),
        help_text='Such as [ requirements = other.owner == "ada" || ClockMin >= 1080 ]. Empty: what is there is taken '
        "away.",
    )
