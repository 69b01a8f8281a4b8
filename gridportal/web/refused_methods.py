"""A page in words for an address that takes no such request, such as one of a button that somebody opens as a link."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from gridportal.web.api_addresses import is_api


class RefusedMethodMiddleware:
    """Gives Django's empty answer 405 a page, with the same `Allow`; REST has its own sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.streaming or response.content or is_api(request):
            return response
        page = render(request, "405.html", status=405)
        page.headers["Allow"] = response.headers.get("Allow", "")
        return page
