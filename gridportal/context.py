"""What every page's frame needs."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from django.http import HttpRequest

VERSION = version("gridportal")


def shell(request: HttpRequest) -> dict[str, Any]:
    """Version for the foot of the page."""
    return {"version": VERSION}
