"""One's own account: who am I, what may I do, password and API tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from gridportal.accounts import ldap_sign_in, oidc, second_factors
from gridportal.accounts.caller import caller
from gridportal.accounts.forms import DirectoryForm, PasswordForm, TokenForm
from gridportal.accounts.identities import has_password, is_joined
from gridportal.accounts.passwords import is_from_another, set_password
from gridportal.accounts.roles import MAY
from gridportal.accounts.selectors import identities_of
from gridportal.accounts.tokens import create_token, revoke_token
from gridportal.base.errors import InputError
from gridportal.web.result_messages import add_result


@require_GET
@never_cache
def show(request: HttpRequest) -> HttpResponse:
    """The account page."""
    return _page(request)


@require_POST
@sensitive_post_parameters()
def change_password(request: HttpRequest) -> HttpResponse:
    """Take a new password; this session stays, the others end, and API tokens too unless the form keeps them."""
    person = caller(request)
    if not has_password(person):
        raise PermissionDenied("You sign in without a password of the portal, so there is none to change here.")
    form = PasswordForm(person, request.POST, request=request)
    if not form.is_valid():
        return _page(request, password_form=form, status=400)
    revoked = set_password(person, form.cleaned_data["new_password1"], keep_tokens=form.cleaned_data["keep_tokens"])
    update_session_auth_hash(request, person)
    outcome = f"is changed. Your other sessions have ended. {_of_tokens(revoked)}"
    add_result(request, "Your password", reverse("account"), outcome)
    return redirect("account")


@require_POST
@never_cache
def add_token(request: HttpRequest) -> HttpResponse:
    """Make a token; its text is in this answer and nowhere else."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            token, text = create_token(caller(request), **form.cleaned_data)
        except InputError as error:
            form.add_error(error.field, str(error))
        else:
            return _page(request, new_token=token, new_text=text)
    return _page(request, token_form=form, status=400)


@require_POST
def drop_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of one's own tokens."""
    token = get_object_or_404(caller(request).tokens, pk=pk)
    name = token.name
    revoke_token(caller(request), token)
    outcome = "is revoked. Programs that use it are refused from now on."
    add_result(request, f"The token “{name}”", f"{reverse('account')}#tokens", outcome)
    return redirect("account")


def _of_tokens(revoked: int) -> str:
    """What became of the API tokens."""
    if not revoked:
        return "No API token is revoked."
    return f"{revoked} API token{' is' if revoked == 1 else 's are'} revoked: make new ones for your programs."


def _page(request: HttpRequest, status: int = 200, **given: Any) -> HttpResponse:
    person = caller(request)
    context = {
        "has_password": has_password(person),
        "identities": identities_of(person),
        "provider": settings.PORTAL.oidc_name if oidc.is_set() else "",
        "roles_follow": bool(settings.PORTAL.oidc_roles),
        "joins_provider": oidc.is_set() and not is_joined(person, oidc.provider_key()),
        "joins_directory": ldap_sign_in.is_set() and not is_joined(person, ldap_sign_in.provider_key()),
        "directory_form": DirectoryForm(),
        "has_second_factor": second_factors.is_set_up(person),
        "must_have_second_factor": second_factors.must_have(person),
        "may": MAY[person.role],
        "tokens": person.tokens.all(),
        "ending": [token for token in person.tokens.all() if token.expires_soon],
        "password_form": PasswordForm(person),
        "password_is_from_another": is_from_another(person),
        "token_form": TokenForm(),
    } | given
    return render(request, "accounts/account.html", context, status=status)
