"""Whose account is it that a provider, or the LDAP server, says somebody has? Found, joined, made; with its groups.

An account here is joined with an identity in three ways only: its owner does it while signed in; an administrator has
invited somebody whom nobody has been yet; or it is made new. What somebody else could have typed decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.group_mapping import memberships, role_of
from gridportal.accounts.managing import give_role
from gridportal.accounts.models import User
from gridportal.accounts.people import add_person, shut_out
from gridportal.accounts.refusals import Refusal, SignInRefusedError
from gridportal.base.errors import ConflictError, InputError

log = logging.getLogger(__name__)
_LONGEST = 150  # letters of a username


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody as a provider knows them. `provider` and `subject` together never change, nor become somebody else's.

    `email` is one that the provider has confirmed, or empty; `groups` None: it did not say.
    """

    provider: str
    subject: str
    username: str
    email: str = ""
    groups: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """Whom of a provider the portal lets in, and as what. `by_name`: invitations are met by username, else by e-mail,
    which new people then need."""

    name: str
    roles: Mapping[str, str]
    groups: Mapping[str, str]
    new_people: bool
    by_name: bool


def oidc_admission() -> Admission:
    """By the settings of the OpenID Connect provider."""
    portal = settings.PORTAL
    return Admission(portal.oidc_name, portal.oidc_roles, portal.oidc_groups, portal.oidc_new_people, False)


def ldap_admission() -> Admission:
    """By the settings of the LDAP server, whose names of groups do not mind about capitals."""
    portal = settings.PORTAL
    roles = {group.casefold(): role for group, role in portal.ldap_roles.items()}
    groups = {theirs.casefold(): ours for theirs, ours in portal.ldap_groups.items()}
    return Admission("LDAP", roles, groups, portal.ldap_new_people, True)


def admit(identity: Identity, admission: Admission) -> User:
    """The person whose identity it is, with the role and groups that it gives now. Raises SignInRefusedError."""
    person = _joined(identity)
    try:
        role = _check(person, identity, admission)
    except SignInRefusedError as refused:
        if person is not None and refused.reason is Refusal.NO_GROUP:
            shut_out(person)  # what was right when it was opened is not right any more
        raise
    try:
        with transaction.atomic():
            person = person or _invited(identity, admission) or _made(identity, admission, role)
            _apply(person, identity, admission, role)
    except IntegrityError as error:  # the same person came twice at once
        raise SignInRefusedError(Refusal.NOT_BEGUN, admission.name) from error
    return person


@transaction.atomic
def join(person: User, identity: Identity, admission: Admission) -> None:
    """Let `person`, who is signed in, come in by this identity too. Raises SignInRefusedError."""
    owner = _joined(identity)
    if owner is not None and owner.pk != person.pk:
        raise SignInRefusedError(Refusal.JOINED_BY_OTHER, admission.name, person=person)
    role = _check(person, identity, admission)
    if owner is None and is_joined(person, identity.provider):
        raise SignInRefusedError(Refusal.JOINED_ALREADY, admission.name, person=person)
    if owner is None:
        _join(person, identity, actor=person)
    _apply(person, identity, admission, role)


@transaction.atomic
def leave(person: User, pk: int) -> None:
    """Part `person` from an identity. Raises ConflictError where no way to sign in would be left."""
    account = SocialAccount.objects.select_for_update().filter(user=person, pk=pk).first()
    if account is None:
        raise InputError("identity", pk, "one that you are joined with")
    others = SocialAccount.objects.filter(user=person).exclude(pk=pk).exists()
    if not others and not has_password(person):
        raise ConflictError("This is your only way to sign in, so it stays.")
    audit(person, "person.leave_identity", person, provider=account.provider)
    account.delete()


def has_password(person: User) -> bool:
    """Whether a password of the portal lets this person in."""
    return bool(settings.PORTAL.local_passwords and person.has_usable_password())


def is_joined(person: User, provider: str) -> bool:
    """Whether this person has an identity of this provider."""
    return bool(SocialAccount.objects.filter(user=person, provider=provider).exists())


def _joined(identity: Identity) -> User | None:
    account = SocialAccount.objects.filter(provider=identity.provider, uid=identity.subject).first()
    return User.objects.get(pk=account.user_id) if account else None


def _check(person: User | None, identity: Identity, admission: Admission) -> str | None:
    """The role that the groups give, None where groups give none to anybody. Raises SignInRefusedError."""
    if person is not None and not person.is_active:
        raise SignInRefusedError(Refusal.SWITCHED_OFF, admission.name, person=person)
    if (admission.roles or admission.groups) and identity.groups is None:
        raise SignInRefusedError(Refusal.GROUPS_MISSING, admission.name, person=person)
    role = role_of(identity.groups or (), admission.roles)
    if admission.roles and role is None:
        raise SignInRefusedError(Refusal.NO_GROUP, admission.name, person=person)
    return role


def _invited(identity: Identity, admission: Admission) -> User | None:
    """Whom an administrator has invited for this, and who has never been here: joined from now on, without the first
    password."""
    unused = User.objects.select_for_update(of=("self",))
    unused = unused.filter(is_active=True, last_login=None, tokens=None, socialaccount=None)
    if admission.by_name:
        rows = list(unused.filter(username__iexact=identity.username))
    else:
        rows = list(unused.filter(email__iexact=identity.email)) if identity.email else []
    if len(rows) != 1:
        return None
    person = rows[0]
    person.set_unusable_password()
    person.save(update_fields=["password"])
    _join(person, identity, actor="portal")
    return person


def _made(identity: Identity, admission: Admission, role: str | None) -> User:
    """A new person without a password. Raises SignInRefusedError."""
    _check_is_new(identity, admission)
    if not admission.new_people:
        raise SignInRefusedError(Refusal.UNKNOWN_PERSON, admission.name)
    if not identity.email and not admission.by_name:
        raise SignInRefusedError(Refusal.NO_EMAIL, admission.name)
    person = User(username=identity.username, email=identity.email[:254])
    person.set_unusable_password()
    try:
        User._meta.get_field("username").run_validators(identity.username)
    except ValidationError as error:
        raise SignInRefusedError(Refusal.BAD_NAME, admission.name) from error
    if not 1 <= len(identity.username) <= _LONGEST:
        raise SignInRefusedError(Refusal.BAD_NAME, admission.name)
    add_person(person, role or "user", "portal")
    _join(person, identity, actor="portal")
    return person


def _check_is_new(identity: Identity, admission: Admission) -> None:
    """Raises SignInRefusedError where somebody has the name, or the address, already. At an LDAP server several may
    share an address; who is switched off here does not come back by it all the same."""
    same_name = User.objects.filter(username__iexact=identity.username).first()
    same_email = User.objects.filter(email__iexact=identity.email) if identity.email else User.objects.none()
    if off := next((each for each in (same_name, *same_email) if each and not each.is_active), None):
        raise SignInRefusedError(Refusal.SWITCHED_OFF, admission.name, person=off)
    if same_name is not None:
        raise SignInRefusedError(Refusal.NAME_TAKEN, admission.name, person=same_name)
    if same_email and not admission.by_name:
        raise SignInRefusedError(Refusal.EMAIL_TAKEN, admission.name, person=same_email[0])


def _join(person: User, identity: Identity, actor: User | str) -> None:
    name = {"username": identity.username, "email": identity.email}
    SocialAccount.objects.create(user=person, provider=identity.provider, uid=identity.subject, extra_data=name)
    audit(actor, "person.join_identity", person, provider=identity.provider, username=identity.username)


def _apply(person: User, identity: Identity, admission: Admission, role: str | None) -> None:
    """Give what the groups give now, and take what they no longer give."""
    if role is not None and role != person.own_role:
        try:
            give_role(admission.name, person, role)
        except ConflictError as error:  # the only administrator stays one
            log.warning("%s gives %s the role %s, which is not done: %s", admission.name, person, role, error)
    for name, is_member in memberships(identity.groups or (), admission.groups).items():
        group = Group.objects.get_or_create(name=name)[0]
        if is_member == person.groups.filter(pk=group.pk).exists():
            continue
        (person.groups.add if is_member else person.groups.remove)(group)
        audit(admission.name, "person.join_group" if is_member else "person.leave_group", person, group=name)
