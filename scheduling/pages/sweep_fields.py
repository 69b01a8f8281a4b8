"""The form's fields for several values of a parameter or of the number of ranks: with them it submits a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from gridportal.base.errors import InputError
from scheduling.jobs.core import parameters, ranks, sweep
from scheduling.jobs.core.parameters import Parameter, Value
from scheduling.jobs.models import Application
from scheduling.pages import form_messages

PREFIX = "sweep-"


def sweep_fields(application: Application) -> dict[str, forms.Field]:
    """One for each parameter, and one for the ranks."""
    return {f"{PREFIX}{name}": _field(parameter, application) for name, parameter in _axes_of(application).items()}


def axes(application: Application, form: forms.Form) -> dict[str, tuple[Value, ...]]:
    """The axes that were filled in; what cannot be is said beside its field. Empty: it is one job."""
    read: dict[str, tuple[Value, ...]] = {}
    for name, parameter in _axes_of(application).items():
        if text := (form.cleaned_data.get(f"{PREFIX}{name}") or "").strip():
            try:
                read[name] = sweep.read_axis(parameter, application.rank_limits, text)
            except InputError as error:
                plain = InputError("values", error.value, error.accepted)
                form.add_error(f"{PREFIX}{name}", form_messages.beside(plain))
    if read and not any(name.startswith(PREFIX) for name in form.errors):
        _check_size(read, form)
    return read


def with_first_values(application: Application, data: Any) -> Any:
    """What was sent, with the first value of each sweep in the place of the parameter's own: the form and its preview
    are of the first job. What cannot be read stays."""
    swept = {name: text for name in _axes_of(application) if (text := str(data.get(f"{PREFIX}{name}") or "").strip())}
    if not swept:
        return data
    changed = data.copy()
    for name, text in swept.items():
        try:
            first = sweep.read_axis(_axes_of(application)[name], application.rank_limits, text)[0]
        except InputError:
            continue
        changed["ranks" if name == sweep.RANKS else f"param-{name}"] = str(first)
    return changed


def _check_size(read: Mapping[str, tuple[Value, ...]], form: forms.Form) -> None:
    try:
        sweep.check_size(read)
    except InputError as error:
        form.add_error(f"{PREFIX}{next(iter(read))}", form_messages.beside(error))


def _axes_of(application: Application) -> dict[str, Parameter | None]:
    """What can have several values, in its order."""
    declared = {parameter.name: parameter for parameter in parameters.parse(application.parameters)}
    return {**declared, sweep.RANKS: None}


def _field(parameter: Parameter | None, application: Application) -> forms.CharField:
    accepted = parameter.accepted() if parameter else ranks.accepted(application.rank_limits)
    label = (parameter.label or parameter.name) if parameter else "Ranks"
    return forms.CharField(
        label=f"{label}, several values",
        required=False,
        max_length=4000,
        help_text=f"Each: {accepted}.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
