"""What administrators do with projects. Each is in the audit trail."""

from __future__ import annotations

from collections.abc import Collection

from django.db import IntegrityError, transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from gridportal.base.new_names import check_new_name
from scheduling.jobs.project_models import Project

_MOST_TEXT = 500


def save_project(
    actor: User, project: Project | None, *, name: str, description: str, members: Collection[str]
) -> Project:
    """A new project (None), or other values of one. `members`: names of people. Raises InputError that names the
    field."""
    people = _people(members)
    if len(description) > _MOST_TEXT or not description.isprintable():
        raise InputError("description", description[:40], f"one line of up to {_MOST_TEXT} characters")
    row = project or Project()
    if name != row.name:
        _check_name(row, name)
    row.name, row.description = name, description.strip()
    try:
        with transaction.atomic():
            row.save()
            row.members.set(people)
            names = sorted(person.username for person in people)
            audit(actor, "project.change" if project else "project.make", row, name=name, members=names)
    except IntegrityError as error:
        raise InputError("name", name, "a name that no other project has") from error
    return row


def _check_name(row: Project, name: str) -> None:
    """Two names that differ in capital letters alone are taken for each other."""
    check_new_name("name", name)
    if (other := Project.objects.filter(name__iexact=name).exclude(pk=row.pk).first()) is not None:
        alike = f"; there is {other.name}" if other.name != name else ""
        raise InputError("name", name, f"a name that no other project has{alike}")


def _people(names: Collection[str]) -> list[User]:
    found = {person.username: person for person in User.objects.filter(username__in=names)}
    for name in names:
        if name not in found:
            raise InputError("members", name, "names of people who have an account")
    return list(found.values())
