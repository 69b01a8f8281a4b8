"""An error of a service beside the field of the form that it names."""

from __future__ import annotations

from django import forms

from gridportal.base.errors import InputError


def add_input_error(form: forms.Form, error: InputError) -> None:
    """Say what would be accepted; above the form where it has no such field."""
    form.add_error(error.field if error.field in form.fields else None, f"Enter {error.accepted}.")
