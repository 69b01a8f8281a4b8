"""Signing in by name and password of the LDAP server."""

from __future__ import annotations

import logging

from django.conf import settings

from gridportal.accounts import identities
from gridportal.accounts.identities import Identity
from gridportal.accounts.ldap_directory import Directory, DirectoryError, Entry
from gridportal.accounts.models import User
from gridportal.accounts.refusals import Refusal, SignInRefusedError

log = logging.getLogger(__name__)
_LONGEST = 150  # letters of a name that are asked for


def is_set() -> bool:
    """Whether there is an LDAP server."""
    return bool(settings.PORTAL.ldap_url)


def provider_key() -> str:
    """What an identity of the server is kept under."""
    return f"ldap:{settings.PORTAL.ldap_base.casefold()}"[:200]


def directory() -> Directory:
    """The server of the settings."""
    portal = settings.PORTAL
    return Directory(
        url=portal.ldap_url,
        base=portal.ldap_base,
        username_attribute=portal.ldap_username,
        person_filter=portal.ldap_filter,
        group_base=portal.ldap_group_base,
        bind_dn=portal.ldap_bind_dn,
        password=portal.ldap_bind_password,
        ca_file=portal.ldap_ca_file,
        timeout=portal.ldap_timeout,
    )


def person_of(username: str, password: str) -> User | None:
    """Who has this name and password at the server; None where nobody has, and where the account here keeps a password
    of its own and is not joined: that one is no business of the server's. Raises SignInRefusedError."""
    if not is_set() or _keeps_own_password(username):
        return None
    entry = _entry(username, password)
    return identities.admit(_identity(entry), identities.ldap_admission()) if entry else None


def join(person: User, username: str, password: str) -> bool:
    """Join `person` with the entry of this name; False for a wrong password. Raises SignInRefusedError."""
    entry = _entry(username, password)
    if entry is not None:
        identities.join(person, _identity(entry), identities.ldap_admission())
    return entry is not None


def _entry(username: str, password: str) -> Entry | None:
    try:
        entry = directory().find(username[:_LONGEST])
        return entry if entry and directory().accepts(entry, password) else None
    except DirectoryError as error:
        log.warning("The LDAP server: %s", error)
        raise SignInRefusedError(Refusal.NO_ANSWER, "The LDAP server", detail=str(error)) from error


def _identity(entry: Entry) -> Identity:
    return Identity(provider_key(), entry.subject[:191], entry.username, entry.email, entry.groups)


def _keeps_own_password(username: str) -> bool:
    person = User.objects.filter(username=username).first()
    if person is None or not identities.has_password(person) or person.last_login is None:
        return False
    return not identities.is_joined(person, provider_key())
