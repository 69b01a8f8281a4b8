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

from gridportal.accounts import entering, ldap_sign_in, oidc, second_factors, sign_in
from gridportal.accounts.audit import audit
from gridportal.accounts.entering import Half, Way
from gridportal.accounts.forms import CodeForm, SignInForm
from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError


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
    entering.begin_session(request, person, way)
    return redirect(address)


@login_not_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """The second step: a code of the app, or a recovery code."""
    half = _half(request)
    if half is None:
        return redirect("sign-in")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _code_page(request, half, form)
    try:
        factor = check_code(request, half.person, form.cleaned_data["code"])
    except (GridPortalError, ValidationError) as error:
        form.add_error("code", error if isinstance(error, ValidationError) else str(error))
        return _code_page(request, half, form)
    if request.user.is_authenticated:
        entering.note_factor(request, factor)
    else:
        entering.begin_session(request, half.person, half.way, factor)
    return redirect(half.address)


def check_code(request: HttpRequest, person: User, text: str) -> second_factors.Factor:
    """By which factor the code is right. Raises ValidationError for a wrong one, and after too many of them."""
    minutes = sign_in.minutes_to_wait_with_code(person, request)
    if minutes:
        raise ValidationError(f"Too many wrong codes: try again in {minutes} min.", code="wait")
    factor = second_factors.accept(person, text)
    if factor is None:
        sign_in.record_wrong_code(person, request)
        raise ValidationError("This code is wrong, or was used before. Enter the next one.", code="wrong")
    return factor


def _half(request: HttpRequest) -> Half | None:
    """Whose code is asked for: who has just given the password, or who is signed in without a second factor though the
    role needs one."""
    if isinstance(request.user, User):
        needs = second_factors.is_set_up(request.user) and not entering.has_passed(request)
        return Half(request.user, Way.PASSWORD, reverse("jobs")) if needs else None
    return entering.half_of(request)


def _code_page(request: HttpRequest, half: Half, form: CodeForm) -> HttpResponse:
    return render(request, "registration/sign_in_code.html", {"form": form, "person": half.person})
