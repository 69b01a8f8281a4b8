"""What a request that is refused with 429 still sends is read, so that its connection serves the next one.

gunicorn itself reads only little of what nobody has read, and closes the connection without having said so; a header of
an application that says it is dropped there, as WSGI has it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from django.http import HttpRequest, HttpResponse, UnreadablePostError

#: bytes; who sends more loses the connection.
_MOST, _AT_ONCE = 4 * 2**20, 2**16


class UnreadBodyMiddleware:
    """Reads the rest of a body, some MB at most, behind an answer 429."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 429:
            read_rest(request)
        return response


def read_rest(request: HttpRequest, most: int = _MOST) -> None:
    """Read what nobody has read of a body, at most so many bytes."""
    with suppress(UnreadablePostError):  # it is gone
        while most > 0 and (part := request.read(_AT_ONCE)):
            most -= len(part)
