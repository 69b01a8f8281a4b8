"""Signing in and out."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from gridportal.accounts import entering, ldap_sign_in, oidc, passwords, second_factors, security_keys
from gridportal.accounts.audit import audit
from gridportal.accounts.entering import Half, Way
from gridportal.accounts.factor_check import check_code, check_key
from gridportal.accounts.forms import CodeForm, SignInForm
from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError, InputError


class SignIn(LoginView):
    """The sign-in page. A `next` address on this host is followed afterwards."""

    http_method_names = ["get", "head", "post", "options"]
    template_name = "registration/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        way = form.way if isinstance(form, SignInForm) else Way.PASSWORD
        return enter(self.request, form.get_user(), way, self.get_success_url())

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        portal = settings.PORTAL
        ways = {
            "provider": portal.oidc_name if oidc.is_set() else "",
            "takes_passwords": portal.local_passwords or ldap_sign_in.is_set(),
        }
        return super().get_context_data(**given) | ways


class SignOut(LogoutView):
    """Ends the session; POST only, so that no link on another site can do it."""

    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if isinstance(request.user, User):
            audit(request.user, "person.sign_out", request.user, request=request)
        return super().post(request, *args, **kwargs)


def enter(request: HttpRequest, person: User, way: Way, address: str) -> HttpResponse:
    """Sign in somebody who was recognized and lead to `address`, over the page for the code where one is asked for."""
    if entering.asks_for_code(person, way):
        entering.remember_half(request, person, way, address)
        return redirect("sign-in-code")
    return _welcome(request, person, way, address)


def _welcome(
    request: HttpRequest, person: User, way: Way, address: str, factor: second_factors.Factor | None = None
) -> HttpResponse:
    """Sign in, and lead on; at the first time to the password, where somebody else has chosen it."""
    is_first = person.last_login is None and way is Way.PASSWORD and passwords.is_from_another(person)
    entering.begin_session(request, person, way, factor)
    return redirect(f"{reverse('account')}#password") if is_first else redirect(address)


@login_not_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """The second step: a code of the app, a recovery code, or a security key."""
    half = _half(request)
    if half is None:
        return redirect("sign-in")
    form, key_error = CodeForm(request.POST if request.method == "POST" else None), ""
    try:
        if answer := request.POST.get("credential"):
            return _go_on(request, half, check_key(request, half.person, answer))
        if form.is_valid():
            return _go_on(request, half, check_code(request, half.person, form.cleaned_data["code"]))
    except (GridPortalError, ValidationError) as error:
        if answer:
            form, key_error = CodeForm(), sentence(error)
        else:
            form.add_error("code", sentence(error))
    return _code_page(request, half, form, key_error)


def sentence(error: GridPortalError | ValidationError) -> str:
    """What was wrong with a second factor."""
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return f"Enter {error.accepted}." if isinstance(error, InputError) else str(error)


def _go_on(request: HttpRequest, half: Half, factor: second_factors.Factor) -> HttpResponse:
    if request.user.is_authenticated:
        entering.note_factor(request, factor)
    else:
        return _welcome(request, half.person, half.way, half.address, factor)
    return redirect(half.address)


def _half(request: HttpRequest) -> Half | None:
    """Whose code is asked for: who has just given the password, or who is signed in without a second factor though the
    role needs one."""
    if isinstance(request.user, User):
        needs = second_factors.is_set_up(request.user) and not entering.has_passed(request)
        return Half(request.user, Way.PASSWORD, reverse("jobs")) if needs else None
    return entering.half_of(request)


def _code_page(request: HttpRequest, half: Half, form: CodeForm, key_error: str = "") -> HttpResponse:
    has_keys, why_no_keys = security_keys.has_keys(half.person), security_keys.why_no_keys(request)
    context = {
        "form": form,
        "person": half.person,
        "has_keys": has_keys,
        "has_app": second_factors.has_app(half.person),
        "why_no_keys": why_no_keys,
        "key_options": security_keys.asking_options(half.person) if has_keys and not why_no_keys else None,
        "key_error": key_error,
    }
    return render(request, "registration/sign_in_code.html", context)
