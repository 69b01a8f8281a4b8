"""The pages of groups of people, for administrators: who is in them, what they give, on which projects they work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts import people_groups
from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, unless_changed
from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.form_errors import add_input_error, page_text
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from gridportal.web.worded_form import WordedForm
from scheduling.jobs.project_models import Project
from scheduling.projects import services
from scheduling.projects.group_forms import GroupNameForm, GroupRoleForm, MembersForm, ToProjectForm
from scheduling.projects.group_selectors import projects_of_group, shares_of_group


@require_safe
def groups(request: HttpRequest) -> HttpResponse:
    """All of them."""
    _refuse_others(request)
    return _list(request, GroupNameForm())


@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """A new one."""
    _refuse_others(request)
    form = GroupNameForm(request.POST)
    if form.is_valid():
        try:
            made = people_groups.make_group(caller(request), form.cleaned_data["name"])
        except InputError as error:
            add_input_error(form, error)
        else:
            add_result(request, f"The group {made.name}", _address(made), "is made. Put somebody into it.")
            return redirect(_address(made))
    return _list(request, form, 422)


@require_safe
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """One with its members, what it gives, and its projects."""
    _refuse_others(request)
    return _page(request, _group(pk))


@require_POST
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    """Another name."""
    return _change(
        request,
        pk,
        "name_form",
        GroupNameForm(request.POST),
        lambda row, data: people_groups.rename_group(caller(request), row, data["name"]),
        "has this name now.",
    )


@require_POST
def add_members(request: HttpRequest, pk: int) -> HttpResponse:
    """Put people into it."""
    return _change(
        request,
        pk,
        "members_form",
        MembersForm(request.POST),
        lambda row, data: people_groups.add_members(caller(request), row, data["members"]),
        "has these members now.",
    )


@require_POST
def give_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Have it give a role to its members, or none."""
    return _change(
        request,
        pk,
        "role_form",
        GroupRoleForm(request.POST),
        lambda row, data: people_groups.give_group_role(caller(request), row, data["role"]),
        "is changed. The role counts from the next page that a member opens.",
    )


@require_POST
def to_project(request: HttpRequest, pk: int) -> HttpResponse:
    """Make all its members members of a project."""
    require_permission(request, "scheduling.manage_projects", "Administrators say who works on a project.")
    return _change(
        request,
        pk,
        "project_form",
        ToProjectForm(request.POST),
        lambda row, data: _add_to_project(caller(request), row, data["project"]),
        "works on this project now, with all its members.",
    )


@require_POST
def give_permissions(request: HttpRequest, pk: int) -> HttpResponse:
    """What it lets its members do with moves of jobs."""
    _refuse_others(request)
    row, chosen = _group(pk), request.POST.getlist("permission")
    try:
        return _done(request, row, lambda: people_groups.give_permissions(caller(request), row, chosen), "is changed.")
    except ChangedMeanwhileError as error:
        form = WordedForm()
        error.show_on(form)
        return _page(request, _group(pk), 409, chosen, permissions_form=form)


@require_POST
def drop_member(request: HttpRequest, pk: int, person: int) -> HttpResponse:
    """Take somebody out of it."""
    _refuse_others(request)
    row, who = _group(pk), get_object_or_404(User, pk=person)
    gone = f"has {who.username} no more."
    return _done(request, row, lambda: people_groups.drop_member(caller(request), row, who), gone)


@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Away with it."""
    _refuse_others(request)
    row = _group(pk)
    name = row.name
    try:
        people_groups.remove_group(caller(request), row)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(_address(row))
    messages.success(request, f"The group {name} is removed. Its members stay as they are.")
    return redirect("groups")


def _change(
    request: HttpRequest,
    pk: int,
    name: str,
    form: WordedForm,
    act: Callable[[Group, dict[str, Any]], object],
    outcome: str,
) -> HttpResponse:
    """Do what a valid form says; an error stands beside its field."""
    _refuse_others(request)
    row = _group(pk)
    if form.is_valid():
        try:
            with _unless_changed(request, row):
                act(row, form.cleaned_data)
        except ChangedMeanwhileError as error:
            error.show_on(form)
            return _page(request, _group(pk), 409, None, **{name: form})
        except InputError as error:
            add_input_error(form, error)
        except GridPortalError as error:
            form.add_error(None, str(error))
        else:
            add_result(request, f"The group {row.name}", _address(row), outcome)
            return redirect(_address(row))
    return _page(request, _group(pk), 422, None, **{name: form})


def _done(request: HttpRequest, row: Group, act: Callable[[], object], outcome: str) -> HttpResponse:
    try:
        with _unless_changed(request, row):
            act()
    except ChangedMeanwhileError:
        raise
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        add_result(request, f"The group {row.name}", _address(row), outcome)
    return redirect(_address(row))


def _add_to_project(actor: User, row: Group, project: Project) -> None:
    members = {*project.member_names, *row.user_set.values_list("username", flat=True)}
    services.save_project(actor, project, name=project.name, description=project.description, members=sorted(members))


def _list(request: HttpRequest, form: GroupNameForm, status: int = 200) -> HttpResponse:
    rows = [(row, people_groups.role_given(row), people_groups.filled_by(row.name)) for row in _groups()]
    return render(request, "scheduling/groups/list.html", {"rows": rows, "form": form}, status=status)


def _unless_changed(request: HttpRequest, row: Group) -> AbstractContextManager[None]:
    """What is in it is not saved where the form that was sent showed something else."""
    pk, events = row.pk, changes_of(row, "group.rename", "group.give_role", "group.give_permissions")
    return unless_changed(request, lambda: _values(_group(pk)), Group.objects.filter(pk=pk), events)


def _values(row: Group) -> dict[str, Any]:
    """What the forms of a group show."""
    held = sorted(row.permissions.values_list("codename", flat=True))
    return {"name": row.name, "role": people_groups.role_given(row), "permissions": held}


def _page(
    request: HttpRequest, row: Group, status: int = 200, chosen: Sequence[str] | None = None, **given: WordedForm
) -> HttpResponse:
    """`chosen`: permissions that are not given yet."""
    values = _values(row)
    role, held = values["role"], values["permissions"] if chosen is None else chosen
    jobs, applications = shares_of_group(row)
    context = {
        "group": row,
        "members": row.user_set.prefetch_related("groups").order_by("username"),
        "role": role,
        "sources": people_groups.filled_by(row.name),
        "permissions": [(each, each.codename in held) for each in people_groups.grantable()],
        "projects": projects_of_group(row),
        "any_project": Project.objects.exists(),
        "shared_jobs": jobs,
        "shared_applications": applications,
        "name_form": GroupNameForm(initial={"name": row.name}).show({"name": row.name}),
        "members_form": MembersForm(),
        "role_form": GroupRoleForm(initial={"role": role}).show({"role": role}),
        "permissions_form": WordedForm().show({"permissions": values["permissions"]}),
        "project_form": ToProjectForm(),
    }
    return render(request, "scheduling/groups/group.html", context | given, status=status)


def _groups() -> list[Group]:
    return list(people_groups.people_groups())


def _group(pk: int) -> Group:
    return get_object_or_404(people_groups.people_groups(), pk=pk)


def _address(row: Group) -> str:
    return reverse("group", args=[row.pk])


def _refuse_others(request: HttpRequest) -> None:
    require_permission(request, "accounts.manage_people", "Administrators manage groups.")
