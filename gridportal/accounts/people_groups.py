"""Groups of people: who is in them, and what they give to their members. Each change is in the audit trail.

Roles are groups, too, but not these: a person has one of them, which the page *People* changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet

from gridportal.accounts.audit import audit
from gridportal.accounts.group_role_models import GIVEN_ROLES, GroupRole
from gridportal.accounts.models import ROLES, User
from gridportal.base.errors import ConflictError, InputError
from gridportal.base.held_row import hold
from gridportal.base.new_names import check_new_name

_LONGEST = 150
_NONE = ""


def people_groups() -> QuerySet[Group]:
    """All of them by name, each with `people`, how many are in it."""
    rows = Group.objects.exclude(name__in=ROLES).select_related("given")
    return rows.annotate(people=Count("user")).order_by("name")


def role_given(group: Group) -> str:
    """The role that a group gives; empty for none."""
    given: GroupRole | None = getattr(group, "given", None)
    return given.role if given else _NONE


def filled_by(name: str) -> list[tuple[str, str]]:
    """Which groups of a provider, or of the LDAP server, lead into the group of this name: (who says so, group)."""
    portal = settings.PORTAL
    mappings = ((portal.oidc_name, portal.oidc_groups), ("LDAP", portal.ldap_groups))
    return [(source, theirs) for source, mapping in mappings for theirs, ours in mapping.items() if ours == name]


def grantable(model: str = "movedecision") -> QuerySet[Permission]:
    """The single permissions that a group may give beside a role: those on moves of jobs."""
    own = Permission.objects.filter(content_type__app_label="scheduling", content_type__model=model)
    return own.exclude(codename__regex=r"^(add|change|delete|view)_movedecision$").order_by("pk")


@transaction.atomic
def make_group(actor: User, name: str) -> Group:
    """A new group without members. Raises InputError for a name that cannot be taken."""
    group = Group(name=_free_name(name))
    _save(group)
    audit(actor, "group.make", group)
    return group


@transaction.atomic
def rename_group(actor: User, group: Group, name: str) -> Group:
    """Another name. Raises InputError for one that cannot be taken, ConflictError where single sign-on goes by it."""
    hold(group, f"The group {group.name}")
    before = group.name
    _refuse_filled(group, "keeps its name")
    group.name = _free_name(name, group)
    _save(group)
    audit(actor, "group.rename", group, before=before)
    return group


@transaction.atomic
def remove_group(actor: User, group: Group) -> None:
    """Away with it, and with what was shared with it. Raises ConflictError where single sign-on fills it."""
    hold(group, f"The group {group.name}")
    _refuse_filled(group, "stays")
    members = sorted(group.user_set.values_list("username", flat=True))
    audit(actor, "group.remove", group, members=members[:200])
    group.delete()


@transaction.atomic
def add_members(actor: User, group: Group, usernames: Collection[str]) -> list[User]:
    """Put people into a group; those who were not in it. Raises InputError where there is none, or an unknown name."""
    hold(group, f"The group {group.name}")
    people = {person.username: person for person in User.objects.filter(username__in=usernames)}
    unknown = [name for name in usernames if name not in people]
    if unknown or not usernames:
        raise InputError("members", unknown[0] if unknown else None, "names of people who have an account")
    held = set(group.user_set.values_list("pk", flat=True))
    added = [person for person in people.values() if person.pk not in held]
    group.user_set.add(*added)
    for person in added:
        audit(actor, "person.join_group", person, group=group.name)
    return added


@transaction.atomic
def drop_member(actor: User, group: Group, person: User) -> None:
    """Take somebody out of a group. Raises InputError for whoever is not in it."""
    hold(group, f"The group {group.name}")
    if not group.user_set.filter(pk=person.pk).exists():
        raise InputError("member", person.username, f"somebody who is in the group {group.name}")
    group.user_set.remove(person)
    audit(actor, "person.leave_group", person, group=group.name)


@transaction.atomic
def give_group_role(actor: User, group: Group, role: str) -> None:
    """Have a group give a role, or none (empty). Raises InputError for another word."""
    hold(group, f"The group {group.name}")
    if role and role not in GIVEN_ROLES:
        raise InputError("role", role, f"empty, or one of {', '.join(GIVEN_ROLES)}")
    if role:
        GroupRole.objects.update_or_create(group=group, defaults={"role": role})
    else:
        GroupRole.objects.filter(group=group).delete()
    audit(actor, "group.give_role", group, role=role or "none")


@transaction.atomic
def give_permissions(actor: User, group: Group, codenames: Sequence[str]) -> None:
    """Have a group give exactly these permissions on moves. Raises InputError for another name."""
    hold(group, f"The group {group.name}")
    possible = {each.codename: each for each in grantable()}
    for name in codenames:
        if name not in possible:
            raise InputError("permissions", name, f"one of {', '.join(possible)}")
    group.permissions.remove(*possible.values())
    group.permissions.add(*(possible[name] for name in codenames))
    audit(actor, "group.give_permissions", group, permissions=sorted(codenames))


def _free_name(name: str, group: Group | None = None) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise InputError("name", name, f"a name of 1 to {_LONGEST} characters")
    taken = Group.objects.filter(name__iexact=name)
    taken = taken.exclude(pk=group.pk) if group else taken
    if name.casefold() in ROLES or taken.exists():
        raise InputError("name", name, "a name that no other group and no role has")
    if group is None or group.name != name:  # what is called so already keeps its name
        check_new_name("name", name)
        if User.objects.filter(username__iexact=name).exists():
            raise InputError("name", name, "a name that no person has")
    return name


def _save(group: Group) -> None:
    try:
        with transaction.atomic():
            group.save()
    except IntegrityError as error:
        raise InputError("name", group.name, "a name that no other group and no role has") from error


def _refuse_filled(group: Group, fate: str) -> None:
    if sources := filled_by(group.name):
        source, theirs = sources[0]
        setting = "GRIDPORTAL_LDAP_GROUPS" if source == "LDAP" else "GRIDPORTAL_OIDC_GROUPS"
        raise ConflictError(
            f"The group {group.name} {fate}, because {source} puts its group {theirs} into it: change {setting} first."
        )
