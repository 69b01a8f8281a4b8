"""The form of a rule, with values in the units that people write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django import forms

from gridportal.base.sizes import parse_size
from gridportal.web.worded_form import NAME_NEEDED, WordedForm
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import in_setting_order
from scheduling.alerts.models import AlertRule
from scheduling.alerts.services.changing_rules import MOST_HOLD
from scheduling.messages.metric_text import METRICS, metric_of

_LONGEST_MINUTES = MOST_HOLD // 60
_SIZE = "GB"
_SIDES = [("above", "above the level"), ("below", "below the level")]


_PLAIN = {"inputmode": "decimal", "autocomplete": "off"}
_LEVEL = {**_PLAIN, "aria-describedby": "id_level_unit"}
_CLEAR = {**_PLAIN, "aria-describedby": "id_clear_unit id_clear_helptext"}


class RuleForm(WordedForm):
    """One rule. `services.changing_rules` checks what hangs on more than the field itself."""

    name = forms.CharField(label="Name", max_length=80, error_messages={"required": NAME_NEEDED})
    cluster = forms.ModelChoiceField(Cluster.objects.none(), label="Cluster", empty_label=None)
    metric = forms.ChoiceField(label="What is watched")
    subject = forms.CharField(
        label="Of which node or link",
        required=False,
        max_length=200,
        help_text="Such as n3, or n1>n2 for a link. Empty: all.",
    )
    side = forms.ChoiceField(label="It fires", choices=_SIDES)
    level = forms.CharField(
        label="Level",
        max_length=40,
        widget=forms.TextInput(attrs=_LEVEL),
        error_messages={"required": "Enter a number.", "max_length": "Enter a shorter number."},
    )
    clear = forms.CharField(
        label="It ends at",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs=_CLEAR),
        help_text="Empty: at the level. A distance between the two keeps an alert from firing again and again.",
    )
    minutes = forms.FloatField(label="After so many minutes beyond", min_value=0, max_value=_LONGEST_MINUTES, initial=0)
    enabled = forms.BooleanField(label="The rule is on", required=False, initial=True)

    def __init__(self, data: Any = None, *, rule: AlertRule | None = None, metrics: tuple[str, ...] = ()) -> None:
        names = dict.fromkeys([*METRICS, *metrics, *([rule.metric] if rule else [])])
        super().__init__(data, initial=first_values(rule) if rule else None)
        self.fields["cluster"].queryset = in_setting_order()  # type: ignore[attr-defined]  # it chooses rows
        field = self.fields["metric"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(name, _label(name)) for name in names]

    @property
    def unit(self) -> str:
        """Of the level, for what is chosen."""
        return metric_of(str(self["metric"].value() or next(iter(METRICS)))).unit

    @property
    def units(self) -> dict[str, str]:
        """Of all that can be chosen."""
        return {name: metric_of(name).unit for name, _ in getattr(self.fields["metric"], "choices", ())}

    def clean(self) -> dict[str, Any]:
        """With the levels as numbers, in the unit that the page shows beside them."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        unit = metric_of(cleaned.get("metric", "")).unit
        for name in {"level", "clear"} & cleaned.keys():
            try:
                cleaned[name] = _number(cleaned[name], unit) if cleaned[name] else None
            except ValueError:
                such_as = "such as 4 GB or 500 MB" if unit == _SIZE else f"in {unit}" if unit else "such as 0.5"
                self.add_error(name, f"Enter a number, {such_as}.")
        return cleaned

    def values(self) -> Mapping[str, Any]:
        """As the service takes them, in the units of the series."""
        given = self.cleaned_data
        scale = metric_of(given["metric"]).scale
        clear = given["level"] if given["clear"] is None else given["clear"]
        return {
            **{name: given[name] for name in ("name", "cluster", "metric", "subject", "enabled")},
            "above": given["side"] == "above",
            "level": _plain(given["level"] * scale),
            "clear": _plain(clear * scale),
            "hold": round(given["minutes"] * 60),
        }

    def refuse(self, field: str, sentence: str) -> None:
        """Say beside its field what the service refused."""
        name = {"hold": "minutes", "above": "side"}.get(field, field)
        self.add_error(name if name in self.fields else None, sentence)


def first_values(rule: AlertRule) -> dict[str, Any]:
    """What the form of a rule shows first."""
    scale = metric_of(rule.metric).scale
    same = {name: getattr(rule, name) for name in ("name", "cluster", "metric", "subject", "enabled")}
    side = "above" if rule.above else "below"
    numbers = {"level": rule.level / scale, "clear": rule.clear / scale, "minutes": rule.hold / 60}
    texts = {name: f"{number:.12g}" for name, number in numbers.items()}
    return {**same, **texts, "side": side, **({"clear": ""} if rule.clear == rule.level else {})}


def _number(text: str, unit: str) -> float:
    """A number with its unit or without, and sizes also in other units. Raises ValueError."""
    if unit == _SIZE:
        return parse_size(text, "G", 1000)
    number = float(text.strip().removesuffix(unit))
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _plain(value: float) -> float:
    """Without the last digits, in which 70 % of 0.01 are not 0.7."""
    return float(f"{value:.12g}")


def _label(name: str) -> str:
    metric = metric_of(name)
    words = metric.label.removesuffix(" of").removesuffix(" by").removesuffix(" on").removesuffix(" of the")
    return f"{words}, {metric.unit}" if metric.unit else words
