"""The forms of maintenance and announcements. The services check what hangs on more than the field itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from gridportal.base.dates import MomentField
from gridportal.web.worded_form import WordedForm
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import in_setting_order
from scheduling.jobs.core.specification_text import split_names
from scheduling.maintenance.models import LEVELS

#: Of so many clusters the hint names nodes.
_CLUSTERS = 3


def _moment(label: str, *, required: bool, help_text: str = "") -> MomentField:
    widget = forms.DateTimeInput({"type": "datetime-local"})
    return MomentField(label=label, required=required, widget=widget, help_text=help_text)


class MaintenanceForm(WordedForm):
    """One time in which nodes are worked on."""

    cluster = forms.ModelChoiceField(Cluster.objects.none(), label="Cluster", empty_label=None)
    nodes = forms.CharField(label="Nodes", required=False, max_length=20_000)
    start = _moment("From, UTC", required=True)
    end = _moment("To, UTC", required=True)
    why = forms.CharField(label="What people are told", required=False, max_length=200)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["cluster"].queryset = in_setting_order()  # type: ignore[attr-defined]  # it chooses rows
        examples = ", or ".join(_examples())
        self.fields["nodes"].help_text = f"Names{examples and f', such as {examples}'}. Empty: all nodes."

    def clean_nodes(self) -> list[str]:
        """The names."""
        return list(split_names(self.cleaned_data["nodes"]))


def _examples() -> Iterator[str]:
    """Two nodes of each of the first clusters."""
    for cluster in in_setting_order()[:_CLUSTERS]:
        names = cluster.nodes.filter(kind="compute").order_by("position").values_list("name", flat=True)
        if names:
            yield f"{' '.join(names[:2])} of {cluster}"


class AnnouncementForm(WordedForm):
    """One sentence for all pages."""

    text = forms.CharField(label="Announcement", max_length=500)
    level = forms.ChoiceField(label="Looks like a", choices=LEVELS)
    start = _moment("From, UTC", required=False, help_text="Empty: now.")
    end = _moment("To, UTC", required=False, help_text="Empty: until somebody ends it.")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, prefix="say")
