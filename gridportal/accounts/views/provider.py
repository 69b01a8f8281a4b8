"""Signing in by the OpenID Connect provider: to its page, and back from it."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_GET, require_POST

from gridportal.accounts import entering, identities, oidc, sign_in
from gridportal.accounts.caller import caller
from gridportal.accounts.entering import Way
from gridportal.accounts.refusals import SignInRefusedError
from gridportal.accounts.views.session import enter
from gridportal.web.result_messages import add_result

log = logging.getLogger(__name__)


@require_POST
@login_not_required
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """To the provider's page. Who is signed in already goes on at once."""
    _require_provider()
    address = _address(request)
    if request.user.is_authenticated:
        return redirect(address)
    return _leave(request, address, joins=False)


@require_POST
@never_cache
def join(request: HttpRequest) -> HttpResponse:
    """To the provider's page, to join one's account with the one there."""
    _require_provider()
    if stale := entering.why_not_fresh(request):
        messages.error(request, stale)
        return redirect("account")
    return _leave(request, reverse("account"), joins=True)


@require_GET
@login_not_required
@never_cache
@sensitive_variables()
def back(request: HttpRequest) -> HttpResponse:
    """Back from the provider, with a code that it gives the portal its word for."""
    _require_provider()
    try:
        ended = oidc.end(request)
        if ended.joins:
            return _join(request, ended.identity)
        person = identities.admit(ended.identity, identities.oidc_admission())
    except SignInRefusedError as refused:
        return _refuse(request, refused)
    return enter(request, person, Way.PROVIDER, ended.address or reverse(settings.LOGIN_REDIRECT_URL))


def _join(request: HttpRequest, identity: identities.Identity) -> HttpResponse:
    if not request.user.is_authenticated:
        return redirect("sign-in")
    identities.join(caller(request), identity, identities.oidc_admission())
    add_result(request, settings.PORTAL.oidc_name, f"{reverse('account')}#ways", "is a way for you to sign in now.")
    return redirect("account")


def _leave(request: HttpRequest, address: str, *, joins: bool) -> HttpResponse:
    """A page that leads to the provider by itself: a form may be sent to this host only, also by a redirect."""
    try:
        there = oidc.begin(request, address, joins=joins)
    except SignInRefusedError as refused:
        return _refuse(request, refused)
    return render(request, "registration/to_provider.html", {"address": there, "provider": settings.PORTAL.oidc_name})


def _refuse(request: HttpRequest, refused: SignInRefusedError) -> HttpResponse:
    """Back to where one came from, with the reason there; the log knows more."""
    log.warning("Sign-in by the provider refused: %s %s", refused.reason, refused.detail)
    sign_in.record_refusal(refused.person, settings.PORTAL.oidc_name, refused.reason, request)
    messages.error(request, str(refused))
    return redirect("account" if request.user.is_authenticated else "sign-in")


def _address(request: HttpRequest) -> str:
    """Where to go afterwards; nowhere but on this host."""
    given = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(given, {request.get_host()}, require_https=request.is_secure()):
        return given
    return reverse(settings.LOGIN_REDIRECT_URL)


def _require_provider() -> None:
    if not oidc.is_set():
        raise Http404("There is no single sign-on here.")
