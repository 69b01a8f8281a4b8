"""Who must have a second factor by the role gets no further than where it is set up, or asked for."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

from gridportal.accounts import entering, second_factors
from gridportal.accounts.models import User
from gridportal.web.api_addresses import is_api

#: Addresses that are open all the same, by name.
OPEN = {
    *("sign-out", "sign-in-code", "second-factor", "second-factor-remove", "second-factor-codes", "help"),
    *("second-factor-confirm", "security-key-new", "security-key-rename", "security-key-remove"),
    *("healthz", "readyz", "metrics", "notices-bell"),
}
_DETAIL = "Your role needs a second factor: set it up on the page /account/second-factor, or use an API token."


class SecondFactorMiddleware:
    """Sessions only: an API token was made by somebody who had been let in, and has no second factor of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: object) -> HttpResponse | None:
        """Something else than what was asked for, for whom a second factor is missing."""
        person = request.user
        if not settings.PORTAL.second_factor_roles or not isinstance(person, User) or not _is_missing(request, person):
            return None
        match = request.resolver_match
        if match and match.url_name in OPEN and not match.namespace:
            return None
        if is_api(request):
            return None if _has_token(request) else JsonResponse({"detail": _DETAIL}, status=403)
        page = "sign-in-code" if second_factors.is_set_up(person) else "second-factor"
        answer = redirect(page)
        return HttpResponseClientRedirect(answer.url) if request.headers.get("HX-Request") else answer


def _is_missing(request: HttpRequest, person: User) -> bool:
    return second_factors.must_have(person) and not entering.has_passed(request)


def _has_token(request: HttpRequest) -> bool:
    """Whether a token speaks and not the session: then the API looks at nothing else."""
    return request.headers.get("Authorization", "").split(" ", 1)[0].lower() == "bearer"
