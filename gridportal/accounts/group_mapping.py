"""What the groups of somebody at a provider make of them here: a role, and groups of the portal."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gridportal.base.sign_in_settings import EVERYBODY

#: A person of several groups gets the first of these that one of them gives.
ORDER = ("administrator", "operator", "manager", "user")


def role_of(groups: Collection[str], mapping: Mapping[str, str]) -> str | None:
    """The highest role that `mapping` gives to one of `groups`, or to everybody; None: it gives none.

    >>> role_of({"staff", "ops"}, {"ops": "operator", "staff": "user"})
    'operator'
    >>> role_of({"guests"}, {"ops": "operator", "*": "user"}), role_of({"guests"}, {"ops": "operator"})
    ('user', None)
    """
    given = {role for group, role in mapping.items() if group in groups or group == EVERYBODY}
    return next((role for role in ORDER if role in given), None)


def memberships(groups: Collection[str], mapping: Mapping[str, str]) -> dict[str, bool]:
    """Each group of the portal that `mapping` names, and whether one of `groups` leads into it.

    >>> memberships({"phys"}, {"phys": "physics", "theory": "physics", "chem": "chemistry"})
    {'physics': True, 'chemistry': False}
    """
    inside = {ours for theirs, ours in mapping.items() if theirs in groups or theirs == EVERYBODY}
    return {ours: ours in inside for ours in dict.fromkeys(mapping.values())}
