"""The people of the portal, for administrators: who there is; invite, give a role, switch off and on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts import managing, selectors
from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, rows_of, unless_changed
from gridportal.accounts.forms import InviteForm
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.accounts.models import User
from gridportal.accounts.roles import ALL_ROLES, MAY
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.form_errors import add_input_error, page_text
from gridportal.web.paging import page_of
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from gridportal.web.shown_version import version_of
from gridportal.web.sorting import SortedList

PER_PAGE = 50


@require_safe
@never_cache
def people(request: HttpRequest) -> HttpResponse:
    """All people, or those whose name or address has `?q=` in it."""
    _refuse_others(request)
    return usual_view(request, "people") or _page(request, InviteForm())


@require_POST
@never_cache
def invite(request: HttpRequest) -> HttpResponse:
    """A new person; the first password is in this answer and nowhere else."""
    _refuse_others(request)
    form = InviteForm(request.POST)
    if form.is_valid():
        try:
            person, password = managing.invite(caller(request), **form.cleaned_data)
        except InputError as error:
            add_input_error(form, error)
        else:
            return _page(request, InviteForm(), invited=person, password=password)
    return _page(request, form, status=422)


@require_POST
def give_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a person another role."""
    _refuse_others(request)
    person, role = get_object_or_404(User, pk=pk), request.POST.get("role", "")
    try:
        now = partial(_shown_role, person.pk)
        with unless_changed(request, now, rows_of(person), changes_of(person, "person.set_role")):
            managing.give_role(caller(request), person, role)
    except ChangedMeanwhileError as error:
        messages.error(request, f"{person.username}: {error}")
        return _page(request, InviteForm(), chosen={person.pk: role}, status=409)
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        kept = f" It stays {person.lifted_by}." if person.lifted_by else ""
        add_result(request, person.username, _address(person), f"has the role {role} now.{kept}")
    return redirect("people")


@require_POST
def let_in(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a person in (`on` is yes), or no more."""
    _refuse_others(request)
    person, on = get_object_or_404(User, pk=pk), request.POST.get("on") == "yes"
    try:
        managing.let_in(caller(request), person, on)
    except InputError:
        messages.error(request, "You cannot switch yourself off. Another administrator can.")
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        outcome = "can sign in again." if on else "is switched off. Sessions have ended, and API tokens are revoked."
        add_result(request, person.username, _address(person), outcome)
    return redirect("people")


@require_POST
def reset_second_factor(request: HttpRequest, pk: int) -> HttpResponse:
    """Take away the second factor of somebody who has lost it."""
    _refuse_others(request)
    person = get_object_or_404(User, pk=pk)
    try:
        had_one = managing.reset_second_factor(caller(request), person)
    except InputError:
        messages.error(request, "Remove your own second factor on your account page, with a code.")
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        outcome = "has no second factor any more, and is signed out everywhere." if had_one else "has no second factor."
        add_result(request, person.username, _address(person), outcome)
    return redirect("people")


def _page(
    request: HttpRequest,
    form: InviteForm,
    invited: User | None = None,
    password: str = "",
    status: int = 200,
    chosen: Mapping[int, str] = MappingProxyType({}),
) -> HttpResponse:
    """`chosen`: by person a role that is not given yet."""
    text, with_logs = request.GET.get("q", "").strip()[:150], request.GET.get("logs") == "1"
    found = SortedList(selectors.people(text, with_logs=with_logs), request.GET.get("sort", ""), selectors.PEOPLE_SORTS)
    page = page_of(found, PER_PAGE, request.GET.get("page"))
    for row in page.object_list:
        row.chosen_role = chosen.get(row.pk, row.own_role)  # type: ignore[attr-defined]  # for the template
        row.shown_version = version_of({"role": row.own_role})  # type: ignore[attr-defined]  # as well
    context = {
        "form": form,
        "page": page,
        "total": page.paginator.count,
        "sort": found.sort,
        "unsorted": found.unsorted,
        "q": text,
        "of_logs": selectors.people(text).exclude(from_log="").count(),
        "with_logs": with_logs,
        "roles": ALL_ROLES,
        "may": MAY.items(),
        "roles_from": " or ".join(_give_roles()),
        "invited": invited,
        "password": password,
        **list_context(request, "people"),
    }
    return render(request, "accounts/people.html", context, status=status)


def _shown_role(pk: int) -> dict[str, str]:
    return {"role": User.objects.get(pk=pk).own_role}


def _give_roles() -> list[str]:
    """The providers whose groups give roles."""
    portal = settings.PORTAL
    return [name for name, roles in ((portal.oidc_name, portal.oidc_roles), ("LDAP", portal.ldap_roles)) if roles]


def _address(person: User) -> str:
    return f"{reverse('people')}?q={person.username}"


def _refuse_others(request: HttpRequest) -> None:
    require_permission(request, "accounts.manage_people", "Administrators manage people.")
