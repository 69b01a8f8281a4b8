"""The format of an answer: as asked by `format` in the address or by the header Accept; what is refused is told."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import Http404
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from gridportal.base.accepted_values import one_of
from gridportal.base.errors import InputError


class WordedNegotiation(DefaultContentNegotiation):
    """As DRF's, which answers 404 to a format that an address does not have."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        """Those of this format. Raises InputError where there are none."""
        try:
            return list(super().filter_renderers(renderers, format))
        except Http404 as error:
            raise InputError("format", format, _named(each.format for each in renderers)) from error

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The renderer and its media type. Raises InputError for a format, NotAcceptable for a header Accept."""
        try:
            chosen: tuple[BaseRenderer, str] = super().select_renderer(request, renderers, format_suffix)
            return chosen
        except NotAcceptable as error:
            types = _named(each.media_type for each in renderers)
            raise NotAcceptable(str(InputError("Accept", request.headers.get("Accept"), types))) from error


def _named(formats: Iterable[str | None]) -> str:
    """
    >>> _named(["json", "xml", "json"]), _named(["json"])
    ('one of json, xml', 'json')
    """
    each = list(dict.fromkeys(str(name) for name in formats))
    return one_of(each) if len(each) > 1 else "".join(each)
