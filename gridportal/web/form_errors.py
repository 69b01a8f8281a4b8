"""An error of a service beside the field of the form that it names."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms

from gridportal.base.errors import GridPortalError, InputError, SeveralInputsError, TextError, shown


def add_input_error(form: forms.Form, error: InputError) -> None:
    """Say what would be accepted, of each of several errors; above the form where it has no such field."""
    for each in error.errors if isinstance(error, SeveralInputsError) else (error,):
        form.add_error(each.field if each.field in form.fields else None, f"Enter {each.accepted}.")


def by_label(error: GridPortalError, labels: Mapping[str, str]) -> str:
    """An error of a service where no field can have it: by the field's label on the page, else in its own words.

    >>> by_label(InputError("nodes", "nX", "compute nodes of grid"), {"nodes": "Nodes"})
    "Nodes: 'nX' is not possible. Enter compute nodes of grid."
    >>> by_label(InputError("reason", None, "3 to 500 characters"), {"reason": "Reason"})
    'Reason: Enter 3 to 500 characters.'
    """
    if not isinstance(error, InputError) or isinstance(error, TextError) or error.field not in labels:
        return str(error)
    value = "" if error.value is None else f"{shown(error.value)} is not possible. "
    return f"{labels[error.field]}: {value}Enter {error.accepted.rstrip('.')}."


def page_text(error: GridPortalError) -> str:
    """An error of a service as the message of a page, which has no field beside which it could stand.

    >>> page_text(InputError("wait_seconds", -1, "a whole number from 0 to 60"))
    'Wait seconds: -1 is not possible. Enter a whole number from 0 to 60.'
    """
    if not isinstance(error, InputError):
        return str(error)
    return by_label(error, {error.field: error.field.replace("_", " ").capitalize()})
