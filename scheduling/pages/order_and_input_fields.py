"""The form's fields for the jobs that a job starts after, and for the files that come with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from gridportal.base.errors import InputError
from scheduling.jobs.core import dependency
from scheduling.jobs.core.input_files import InputFile, size_text
from scheduling.pages import form_messages as form_words


class JobNumbersField(forms.CharField):
    """Numbers of jobs, as people list them: `12, 15`."""

    def __init__(self, name: str, **options: Any) -> None:
        self._name = name
        widget = forms.TextInput(attrs={"placeholder": "12, 15", "autocomplete": "off"})
        super().__init__(required=False, max_length=400, widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        """The numbers of an old job as text."""
        return ", ".join(map(str, value)) if isinstance(value, tuple) else value

    def clean(self, value: Any) -> Any:
        """The numbers."""
        try:
            return dependency.read_numbers(self._name, super().clean(value))
        except InputError as error:
            raise forms.ValidationError(form_words.beside(error)) from error


class _SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class InputFilesField(forms.FileField):
    """Any number of files."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=_SeveralFiles(attrs={"multiple": True}), **options)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """The files; what their names and sizes may be the services say."""
        sent = data if isinstance(data, list | tuple) else [data]
        return [each for each in sent if each]


def keep_field(kept: Sequence[InputFile]) -> forms.MultipleChoiceField:
    """Which files of an old job come along: all of them, unless somebody says otherwise."""
    return forms.MultipleChoiceField(
        label="Of the old job",
        required=False,
        initial=[each.name for each in kept],
        choices=[(each.name, f"{each.name}, {size_text(each.size)}") for each in kept],
        widget=forms.CheckboxSelectMultiple,
    )
