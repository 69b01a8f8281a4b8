"""Numbers as people read them: rates, seconds, bytes; one place for all pages."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def rate(value: float | None) -> str:
    """bit/s as Mbit/s or Gbit/s; an em dash for nothing."""
    if value is None:
        return "—"
    if value >= 1e9:
        return f"{value / 1e9:.2f} Gbit/s"
    return f"{value / 1e6:.1f} Mbit/s"
