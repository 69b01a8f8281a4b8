"""One's second factors: an app, security keys, recovery codes. Whoever has one shows it before they are changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from gridportal.accounts import entering, second_factors, security_keys
from gridportal.accounts.caller import caller
from gridportal.accounts.factor_check import check_code, check_key
from gridportal.accounts.forms import CodeForm, KeyForm
from gridportal.accounts.models import User
from gridportal.accounts.people import end_sessions
from gridportal.accounts.second_factors import Factor
from gridportal.accounts.views.session import sentence
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.form_errors import add_input_error
from gridportal.web.result_messages import add_result

_SECRET = "second-factor-secret"  # noqa: S105 - the session's word for it


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """What one has; or an app is made a second factor (POST), and recovery codes are in this answer only."""
    person = caller(request)
    if request.method != "POST":
        return _page(request, person)
    if not entering.may_change_factors(request, person):
        return _page(request, person, status=403)
    form = CodeForm(request.POST, of_app=True)
    if form.is_valid():
        try:
            codes = _set_up_app(request, person, form.cleaned_data["code"])
        except GridPortalError as error:
            form.add_error("code", sentence(error))
        else:
            return _after_set_up(request, "An app", codes)
    return _page(request, person, form=form, status=422)


@require_POST
@never_cache
@sensitive_post_parameters()
def confirm(request: HttpRequest) -> HttpResponse:
    """A second factor shows that it is the person, and opens the changes for ten minutes."""
    person, form = caller(request), CodeForm(request.POST)
    if problem := _not_shown(request, person, form):
        return _page(request, person, confirm_form=form, key_error=problem, status=422)
    return redirect("second-factor")


@require_POST
@never_cache
@sensitive_post_parameters()
def remove_app(request: HttpRequest) -> HttpResponse:
    """Away with the app."""
    return _change(request, second_factors.remove_app, "The app", "is no second factor any more.")


@require_POST
@never_cache
@sensitive_post_parameters()
def renew_codes(request: HttpRequest) -> HttpResponse:
    """New recovery codes in place of the old ones."""
    person, form = caller(request), CodeForm(request.POST)
    if problem := _not_shown(request, person, form):
        return _page(request, person, confirm_form=form, key_error=problem, status=422)
    return _codes_page(request, second_factors.renew_codes(person))


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def new_key(request: HttpRequest) -> HttpResponse:
    """The form for another security key; POST keeps it."""
    person = caller(request)
    if not entering.may_change_factors(request, person):
        return redirect("second-factor")
    if request.method != "POST":
        return _key_page(request, person, KeyForm())
    form = KeyForm(request.POST)
    if form.is_valid():
        try:
            codes = security_keys.add_key(person, form.cleaned_data["name"], form.cleaned_data["credential"])
        except InputError as error:
            add_input_error(form, error)
        except GridPortalError as error:
            form.add_error(None, str(error))
        else:
            entering.note_factor(request, Factor.KEY)
            return _after_set_up(request, f"The key {form.cleaned_data['name']}", codes)
    return _key_page(request, person, form, 422)


@require_POST
def rename_key(request: HttpRequest, pk: int) -> HttpResponse:
    """Another name for a key."""
    name = request.POST.get("name", "")
    return _change(request, lambda person: security_keys.rename_key(person, pk, name), "Your key", "has this name now.")


@require_POST
@never_cache
@sensitive_post_parameters()
def remove_key(request: HttpRequest, pk: int) -> HttpResponse:
    """Away with a key."""
    return _change(
        request, lambda person: security_keys.remove_key(person, pk), "Your key", "is no second factor any more."
    )


def _change(request: HttpRequest, act: Callable[[User], object], what: str, outcome: str) -> HttpResponse:
    """Do something with factors of a person who has just shown one, or shows one with this."""
    person, form = caller(request), CodeForm(request.POST)
    if problem := _not_shown(request, person, form):
        return _page(request, person, confirm_form=form, key_error=problem, status=422)
    try:
        act(person)
    except GridPortalError as error:
        messages.error(request, sentence(error))
    else:
        if not second_factors.is_set_up(person):
            entering.note_factor(request, None)
        add_result(request, what, reverse("second-factor"), outcome)
    return redirect("second-factor")


def _not_shown(request: HttpRequest, person: User, form: CodeForm) -> str:
    """Why a person may not change second factors now; empty for who may. A wrong code stands beside its field, too."""
    if second_factors.is_set_up(person) and entering.is_confirmed(request):
        return ""
    try:
        if answer := request.POST.get("credential"):
            entering.note_factor(request, check_key(request, person, answer))
            return ""
        if form.is_valid():
            entering.note_factor(request, check_code(request, person, form.cleaned_data["code"]))
            return ""
    except (GridPortalError, ValidationError) as error:
        if answer:
            return sentence(error)
        form.add_error("code", sentence(error))
    return " ".join(map(str, form.errors["code"]))


def _set_up_app(request: HttpRequest, person: User, code: str) -> list[str]:
    codes = second_factors.set_up(person, _secret(request), code)
    request.session.pop(_SECRET, None)
    entering.note_factor(request, Factor.APP)
    return codes


def _after_set_up(request: HttpRequest, what: str, codes: list[str]) -> HttpResponse:
    """With the first factor other sessions end: nobody was asked for it there."""
    if codes:
        end_sessions(caller(request), but=request.session.session_key)
        return _codes_page(request, codes, ended=True)
    add_result(request, what, reverse("second-factor"), "is a second factor of yours now.")
    return redirect("second-factor")


def _secret(request: HttpRequest) -> str:
    """The same until a code of it has come, so that the picture may be loaded again."""
    if _SECRET not in request.session:
        request.session[_SECRET] = second_factors.new_secret()
    return str(request.session[_SECRET])


def _codes_page(request: HttpRequest, codes: list[str], *, ended: bool = False) -> HttpResponse:
    download = f"Recovery codes of {request.user} at {request.get_host()}\n" + "\n".join(codes) + "\n"
    context = {"codes": codes, "ended": ended, "download": download}
    return render(request, "accounts/recovery_codes.html", context)


def _key_page(request: HttpRequest, person: User, form: KeyForm, status: int = 200) -> HttpResponse:
    if why := security_keys.why_no_keys(request):
        raise PermissionDenied(why)
    context = {"form": form, "key_options": security_keys.adding_options(person)}
    return render(request, "accounts/security_key.html", context, status=status)


def _page(request: HttpRequest, person: User, *, status: int = 200, **given: Any) -> HttpResponse:
    is_set_up, why_no_keys = second_factors.is_set_up(person), security_keys.why_no_keys(request)
    may_change, has_app = entering.may_change_factors(request, person), second_factors.has_app(person)
    keys = security_keys.keys_of(person)
    context: dict[str, Any] = {
        "is_set_up": is_set_up,
        "has_app": has_app,
        "keys": keys,
        "must_have": second_factors.must_have(person),
        "may_change": may_change,
        "why_no_keys": why_no_keys,
        "codes_left": second_factors.codes_left(person),
        "form": CodeForm(of_app=True),
        "confirm_form": CodeForm(),
    }
    if keys and not may_change and not why_no_keys:
        context["key_options"] = security_keys.asking_options(person)
    if may_change and not has_app:
        secret = _secret(request)
        address = second_factors.app_address(person, secret)
        context |= {"secret": _in_fours(secret), "picture": second_factors.picture(address)}
    return render(request, "accounts/second_factor.html", context | given, status=status)


def _in_fours(secret: str) -> str:
    """As one types it.

    >>> _in_fours("ABCDEFGHIJ")
    'ABCD EFGH IJ'
    """
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
