"""A field of the submit form made from one registered parameter of an application."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.base.errors import InputError
from scheduling.jobs.core.parameters import Parameter
from scheduling.pages import form_messages as form_words


class ParameterField(forms.Field):
    """A field made from one registered parameter; its limits are shown as help."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        super().__init__(
            label=parameter.label or parameter.name,
            required=parameter.required and parameter.type != "bool",
            initial=parameter.default,
            widget=_widget(parameter),
            help_text=_help(parameter),
        )

    def clean(self, value: Any) -> Any:
        """The typed value, or one sentence saying what would be accepted."""
        if value in (None, "") and self.parameter.default is not None and self.parameter.type != "text":
            return False if self.parameter.type == "bool" else self.parameter.default
        try:
            return self.parameter.read(value)
        except InputError as error:
            raise forms.ValidationError(form_words.beside(error)) from error


def _widget(parameter: Parameter) -> forms.Widget:
    if parameter.type == "choice":
        blank = [] if parameter.default is not None else [("", "choose")]
        return forms.Select(choices=[*blank, *((choice, choice) for choice in parameter.choices)])
    if parameter.type == "bool":
        return forms.CheckboxInput()
    if parameter.type == "text":
        return forms.TextInput(attrs={"maxlength": parameter.max_length})
    limits = {"min": parameter.low, "max": parameter.high}
    attributes = {name: f"{value:g}" for name, value in limits.items() if value is not None}
    return forms.NumberInput(attrs={"step": "1" if parameter.type == "int" else "any", **attributes})


def _help(parameter: Parameter) -> str:
    limits = "" if parameter.type in ("choice", "bool", "text") else parameter.accepted().capitalize() + "."
    return " ".join(part for part in (parameter.help, limits) if part)
