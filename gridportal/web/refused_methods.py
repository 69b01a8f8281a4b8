"""An address that only takes forms, opened by somebody: by a reload or a bookmark after a refused form, or a link."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve

from gridportal.web.api_addresses import is_api

_NOTHING_DONE = "Nothing was done. The address that you opened only takes the forms of this page."
#: Pages whose addresses have no slash at their end, though they have forms of their own below them.
_PAGES_WITHOUT_SLASH = frozenset({"second-factor", "application-new"})


class RefusedMethodMiddleware:
    """Leads who opens such an address to the page that has the form: in place of Django's empty answer 405. Where there
    is none, and to other methods, it gives a page in words with the same `Allow`; REST has its own sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.streaming or response.content or is_api(request):
            return response
        allowed = response.headers.get("Allow", "")
        is_opened = request.method in ("GET", "HEAD") and "HX-Request" not in request.headers
        if is_opened and "GET" not in allowed and (above := page_above(request.path_info)):
            messages.info(request, _NOTHING_DONE)
            return redirect(above)
        page = render(request, "405.html", status=405)
        page.headers["Allow"] = allowed
        return page


def page_above(path: str) -> str:
    """The nearest page above the address of a form, whose last part says what is done there; empty for an address that
    is a page's. Addresses of pages end in a slash.

    >>> page_above("/jobs/7/cancel"), page_above("/maintenance/windows/3/end"), page_above("/sign-out/")
    ('/jobs/7/', '/maintenance/', '')
    """
    if path.endswith("/"):
        return ""
    while path := path.rpartition("/")[0]:
        for candidate in (path, f"{path}/"):
            if (candidate.endswith("/") or _name(candidate) in _PAGES_WITHOUT_SLASH) and _name(candidate):
                return candidate
    return ""


def _name(path: str) -> str:
    """Of an address; empty where there is none."""
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""
