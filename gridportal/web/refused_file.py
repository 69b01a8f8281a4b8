"""A file has exactly what its address asks for: what a page says beside a field comes in place of the file."""

from __future__ import annotations

from collections.abc import Iterable

from django import forms
from django.http import HttpResponse

from gridportal.base.accepted_values import one_of
from gridportal.base.errors import InputError


def refused_file(form: forms.Form) -> HttpResponse | None:
    """400 with a line for each filter that cannot be read; None where all can."""
    lines = [f"{_label(form, name)}: {each}" for name, found in form.errors.items() for each in found]
    return text_answer("\n".join(lines)) if lines else None


def unknown_filters(names: Iterable[str], accepted: Iterable[str]) -> HttpResponse | None:
    """400 for a name in the address by which nothing is filtered; None where all are accepted."""
    filters = sorted(accepted)
    unknown = next((name for name in names if name not in filters), None)
    return None if unknown is None else text_answer(str(InputError("filter", unknown, one_of(filters))))


def text_answer(text: str, status: int = 400) -> HttpResponse:
    """A refusal with this text."""
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8")


def _label(form: forms.Form, name: str) -> str:
    return str(form[name].label) if name in form.fields else name
