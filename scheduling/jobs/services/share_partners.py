"""Whom a person may share something with: another person by the user name, or a group of the own."""

from __future__ import annotations

from django.contrib.auth.models import Group

from gridportal.accounts.models import ROLES, User
from gridportal.base.errors import InputError


def shareable_groups(owner: User) -> list[str]:
    """The groups that a person may share with: those they are in, but for roles, which are everybody's."""
    return sorted(owner.groups.exclude(name__in=ROLES).values_list("name", flat=True))


def partner(owner: User, whom: str) -> Group | User:
    """The group or the person of that name. Raises InputError."""
    groups = shareable_groups(owner)
    if whom in groups:
        return Group.objects.get(name=whom)
    person = None
    if "\0" not in whom:
        person = User.objects.filter(username=whom, is_active=True).exclude(pk=owner.pk).first()
    if person is None:
        listed = f", or a group of yours: {', '.join(groups)}" if groups else ""
        raise InputError("whom", whom, f"the user name of another person{listed}")
    return person
