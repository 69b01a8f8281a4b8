"""One's ways to sign in beside the password: identities elsewhere."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from gridportal.accounts import entering, identities, ldap_sign_in, sign_in
from gridportal.accounts.caller import caller
from gridportal.accounts.forms import DirectoryForm
from gridportal.accounts.models import User
from gridportal.accounts.refusals import SignInRefusedError
from gridportal.base.errors import GridPortalError
from gridportal.web.form_errors import page_text
from gridportal.web.result_messages import add_result


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
        messages.error(request, page_text(error))
    else:
        add_result(request, "Your account", f"{reverse('account')}#ways", "is parted from the other one.")
    return redirect("account")


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
