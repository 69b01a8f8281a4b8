"""One's ways to sign in beside the password: identities elsewhere, and the second factor."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from gridportal.accounts import entering, identities, ldap_sign_in, second_factors, sign_in
from gridportal.accounts.caller import caller
from gridportal.accounts.forms import CodeForm, DirectoryForm
from gridportal.accounts.models import User
from gridportal.accounts.refusals import SignInRefusedError
from gridportal.accounts.second_factors import Factor
from gridportal.accounts.views.session import check_code
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.result_messages import add_result

_SECRET = "second-factor-secret"  # noqa: S105 - the session's word for it


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """What one has; or an app is made the second factor (POST), and its recovery codes are in this answer only."""
    person = caller(request)
    if request.method != "POST":
        return _page(request, person)
    if not entering.is_fresh(request):
        return _page(request, person, status=403)
    form = CodeForm(request.POST, of_app=True)
    if form.is_valid():
        try:
            codes = _set_up(request, person, form.cleaned_data["code"])
        except GridPortalError as error:
            form.add_error("code", _sentence(error))
        else:
            return _page(request, person, codes=codes)
    return _page(request, person, form=form, status=422)


@require_POST
@sensitive_post_parameters()
def remove_second_factor(request: HttpRequest) -> HttpResponse:
    """Away with it; a code proves that it is the person's own wish."""
    person, form = caller(request), CodeForm(request.POST)
    if not _is_right(request, person, form):
        return _page(request, person, remove_form=form, status=422)
    second_factors.remove(person)
    entering.note_factor(request, None)
    add_result(request, "Your second factor", reverse("second-factor"), "is removed.")
    return redirect("account")


@require_POST
@never_cache
@sensitive_post_parameters()
def renew_codes(request: HttpRequest) -> HttpResponse:
    """New recovery codes in place of the old ones."""
    person, form = caller(request), CodeForm(request.POST)
    if not _is_right(request, person, form):
        return _page(request, person, codes_form=form, status=422)
    return _page(request, person, codes=second_factors.renew_codes(person))


@require_POST
@sensitive_post_parameters()
def join_directory(request: HttpRequest) -> HttpResponse:
    """Join one's account with the one at the LDAP server."""
    if not ldap_sign_in.is_set():
        raise Http404("There is no LDAP server here.")
    person, form = caller(request), DirectoryForm(request.POST)
    error = entering.why_not_fresh(request) or _directory_error(request, person, form)
    if error:
        messages.error(request, error)
    else:
        add_result(request, "LDAP", f"{reverse('account')}#ways", "is a way for you to sign in now.")
    return redirect("account")


@require_POST
def leave_identity(request: HttpRequest, pk: int) -> HttpResponse:
    """Part one's account from one elsewhere."""
    try:
        identities.leave(caller(request), pk)
    except GridPortalError as error:
        messages.error(request, str(error))
    else:
        add_result(request, "Your account", f"{reverse('account')}#ways", "is parted from the other one.")
    return redirect("account")


def _set_up(request: HttpRequest, person: User, code: str) -> list[str]:
    codes = second_factors.set_up(person, _secret(request), code)
    request.session.pop(_SECRET, None)
    entering.note_factor(request, Factor.APP)
    return codes


def _is_right(request: HttpRequest, person: User, form: CodeForm) -> bool:
    """Whether the form has a right code; what is wrong is put beside the field."""
    if not form.is_valid():
        return False
    try:
        check_code(request, person, form.cleaned_data["code"])
    except (GridPortalError, ValidationError) as error:
        form.add_error("code", _sentence(error))
        return False
    return True


def _directory_error(request: HttpRequest, person: User, form: DirectoryForm) -> str:
    """What keeps the two apart, as a sentence; nothing where they are joined now."""
    if not form.is_valid():
        return "Enter your username and your password at the LDAP server."
    minutes = sign_in.minutes_to_wait(person.username, request)
    if minutes:
        return f"Too many wrong passwords: try again in {minutes} min."
    try:
        if ldap_sign_in.join(person, form.cleaned_data["username"], form.cleaned_data["password"]):
            return ""
    except SignInRefusedError as refused:
        sign_in.record_refusal(person, "LDAP", refused.reason, request)
        return str(refused)
    sign_in.record_failure(person.username, request)
    return "This username and password do not belong together at the LDAP server."


def _secret(request: HttpRequest) -> str:
    """The same until a code of it has come, so that the picture may be loaded again."""
    if _SECRET not in request.session:
        request.session[_SECRET] = second_factors.new_secret()
    return str(request.session[_SECRET])


def _page(
    request: HttpRequest, person: User, *, status: int = 200, codes: list[str] | None = None, **forms: Any
) -> HttpResponse:
    is_set_up = second_factors.is_set_up(person)
    context: dict[str, Any] = {
        "is_set_up": is_set_up,
        "must_have": second_factors.must_have(person),
        "is_fresh": entering.is_fresh(request),
        "codes": codes,
        "form": CodeForm(of_app=True),
        "remove_form": CodeForm(),
        "codes_form": CodeForm(),
    }
    if is_set_up:
        context["codes_left"] = second_factors.codes_left(person)
    elif context["is_fresh"]:
        secret = _secret(request)
        address = second_factors.app_address(person, secret)
        context |= {"secret": _in_fours(secret), "picture": second_factors.picture(address)}
    return render(request, "accounts/second_factor.html", context | forms, status=status)


def _in_fours(secret: str) -> str:
    """As one types it.

    >>> _in_fours("ABCDEFGHIJ")
    'ABCD EFGH IJ'
    """
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def _sentence(error: GridPortalError | ValidationError) -> str:
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return f"Enter {error.accepted}." if isinstance(error, InputError) else str(error)
