"""The buttons of the settings page that ask the provider and the LDAP server."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from gridportal.accounts import ldap_sign_in, oidc, sign_in_checks
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result


@require_POST
def try_provider(request: HttpRequest) -> HttpResponse:
    """Ask the OpenID Connect provider what it says of itself."""
    return _try(request, "The provider", oidc.is_set(), lambda: sign_in_checks.check_provider(request))


@require_POST
def try_directory(request: HttpRequest) -> HttpResponse:
    """Ask the LDAP server how many people it has."""
    return _try(request, "The LDAP server", ldap_sign_in.is_set(), sign_in_checks.check_directory)


def _try(request: HttpRequest, name: str, is_set: bool, check: Callable[[], str]) -> HttpResponse:
    require_permission(request, "accounts.manage_people", "Administrators try the settings.")
    if not is_set:
        raise Http404(f"{name} is not in the settings.")
    try:
        outcome = check()
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        add_result(request, name, f"{reverse('settings')}#sign-in", outcome)
    return redirect("settings")
