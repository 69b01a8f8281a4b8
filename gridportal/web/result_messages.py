"""The message after an action: it links to what the action changed, or to what speaks against it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html


def add_result(request: HttpRequest, name: str, address: str, outcome: str) -> None:
    """Say "NAME OUTCOME" on the next page, where the name is a link to the result: "Job 7 is cancelled."."""
    messages.success(request, format_html('<a href="{}">{}</a> {}', address, name, outcome))


def add_note(request: HttpRequest, name: str, address: str, note: str) -> None:
    """Say "NAME NOTE" on the next page, of what an action left as it was: "Job 7 is cancelled already."."""
    messages.warning(request, format_html('<a href="{}">{}</a> {}', address, name, note))


def add_problem(request: HttpRequest, name: str, address: str, problem: str) -> None:
    """Say "NAME: PROBLEM" on the next page, where the name is a link to what speaks against the action."""
    messages.error(request, format_html('<a href="{}">{}</a>: {}', address, name, problem))
